"""``make leaks``: every place that is searched, how many things were searched there, and what was found."""

import sys

from tests.leaks.place import sweep
from tests.leaks.places import PLACES


def main() -> None:
    """Search all places, and fail where something is found."""
    group, n_things, n_findings = "", 0, 0
    for place in PLACES:
        if place.group != group:
            group = place.group
            print(f"\n{group}", flush=True)
        swept = sweep(place)
        n_things, n_findings = n_things + swept.n_things, n_findings + len(swept.findings)
        print(f"{swept.n_things:5} things, {len(swept.findings):2} findings  {place.name}", flush=True)
        for finding in swept.findings:
            print(f"{'':21}{finding}")
    print(f"\n{len(PLACES)} places, {n_things:,} things searched, {n_findings} findings")
    sys.exit(1 if n_findings else 0)


if __name__ == "__main__":
    main()
