"""A local endpoint in the manner of OpenAI's chat completions, so that an agent can use a workspace.

Off unless asked for, bound to the loopback address, and every request must carry the token that was printed at the start. One request at a
time: the workspace has one thread. The workspace is the memory; of a request's messages only the new ones count.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from worldpager.engine.errors import InputError, WorldPagerError
from worldpager.engine.workspace.workspace import Workspace

LARGEST = 4 << 20
"""Bytes of a request."""


class WorkspaceServer(HTTPServer):
    """Serves ``workspace`` on 127.0.0.1:``port`` (0: any free one). ``token`` is drawn anew unless given.

    Raises `InputError` for a port that is in use.
    """

    def __init__(self, workspace: Workspace, port: int, token: str | None = None) -> None:
        self.workspace, self.token = workspace, token or secrets.token_urlsafe(24)
        self._seen: list[tuple[str, str]] = []
        try:
            super().__init__(("127.0.0.1", port), _Request)
        except (OSError, OverflowError) as error:
            raise InputError(f"Port {port} can't be had: {error}.", "Choose another one (--port).") from error

    @property
    def port(self) -> int:
        """The port in use."""
        return int(self.server_address[1])

    def answer(self, messages: Sequence[tuple[str, str]]) -> Iterator[str]:
        """Answer the last message. Messages beyond what earlier requests held join the workspace first, as text."""
        *earlier, (role, question) = messages
        if role != "user":
            raise InputError("The last message isn't the user's.", "End the messages with one of the role user.")
        common = 0
        while common < min(len(earlier), len(self._seen)) and earlier[common] == self._seen[common]:
            common += 1
        for who, text in earlier[common:]:
            if who == "assistant" and common and self._seen[-1:] == [(who, text)]:
                continue
            for _ in self.workspace.add(f"{who} said", text):
                pass
        said = ""
        for piece in self.workspace.ask(question):
            said += piece
            yield piece
        self._seen = [*messages, ("assistant", said)]


class _Request(BaseHTTPRequestHandler):
    """One request."""

    server: WorkspaceServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Models, of which there is one."""
        if not self._allowed():
            return
        if self.path != "/v1/models":
            self._fail(404, f"There is no {self.path}.")
            return
        name = self.server.workspace.street.lm.model.config.name
        self._send(200, {"object": "list", "data": [{"id": name, "object": "model", "owned_by": "local"}]})

    def do_POST(self) -> None:
        """Chat completions."""
        if not self._allowed():
            return
        if self.path != "/v1/chat/completions":
            self._fail(404, f"There is no {self.path}.")
            return
        try:
            given = self._body()
            messages = _messages(given)
            pieces = self.server.answer(messages)
            if given.get("stream"):
                self._stream(pieces)
            else:
                self._whole("".join(pieces))
        except InputError as error:
            self._fail(400, str(error))
        except WorldPagerError as error:
            self._fail(500, str(error))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name
        """Requests aren't printed."""

    def _allowed(self) -> bool:
        """Whether the request carries the token, and comes from no web page of another origin."""
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if hmac.compare_digest(given.encode(), self.server.token.encode()) and "Origin" not in self.headers:
            return True
        self.close_connection = True
        self._fail(401, "The token is missing or wrong.")
        return False

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LARGEST:
            self.close_connection = True
            raise InputError(f"The request has no length, or more than {LARGEST} bytes.", "Send less; add long texts as files.")
        try:
            given = json.loads(self.rfile.read(int(length)))
        except ValueError as error:
            raise InputError(f"The request isn't JSON: {error}.") from error
        if not isinstance(given, dict):
            raise InputError("The request isn't a JSON object.")
        return given

    def _whole(self, text: str) -> None:
        step = self.server.workspace.street.last
        assert step is not None
        asked = step.view_tokens + step.question_tokens
        usage = {"prompt_tokens": asked, "completion_tokens": step.answer_tokens, "total_tokens": asked + step.answer_tokens}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        self._send(200, self._frame("chat.completion", choice) | {"usage": usage})

    def _stream(self, pieces: Iterator[str]) -> None:
        """Server-sent events, one a piece. The first piece comes before the head, so that errors still get their status."""
        first = next(pieces, "")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for piece in _chain(first, pieces):
            self._event(json.dumps(self._frame("chat.completion.chunk", {"index": 0, "delta": {"content": piece}, "finish_reason": None})))
        self._event(json.dumps(self._frame("chat.completion.chunk", {"index": 0, "delta": {}, "finish_reason": "stop"})))
        self._event("[DONE]")

    def _event(self, text: str) -> None:
        self.wfile.write(f"data: {text}\n\n".encode())
        self.wfile.flush()

    def _frame(self, kind: str, choice: dict[str, Any]) -> dict[str, Any]:
        name = self.server.workspace.street.lm.model.config.name
        return {"id": f"chatcmpl-{secrets.token_hex(8)}", "object": kind, "created": int(time.time()), "model": name, "choices": [choice]}

    def _fail(self, status: int, words: str) -> None:
        self._send(status, {"error": {"message": words, "type": "invalid_request_error" if status < 500 else "server_error"}})

    def _send(self, status: int, given: dict[str, Any]) -> None:
        body = json.dumps(given).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _messages(given: dict[str, Any]) -> list[tuple[str, str]]:
    """(role, text) of each message. Raises `InputError` for anything else."""
    messages = given.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InputError("The request has no messages.", 'Send {"messages": [{"role": "user", "content": "..."}]}.')
    made = []
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content if isinstance(part, dict) and part.get("type") == "text")
        if not isinstance(content, str) or not isinstance(message.get("role"), str):
            raise InputError("A message has no role or no text.", "Only text messages are understood.")
        made.append((message["role"], content))
    return made
