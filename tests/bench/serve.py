"""Load on the service: ``python tests/bench/serve.py --clients 50 --seconds 60`` on this machine's loopback.

Each client posts one of several workbooks again and again and holds the answer against its own file's SHA-256; half
way a hostile file goes in. Prints figures in Markdown.
"""
# ruff: noqa: T201 - a script tells its results on the terminal

from __future__ import annotations

import argparse
import asyncio
import hashlib
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import quantiles

import httpx

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from hostile.cases import CASES  # noqa: E402

RUBRIC = "sic-epitaxy-dcf"


def free_port() -> int:
    with socket.socket() as wire:
        wire.bind(("127.0.0.1", 0))
        return int(wire.getsockname()[1])


async def post(client: httpx.AsyncClient, name: str, content: bytes) -> httpx.Response:
    return await client.post("/grade", files={"workbook": (name, content)}, data={"rubric": RUBRIC})


async def one_client(
    client: httpx.AsyncClient, book: Path, until: float, answers: Counter[str], seconds: list[float]
) -> None:
    content = book.read_bytes()
    own = hashlib.sha256(content).hexdigest()
    while time.monotonic() < until:
        begun = time.monotonic()
        answer = await post(client, f"{book.parent.name}.xlsx", content)
        if answer.status_code == 200:
            told = answer.json()
            mixed = told["workbook_sha256"] != own or told["workbook"] != f"{book.parent.name}.xlsx"
            answers["mixed up" if mixed else "200"] += 1
            seconds.append(time.monotonic() - begun)
        else:
            answers[str(answer.status_code)] += 1
            await asyncio.sleep(0.5)


async def hostile(client: httpx.AsyncClient, after: float) -> str:
    await asyncio.sleep(after)
    case = next(case for case in CASES if case.name == "rept")
    while True:
        answer = await post(client, "hostile.xlsx", case.build())
        if answer.status_code != 429:
            return f"{answer.status_code} {answer.json().get('error', 'a report')}"
        await asyncio.sleep(0.1)


async def load(port: int, clients: int, seconds: float) -> None:
    books = sorted((ROOT / "fixtures" / RUBRIC).glob("*/model.xlsx"))
    answers: Counter[str] = Counter()
    took: list[float] = []
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120, limits=httpx.Limits()) as client:
        for _ in range(200):
            try:
                await client.get("/health")
                break
            except httpx.TransportError:
                await asyncio.sleep(0.1)
        until = time.monotonic() + seconds
        told, *_ = await asyncio.gather(
            hostile(client, seconds / 2),
            *(one_client(client, books[at % len(books)], until, answers, took) for at in range(clients)),
        )
        health = (await client.get("/health")).json()
    print(
        f"* {clients} clients for {seconds:g} s: {dict(answers)}; p95 of the graded {quantiles(took, n=20)[-1]:.1f} s"
    )
    print(f"* the hostile file: {told}")
    print(f"* afterwards: {health}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    port = free_port()
    line = [sys.executable, "-m", "xlcheck.cli", "serve", "--port", str(port), "--rubric", RUBRIC, "--max-seconds", "5"]
    service = subprocess.Popen([*line, "--jobs", "2"])
    try:
        asyncio.run(load(port, args.clients, args.seconds))
    finally:
        service.terminate()
        service.wait(10)


if __name__ == "__main__":
    main()
