"""The verb that grades over HTTP: serve."""

from __future__ import annotations

import argparse
import os
import socket

from xlcheck.arguments import Verbs, add_allowance, allowance_of, positive
from xlcheck.errors import UsageError

_LAST_PORT = 65_535


def add_verbs(verbs: Verbs) -> None:
    """Add the verb of the service."""
    serve = verbs.add("serve", _serve, "grade over HTTP: POST a workbook, get its report")
    serve.add_argument(
        "--rubric", action="append", metavar="ID|FILE", help="one it offers; may be repeated (all bundled)"
    )
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    serve.add_argument("--port", type=positive, default=8000, metavar="N", help="(%(default)s)")
    serve.add_argument(
        "--jobs", type=positive, default=os.cpu_count() or 1, metavar="N", help="gradings at a time (as many as cores)"
    )
    serve.add_argument("--queue", type=positive, default=16, metavar="N", help="requests in line (%(default)s)")
    serve.add_argument("--max-upload", type=positive, default=50, metavar="MB", help="of one request (%(default)s)")
    add_allowance(serve)


def _serve(args: argparse.Namespace) -> int:
    try:
        import uvicorn

        from xlcheck.serving.app import build_app, settings_of
    except ImportError:
        raise UsageError('serve needs FastAPI and uvicorn; install them with pip install "xlcheck[serve]"') from None
    from xlcheck.resources import bundled_names

    settings = settings_of(
        tuple(args.rubric or bundled_names("rubrics")),
        running=args.jobs,
        waiting=args.queue,
        megabytes=args.max_upload,
        allowance=allowance_of(args),
    )
    with _listening(args.host, args.port) as place:
        config = uvicorn.Config(build_app(settings), log_level="warning", access_log=False)
        uvicorn.Server(config).run(sockets=[place])
    return 0


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; UsageError where it cannot."""
    if port > _LAST_PORT:
        raise UsageError(f"--port {port}: a port is a whole number from 1 to {_LAST_PORT}")
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise UsageError(f"--host {host} --port {port}: nothing can listen there: {error.strerror}") from None
