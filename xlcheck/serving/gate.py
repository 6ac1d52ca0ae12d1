"""Who may come in: so many gradings at a time, so many waiting, and no body beyond a size."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class FullError(Exception):
    """As many gradings run and wait as may."""


class TooLargeError(Exception):
    """A request's body is larger than may be."""


class Gate:
    """Admits `running` gradings at a time and lets `waiting` more stand in line."""

    def __init__(self, running: int, waiting: int) -> None:
        self._slots = asyncio.Semaphore(running)
        self._most = running + waiting
        self._inside = 0
        self.running = 0

    @property
    def waiting(self) -> int:
        """Requests that stand in line."""
        return self._inside - self.running

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place inside; raises FullError where there is none."""
        if self._inside >= self._most:
            raise FullError
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold one of the slots in which a grading runs, after waiting for it."""
        async with self._slots:
            self.running += 1
            try:
                yield
            finally:
                self.running -= 1


class BodyLimit:
    """ASGI middleware that stops reading a request's body at a number of bytes, whatever its header says."""

    def __init__(self, app: App, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with its body counted."""
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                raise TooLargeError
            return message

        await self._app(scope, counted, send)
