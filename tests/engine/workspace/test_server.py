"""The local endpoint: token, loopback, plain and streamed answers, bad requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.engine.workspace.test_workspace import TEXT, add, opened
from worldpager.engine.errors import InputError
from worldpager.engine.workspace.server import WorkspaceServer
from worldpager.engine.workspace.workspace import Workspace

ASK = {"messages": [{"role": "user", "content": "which digit"}]}


@contextmanager
def serving(made: Workspace) -> Iterator[WorkspaceServer]:
    """A server on any free port, in a thread of its own while the test asks it."""
    server = WorkspaceServer(made, 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def request(server: WorkspaceServer, body: Any = None, *, path: str = "/v1/chat/completions", **headers: str) -> tuple[int, str]:
    """Status and text of an answer."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        given = {"Authorization": f"Bearer {server.token}"} | headers
        if body is None:
            connection.request("GET", path, headers=given)
        else:
            connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body), given)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_the_endpoint(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        add(made)
        with serving(made) as server:
            assert server.server_address[0] == "127.0.0.1"
            status, text = request(server, ASK)
            assert status == 200
            given = json.loads(text)
            assert given["choices"][0]["message"] == {"role": "assistant", "content": "7"}
            assert given["usage"]["completion_tokens"] == 1
            status, text = request(server, ASK | {"stream": True})
            events = [line.removeprefix("data: ") for line in text.splitlines() if line]
            assert events[-1] == "[DONE]"
            assert "".join(json.loads(event)["choices"][0]["delta"].get("content", "") for event in events[:-1]) == "7"
            assert request(server, path="/v1/models")[0] == 200
            for refused in ({"Authorization": "Bearer wrong"}, {"Authorization": ""}, {"Origin": "http://example.org"}):
                assert request(server, ASK, **refused)[0] == 401
                assert request(server, path="/v1/models", **refused)[0] == 401
            assert request(server, ASK, path="/other")[0] == 404
            halves: list[Any] = [b"{", [1], {}, {"messages": []}, {"messages": [{"role": "user"}]}]
            for bad in (*halves, {"messages": [{"role": "system", "content": "x"}]}):
                status, text = request(server, bad)
                assert status == 400
                assert json.loads(text)["error"]["message"]
            assert request(server, {"messages": [{"role": "user", "content": "x" * 4000}]})[0] == 400


def test_only_new_messages_join_the_workspace(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        server = WorkspaceServer(made, 0)
        try:
            first = [("system", "be brief"), ("user", "which digit")]
            said = "".join(server.answer(first))
            parts = len(made.parts())
            list(server.answer([*first, ("assistant", said), ("user", "and now")]))
            assert [part.kind for part in made.parts()[parts:]] == ["turn"]
        finally:
            server.server_close()


def test_a_used_port_is_named(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        add(made, text=TEXT[:100])
        server = WorkspaceServer(made, 0)
        try:
            with pytest.raises(InputError, match="Port"):
                WorkspaceServer(made, server.port)
            with pytest.raises(InputError, match="Port"):
                WorkspaceServer(made, 99999)
        finally:
            server.server_close()
