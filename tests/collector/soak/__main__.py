"""`python -m tests.collector.soak --minutes 60`: text for each store, JSON at the end."""

from __future__ import annotations

import argparse
import json
import secrets
import sys

from tests.collector import postgres
from tests.collector.respondents import STUDY
from tests.collector.soak.run import soak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--store", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--seed", type=int, default=None, help="faults of an earlier run")
    options = parser.parse_args()
    kinds = ["sqlite", "postgresql"] if options.store == "both" else [options.store]
    if "postgresql" in kinds and postgres.tools() is None:
        sys.exit("NOT SOAKED: PostgreSQL is not installed (apt-get install postgresql)")
    found = []
    for kind in kinds:
        seed = secrets.randbelow(1 << 32) if options.seed is None else options.seed
        print(f"{kind}: faults by --seed {seed}", flush=True)
        found.append(soak(STUDY, kind, seconds=60 * options.minutes, seed=seed))
        print(found[-1], flush=True)
    print(json.dumps([one.to_dict() for one in found]))
    sys.exit(0 if all(one.good for one in found) else 1)


if __name__ == "__main__":
    main()
