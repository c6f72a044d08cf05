"""``worldpager workspace``: a language model's long memory of texts, in a folder."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worldpager.engine.errors import InputError

if TYPE_CHECKING:
    from worldpager.engine.workspace.workspace import Workspace

SHOWN = 8
"""Chosen blocks that are shown."""


def add_parser(commands: Any) -> None:
    """The command and its own commands."""
    words = "a language model that remembers long texts: new, add, ask, chat, show, list, verify, serve, fetch"
    workspace = commands.add_parser("workspace", help=words, description=words)
    actions = workspace.add_subparsers(metavar="new|add|ask|chat|show|list|verify|serve|fetch", required=True)
    new = actions.add_parser("new", help="make a workspace; with --add and --ask read files and answer at once")
    new.add_argument("folder", type=Path)
    new.add_argument("--model", type=Path, metavar="PATH", help="a GGUF file or a folder of safetensors (the default model)")
    new.add_argument("--fetch", action="store_true", help="download the default model (98 MB) if it isn't here")
    new.add_argument("--policy", metavar="NAME", help="how blocks are chosen: focused, rescored, prototypes, mean-k, bm25, recency, random")
    new.add_argument("--bits", type=int, choices=(2, 3, 4, 8, 16), help="how finely keys and values are kept")
    new.add_argument("--add", type=Path, nargs="+", default=[], metavar="FILE", help="files and folders to read")
    new.add_argument("--ask", metavar="QUESTION", help="a question to answer")
    new.set_defaults(command=run_new)
    add = actions.add_parser("add", help="read files and folders of text, code and logs")
    add.add_argument("folder", type=Path)
    add.add_argument("files", type=Path, nargs="+", metavar="FILE")
    add.set_defaults(command=run_add)
    ask = actions.add_parser("ask", help="answer a question and show the blocks that were chosen for it")
    ask.add_argument("folder", type=Path)
    ask.add_argument("question")
    ask.set_defaults(command=run_ask)
    serve = actions.add_parser("serve", help="answer programs on this machine in the manner of OpenAI's interface")
    serve.add_argument("--port", type=int, default=8399, help="on the loopback address alone (8399)")
    for name, help_, command in (
        ("chat", "ask one question after another", run_chat),
        ("show", "a window with the blocks, the chosen ones lit, and questions", run_show),
        ("list", "sources, turns and where the blocks are", run_list),
        ("verify", "read every block back and compare its checksum", run_verify),
    ):
        action = actions.add_parser(name, help=help_)
        action.add_argument("folder", type=Path)
        action.set_defaults(command=command)
    serve.add_argument("folder", type=Path)
    serve.set_defaults(command=run_serve)
    actions.add_parser("fetch", help="download the default model (98 MB) and check its hash").set_defaults(command=run_fetch)
    for action in actions.choices.values():
        action.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"), help="where the model computes (auto)")
        action.add_argument("--budget", type=int, metavar="TOKENS", help="what a question and the history it sees may take")
        action.add_argument("--answer", type=int, default=128, metavar="TOKENS", help="longest answer (128)")


@contextmanager
def opened(options: argparse.Namespace, *, new: bool = False) -> Iterator[Workspace]:
    """The workspace of the options, caught up; made durable at the end."""
    from worldpager.engine.workspace.opening import Settings, create, open_workspace

    known = {field.name for field in fields(Settings)}
    settings = Settings(**{name: value for name, value in vars(options).items() if name in known})
    made = (create if new else open_workspace)(options.folder.expanduser(), settings)
    try:
        for done, total in made.catch_up():
            tell("reading what was added", done, total)
        yield made
    finally:
        left = made.close()
        if left:
            print(f"{left} blocks couldn't be written; their words are read anew next time.", file=sys.stderr)


def run_new(options: argparse.Namespace) -> int:
    """``worldpager workspace new``."""
    if options.fetch and options.model is None:
        run_fetch(options)
    with opened(options, new=True) as made:
        add_files(made, options.add)
        if options.ask:
            answer(made, options.ask)
        else:
            print(f"Workspace in {options.folder}: {describe(made)}")
    return 0


def run_add(options: argparse.Namespace) -> int:
    """``worldpager workspace add``."""
    with opened(options) as made:
        add_files(made, options.files)
        print(describe(made))
    return 0


def run_ask(options: argparse.Namespace) -> int:
    """``worldpager workspace ask``."""
    with opened(options) as made:
        answer(made, options.question)
    return 0


def run_chat(options: argparse.Namespace) -> int:
    """``worldpager workspace chat``: until an empty line or the end of input."""
    with opened(options) as made:
        print(describe(made))
        while True:
            try:
                question = input("> ").strip()
            except EOFError:
                break
            if not question:
                break
            try:
                answer(made, question)
            except InputError as error:
                print(f"{error.what} {error.hint}")
    return 0


def run_show(options: argparse.Namespace) -> int:
    """``worldpager workspace show``: the window, through the same door as play."""
    return int(import_module("worldpager.app.workspace_window").run(lambda: opened(options), options.folder.name))


def run_list(options: argparse.Namespace) -> int:
    """``worldpager workspace list``."""
    with opened(options) as made:
        print(describe(made))
        for part in made.parts():
            if part.kind != "opening":
                print(f"{part.first:9d}  {part.count:7d} tokens  {part.kind:7s} {part.name}")
    return 0


def run_verify(options: argparse.Namespace) -> int:
    """``worldpager workspace verify``. Status 1 when blocks are damaged."""
    with opened(options) as made:
        sound, bad = made.verify()
        repository = made.street.repository
        count, gone = len(repository.tokens), len(repository.given_up)
        print(f"{sound} blocks are sound, {len(bad)} can't be read, {gone} were given up; the words of all {count} tokens are here")
        for number in bad:
            source = made.source_of(number) if number in repository.blocks else None
            print(f"block {number}" + (f" of {source.name or 'the opening'}" if source else ""))
        return 1 if bad else 0


def run_serve(options: argparse.Namespace) -> int:
    """``worldpager workspace serve``: until Ctrl-C."""
    from worldpager.engine.workspace.server import WorkspaceServer

    with opened(options) as made:
        server = WorkspaceServer(made, options.port)
        print(f"{describe(made)}\nhttp://127.0.0.1:{server.port}/v1  token: {server.token}\nCtrl-C ends it.", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
        finally:
            server.server_close()
    return 0


def run_fetch(options: argparse.Namespace) -> int:
    """``worldpager workspace fetch``."""
    from worldpager.engine.workspace.default_model import fetch_default

    print(f"The default language model, checked: {fetch_default()}")
    return 0


def add_files(made: Workspace, paths: list[Path]) -> None:
    """Read files; those that aren't text are named and left out."""
    from worldpager.engine.workspace.sources import load_source, sources_in

    began, before = time.monotonic(), len(made.street.repository.tokens)
    found = list(sources_in(paths))
    for number, path in enumerate(found):
        try:
            source = load_source(path)
        except InputError as error:
            print(f"left out: {error.what}", file=sys.stderr)
            continue
        for done, total in made.add(source.name, source.text):
            tell(f"reading {number + 1} of {len(found)}: {path}", done, total)
    if found:
        count = len(made.street.repository.tokens) - before
        print(f"read {len(found)} files, {count} tokens, in {time.monotonic() - began:.1f} s", file=sys.stderr)


def answer(made: Workspace, question: str) -> None:
    """Print the answer as it comes, then the chosen blocks."""
    for piece in made.ask(question):
        print(piece, end="", flush=True)
    print()
    step = made.street.last
    assert step is not None
    seconds = step.seconds
    first = sum(seconds[name] for name in ("listen", "select", "build", "replay"))
    chosen, known = len(step.selection.ids), len(made.street.repository.blocks)
    print(
        f"\n[{chosen} of {known} blocks in a view of {step.view_tokens} tokens; {step.moved} moved, {step.reused} were there, "
        f"{len(step.missed)} missed; first word after {first:.2f} s, {step.answer_tokens} tokens in {seconds['answer']:.2f} s]"
    )
    for number in step.selection.picked[:SHOWN]:
        if number in made.street.repository.blocks:
            source = made.source_of(number)
            text = " ".join(made.street.repository.text(number).split())
            print(f"  block {number} ({source.name if source else '?'}): {text}")


def describe(made: Workspace) -> str:
    """One line about a workspace."""
    repository = made.street.repository
    tiers = ", ".join(f"{tier.used} blocks on {tier.name}" for tier in made.store.tiers() if tier.capacity)
    settings = f"policy {made.street.policy.name}, budget {made.street.config.budget}"
    return f"{len(repository.tokens)} tokens, {len(repository.blocks)} blocks ({tiers}); {settings}"


def tell(what: str, done: int, total: int) -> None:
    """One line that is written over on a terminal; nothing elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what} ({done / max(1, total):.0%})", end="" if done < total else "\r\x1b[K", file=sys.stderr, flush=True)
