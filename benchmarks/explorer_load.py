"""Fifty people move the sliders of one explorer for half a minute.

Each client does what the page does: while a slider moves it asks for the curves again and again, each time after the
last answer has come; now and then the slider rests, and it asks for the verdict and the enclosure of psi. Run it with
``python benchmarks/explorer_load.py``; it starts its own server on this machine and ends it.

It prints the number of questions and errors, the median and the 95th percentile of the time to an answer, and the
processor time and memory of all processes of the server. It reads both from /proc, so it needs Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx2 as httpx

from uneven import losses

REST_EVERY = 25  # moves between two rests


def start_server() -> tuple[subprocess.Popen[str], str]:
    """The server and its address."""
    command = [sys.executable, "-m", "uneven", "explore", "--no-browser", "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    for line in server.stderr:
        found = re.search(r"http://\S+", line)
        if found:
            return server, found.group()
    raise SystemExit("the explorer did not start")


def processes(root: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                children.setdefault(int(_stat(int(folder.name))[1]), []).append(int(folder.name))
            except OSError:
                continue
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name: state, parent, ..."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def memory(root: int) -> dict[int, float]:
    """Proportional memory in MB of each process of the server: what they share is counted once."""
    found = {}
    for pid in processes(root):
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        found[pid] = int(re.search(r"^Pss:\s+(\d+)", text, re.M).group(1)) / 1024  # type: ignore[union-attr]
    return found


def processor_time(root: int) -> float:
    """Seconds that the processes of the server have computed, with those that were replaced meanwhile."""
    return sum(sum(map(int, _stat(pid)[11:15])) for pid in processes(root)) / os.sysconf("SC_CLK_TCK")


class Client:
    """One person at the sliders."""

    def __init__(
        self, http: httpx.AsyncClient, number: int, seen: dict[str, list[float]], errors: Counter[str]
    ) -> None:
        self.http, self.seen, self.errors = http, seen, errors
        self.random = random.Random(number)
        self.phi = self.random.choice(losses.names())
        self.slider, self.ratio = self.random.uniform(-2, 2), self.random.randint(1, 50)

    def question(self) -> dict[str, object]:
        self.slider = min(max(self.slider + self.random.choice((-0.05, 0.05)), -5), 5)
        gamma = f"{2**self.slider:.3g}"
        return {
            "kind": "phi",
            "phi": self.phi,
            "parameters": {},
            "gamma": gamma,
            "beta": None,
            "fp": "1",
            "fn": str(self.ratio),
            "weighted": True,
        }

    async def ask(self, name: str, question: dict[str, object]) -> None:
        start = time.perf_counter()
        try:
            reply = await self.http.post(f"/api/{name}", json=question)
            if reply.status_code != 200:
                self.errors[f"{name}: {reply.status_code} {reply.text[:80]}"] += 1
                return
            json.loads(reply.content)
        except httpx.HTTPError as error:
            self.errors[f"{name}: {type(error).__name__}"] += 1
            return
        self.seen.setdefault(name, []).append(time.perf_counter() - start)

    async def run(self, until: float) -> None:
        moves = self.random.randrange(REST_EVERY)
        while time.monotonic() < until:
            question = self.question()
            await self.ask("curves", question)
            await asyncio.sleep(0.03)  # the next move
            moves += 1
            if moves % REST_EVERY == 0:
                await asyncio.gather(self.ask("verdict", question), self.ask("enclosure", question))


async def load(address: str, clients: int, seconds: float, pid: int) -> None:
    """Let the clients move their sliders, and print what happened."""
    seen: dict[str, list[float]] = {}
    errors: Counter[str] = Counter()
    limits = httpx.Limits(max_connections=2 * clients, max_keepalive_connections=2 * clients)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits, trust_env=False) as http:
        await Client(http, 0, {}, errors).ask("curves", Client(http, 0, {}, errors).question())
        until = time.monotonic() + seconds
        computed = processor_time(pid)
        people = [Client(http, number, seen, errors) for number in range(clients)]
        work = asyncio.gather(*(person.run(until) for person in people))
        used = []
        while not work.done():
            await asyncio.sleep(2.0)
            used.append(memory(pid))
            if len(used) % 5 == 0:
                each = ", ".join(f"{one:.0f}" for one in used[-1].values())
                print(f"  after {2 * len(used):3} s {sum(used[-1].values()):4.0f} MB: server {each}", flush=True)
        await work
        computed = processor_time(pid) - computed
    print(f"{clients} clients, {seconds:g} s, {os.cpu_count()} cores")
    for name, times in sorted(seen.items()):
        times.sort()
        middle, most = (1000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.95))
        print(f"{name:10} {len(times):6,} answers  median {middle:6.0f} ms  95th percentile {most:6.0f} ms")
    print(f"errors: {sum(errors.values())} {dict(errors) or ''}")
    print(f"processor time of the server: {computed:.1f} s of {seconds * (os.cpu_count() or 1):g} s")
    totals = [sum(each.values()) for each in used]
    third, most = totals[len(totals) // 3], max(totals)
    print(f"memory (proportional) after a third {third:.0f} MB, at the end {totals[-1]:.0f} MB, most {most:.0f} MB")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--clients", type=int, default=50)
    options.add_argument("--seconds", type=float, default=30)
    chosen = options.parse_args()
    server, address = start_server()
    try:
        asyncio.run(load(address, chosen.clients, chosen.seconds, server.pid))
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=15)


if __name__ == "__main__":
    main()
