"""Analysts on the results page: each asks for a table, waits for it, and asks for another.

In a process of its own (`python -m benchmarks._analysts`) until its input is closed; prints how
many answers there were.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from itertools import combinations, cycle
from typing import Any

import httpx

ANALYSTS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("token")
    options = parser.parse_args()
    address, ended = f"http://127.0.0.1:{options.port}", threading.Event()

    def get(path: str) -> Any:
        headers = {"authorization": f"Bearer {options.token}"}
        found = httpx.get(
            f"{address}/results/api/{path}", headers=headers, timeout=600, trust_env=False
        )
        return found.raise_for_status().json()

    # Before the clock starts: what the first question alone has to wait for.
    names = [attribute["name"] for attribute in get("overview")["study"]["attributes"]]
    get(f"estimate?attributes={names[0]}")
    answers = [0] * ANALYSTS

    def ask(analyst: int) -> None:
        pairs = cycle(list(combinations(names, 2))[analyst::ANALYSTS])
        while not ended.is_set():
            get("overview")
            one, other = next(pairs)
            get(f"estimate?attributes={one}&attributes={other}")
            answers[analyst] += 1

    threads = [threading.Thread(target=ask, args=(i,), daemon=True) for i in range(ANALYSTS)]
    for thread in threads:
        thread.start()
    print("asking", flush=True)
    sys.stdin.read()
    ended.set()
    print(json.dumps({"answers": sum(answers)}), flush=True)


if __name__ == "__main__":
    main()
