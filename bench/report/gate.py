#!/usr/bin/python3 -B
"""The verdict of the regression gate: whether Spillway still keeps its aims beside HAProxy.

    bench/report/gate.py RESULTS BOUNDS

BOUNDS is JSON: {"small-get": {"cpu_of_haproxy": 0.8, "above_relay": 0.5}}, largest ratios of CPU per
request; a line may be a comment that begins with //. A bound is a ratio within one run, so it holds on
any machine. It is broken if the median of the rounds' ratios exceeds it with 95 % confidence: the
lower bound of the median does. Status 0: none is broken; 1: one is; 2: one was not measured."""

import json
import re
import sys
from dataclasses import dataclass

from results import Cost, Spread, read_file

RATIOS = {"cpu_of_haproxy": (lambda cost, workload: cost.to_haproxy(workload, "spillway", "cpu_us"),
                             "CPU per request, of HAProxy's"),
          "above_relay": (lambda cost, workload: cost.above_relay(workload, "spillway"),
                          "CPU above the relay, of HAProxy's")}


def read_bounds(text):
    """A list of (workload, ratio, bound). Raises ValueError for anything else."""
    bounds = []
    for workload, ratios in json.loads(re.sub(r"(?m)^\s*//.*$", "", text)).items():
        for ratio, bound in ratios.items():
            if ratio not in RATIOS:
                raise ValueError(f"{workload}: there is no ratio {ratio}")
            if type(bound) not in (int, float) or not 0 < bound < float("inf"):
                raise ValueError(f"{workload}: {ratio} is a positive number")
            bounds.append((workload, ratio, bound))
    return bounds


@dataclass
class Verdict:
    workload: str
    ratio: str
    bound: float
    measured: Spread

    @property
    def outcome(self):
        lower = self.measured.lower_bound()
        if lower is None:
            return "NOT MEASURED"  # too few rounds are no evidence either way
        if lower > self.bound:
            return "BROKEN"
        return "kept" if self.measured.median <= self.bound else "kept within noise"

    def __str__(self):
        text, spread = f"{self.workload}: {RATIOS[self.ratio][1]}: ", self.measured
        if self.outcome == "NOT MEASURED":
            return text + f"NOT MEASURED, {len(spread)} rounds are too few"
        return text + (f"{spread.median:.3f} ({spread.lowest:.3f} to {spread.highest:.3f} in "
                       f"{len(spread)} rounds, with 95 % confidence at least "
                       f"{spread.lower_bound():.3f}), at most {self.bound:.2f}: {self.outcome}")


def judge(cells, bounds):
    cost = Cost(cells)
    return [Verdict(*bound, RATIOS[bound[1]][0](cost, bound[0])) for bound in bounds]


def status_of(verdicts):
    outcomes = {verdict.outcome for verdict in verdicts}
    if "BROKEN" in outcomes:
        return 1
    return 2 if "NOT MEASURED" in outcomes or not verdicts else 0


def main(arguments):
    if len(arguments) != 2:
        print("usage: gate.py RESULTS BOUNDS", file=sys.stderr)
        return 2
    try:
        with open(arguments[1], encoding="utf-8") as bounds:
            verdicts = judge(read_file(arguments[0]).cost, read_bounds(bounds.read()))
    except (OSError, ValueError, AttributeError) as problem:
        print(f"gate.py: {problem}", file=sys.stderr)
        return 2
    print(*verdicts, sep="\n")
    return status_of(verdicts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
