"""An OpenAI-compatible endpoint on loopback, scripted by the test; it keeps every question that it was asked."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Reply:
    """What the endpoint sends for one question."""

    text: str | None = None
    """What the model says; None sends `body` as it is."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    delay: float = 0.0
    """Seconds before anything is sent."""


def said(verdicts: object) -> Reply:
    """Return a well-formed answer."""
    return Reply(json.dumps({"rubric": "kilns", "verdicts": verdicts}))


@dataclass
class Endpoint:
    """The running endpoint: its address, and what it was asked."""

    url: str
    questions: list[dict] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def items(self) -> list[list[str]]:
        """Return the items that each question was about."""
        return [asked_items(question) for question in self.questions]


def asked_items(question: dict) -> list[str]:
    """Return the ids of the items that a question asks for."""
    text = question["messages"][-1]["content"].rpartition("# What you decide")[2]
    return re.findall(r"^## (\S+) \(", text, re.MULTILINE)


@contextmanager
def endpoint(script: Callable[[int, list[str]], Reply]) -> Iterator[Endpoint]:
    """Serve until the block ends; the script gets the number of the question (from 0) and its items."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(running.questions)
                running.questions.append(question)
                running.times.append(time.monotonic())
                running.keys.append(self.headers["Authorization"])
            reply = script(number, asked_items(question))
            time.sleep(reply.delay)
            body = reply.body
            if reply.text is not None:
                message = {"role": "assistant", "content": reply.text}
                body = json.dumps({"id": "x", "object": "chat.completion", "choices": [{"message": message}]}).encode()
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                pass  # the client gave up, as some tests want it

        def log_message(self, *_: object) -> None:
            pass

    lock = threading.Lock()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running = Endpoint(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
