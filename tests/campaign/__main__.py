"""``python -m tests.campaign [ROW …]``: try at random what could go wrong, for hours, and keep a ledger of it.

An attempt is what its row and its seed make it: what is found can be tried again alone, by the command that is printed.
"""

import argparse
import shlex
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from . import ledger
from .row import Row, SkipError, confirmed
from .rows import ROWS

#: [s] between two lines of a row in the ledger: what a killed campaign loses at most.
KEPT_EVERY = 60.0


def rows_named(names: list[str]) -> list[Row]:
    known = {row.name: row for row in ROWS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"campaign: no row {unknown[0]!r}; rows are {', '.join(known)}")
    return [known[name] for name in names] or list(ROWS)


def campaign(row: Row, seed: int, attempts: int | None, seconds: float, kept: Path) -> int:
    """Attempts of a row from a seed on, so many or for so long; how many findings there were."""
    began, found, made = time.monotonic(), 0, 0
    what, command = ledger.commit(), f"python -m tests.campaign {shlex.join(sys.argv[1:])}"
    while made < attempts if attempts is not None else time.monotonic() - began < seconds:
        entry = ledger.Entry(row.name, what, datetime.now(UTC).date().isoformat(), command, seed + made)
        started = time.monotonic()
        while time.monotonic() - started < KEPT_EVERY and (attempts is None or made < attempts):
            if attempts is None and time.monotonic() - began > seconds:
                break
            one = time.monotonic()
            try:
                tried = confirmed(row, seed + made)
            except SkipError as why:
                print(f"{row.name}: skipped: {why}", flush=True)
                entry.skipped = str(why)
                ledger.append(entry, kept)
                return found
            entry.longest = max(entry.longest, time.monotonic() - one)
            entry.counts += tried.counts
            entry.tried += tried.tried
            entry.attempts += 1
            for kind, text in tried.findings:
                entry.findings.append({"seed": seed + made, "kind": kind, "what": text})
                again = f"python -m tests.campaign {row.name} --seed {seed + made} --trials 1"
                print(f"{row.name}: {kind.upper()}, again by `{again}`:\n{text}\n", flush=True)
            made += 1
        entry.seconds = time.monotonic() - started
        found += len(entry.findings)
        ledger.append(entry, kept)
        print(f"{row.name}: {made} attempts, {entry.tried} {row.unit} in {entry.seconds:.0f} s, {found} findings",
              flush=True)  # fmt: skip
    return found


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.campaign", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{', '.join(row.name for row in ROWS)}; or all")
    parser.add_argument("--trials", type=int, help="attempts of each row")
    parser.add_argument("--seconds", type=float, default=600.0, help="for each row, where --trials is not given (600)")
    parser.add_argument("--seed", type=int, help="of the first attempt (the first that was not tried before)")
    parser.add_argument("--ledger", type=Path, default=ledger.LEDGER, help="file that is added to")
    parser.add_argument("--page", action="store_true", help="write the table of docs/campaign.md from it, try nothing")
    options = parser.parse_args(words)
    if options.page:
        ledger.write_page(ROWS, options.ledger)
        return 0
    found = 0
    for row in rows_named(options.rows):
        seed = ledger.next_seed(row.name, options.ledger) if options.seed is None else options.seed
        found += campaign(row, seed, options.trials, options.seconds, options.ledger.absolute())
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
