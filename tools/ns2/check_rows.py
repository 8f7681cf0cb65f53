"""Checks `dumbbell.tcl` against rows measured with another ns-2 script.

    python tools/ns2/check_rows.py ROWS.csv

The file contains a row per configuration. Its columns are `n dur warm bw delay accbw accdelay qlim tcp pkt
win` and `a b seeds`. Each measure NAME adds the columns NAME_mean and NAME_sd. Rows whose `experiment` is c
or d run with the same number of seeds. A measure agrees if the means differ by at most 3.4 standard errors.
"""

import argparse
import csv
import math
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ns2

MEASURES = {
    "goodput_Bps": "goodput_Bps",
    "drops": "drops",
    "access_drops": "access_drops",
    "rtx": "retransmits",
    "timeouts": "timeouts",
    "jain": "jain",
}
# About 99 % of Student's t at the degrees of freedom of five seeds on either side.
FAR = 3.4


def arguments(row: dict[str, str], seed: int) -> dict[str, object]:
    """The arguments of `dumbbell.tcl` for a row."""
    return {
        "flows": row["n"],
        "duration": row["dur"],
        "warmup": row["warm"],
        "rate": row["bw"],
        "delay": row["delay"],
        "access_rate": row["accbw"],
        "access_delay": row["accdelay"],
        "limit": row["qlim"],
        "access_limit": row["qlim"],
        "tcp": row["tcp"],
        "payload": row["pkt"],
        "max_window": row["win"],
        "increase": row["a"],
        "remaining": row["b"],
        "seed": ns2.seed(seed),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--seeds", type=int, default=None, help="default: as many as the row has")
    options = parser.parse_args()
    with options.rows.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["experiment"] in ("c", "d")]
    far = 0
    print(f"{'set-up':<24}{'measure':<14}{'row':>14}{'here':>14}{'t':>8}")
    with ThreadPoolExecutor(max_workers=2) as pool:
        for row in rows:
            seeds = options.seeds or int(row["seeds"])
            runs = list(pool.map(ns2.run, [arguments(row, seed) for seed in range(1, seeds + 1)]))
            label = f"{row['experiment']} n={row['n']} {float(row['accdelay']) * 1e3:g} ms win={row['win']}"
            for column, measure in MEASURES.items():
                here = [run[measure] for run in runs]
                mean, deviation = float(row[f"{column}_mean"]), float(row[f"{column}_sd"])
                error = math.sqrt(deviation**2 / int(row["seeds"]) + statistics.variance(here) / seeds)
                difference = statistics.fmean(here) - mean
                # A thousandth, or one packet, is rounding and not a rule.
                t = 0.0 if abs(difference) <= max(1e-3 * abs(mean), 1) else difference / max(error, 1e-12)
                far += abs(t) > FAR
                print(f"{label:<24}{column:<14}{mean:14.6g}{statistics.fmean(here):14.6g}{t:8.2f}")
    print(f"{far} of {len(rows) * len(MEASURES)} measures differ")
    return 1 if far else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ns2.Ns2Error as error:
        sys.exit(f"check_rows.py: {error}")
