#!/usr/bin/python3 -B
"""The verdict of the regression gate: whether Spillway still keeps its aims beside HAProxy.

    bench/report/gate.py RESULTS BOUNDS

BOUNDS is JSON: {"small-get": {"cpu_of_haproxy": 0.8}, "capacity-known 2": {"p1_success": 0.99}}: by workload
of cost, or by scenario and load of overload, the largest or the least value of a figure; a line may be a
comment that begins with //. Figures are ratios within one run, or counts, so they hold on any machine. A
bound is broken if the median of the rounds exceeds it with 95 % confidence: the confidence bound of the
median does. Status 0: none is broken; 1: one is; 2: one was not measured."""

import json
import re
import sys
from dataclasses import dataclass
from typing import Callable

from results import Cost, Spread, beside, late_refusals, over_repetitions, read_file, success


@dataclass
class Figure:
    """What a bound is about: `of` takes Results and the place's words and returns a Spread."""
    of: Callable
    text: str
    is_least: bool = False  # the bound is the least value that is allowed, not the largest


def overloaded(figure, cls="all"):
    return lambda results, scenario, load: over_repetitions(
        results.overload, scenario, float(load), "spillway", figure, cls)


COST = {
    "cpu_of_haproxy": Figure(lambda results, workload: Cost(results.cost).to_haproxy(
        workload, "spillway", "cpu_us"), "CPU per request, of HAProxy's"),
    "above_relay": Figure(lambda results, workload: Cost(results.cost).above_relay(
        workload, "spillway"), "CPU above the relay, of HAProxy's")}
OVERLOAD = {
    "goodput_of_haproxy": Figure(lambda results, scenario, load: beside(
        results.overload, scenario, float(load), "spillway", "haproxy-tuned", "goodput_ratio"),
        "goodput, of HAProxy's with the true number", True),
    "p1_success": Figure(overloaded(success, "P1"), "success of P1", True),
    "late_refusals": Figure(overloaded(late_refusals), "refusals after a wait, of all refusals"),
    "transitions": Figure(overloaded("transitions"), "transitions of the overload state")}


def read_bounds(text):
    """A list of (place, figure, bound). Raises ValueError for anything else."""
    bounds = []
    for place, figures in json.loads(re.sub(r"(?m)^\s*//.*$", "", text)).items():
        words = place.split()
        if not re.fullmatch(r"\S+( [0-9.]+)?", place):
            raise ValueError(f"{place}: neither a workload nor a scenario and a load")
        for figure, bound in figures.items():
            if figure not in (COST if len(words) == 1 else OVERLOAD):
                raise ValueError(f"{place}: there is no figure {figure}")
            if type(bound) not in (int, float) or not 0 < bound < float("inf"):
                raise ValueError(f"{place}: {figure} is a positive number")
            bounds.append((place, figure, bound))
    return bounds


@dataclass
class Verdict:
    place: str
    figure: Figure
    bound: float
    measured: Spread

    @property
    def confident(self):
        """The confidence bound of the median on the side where the bound is kept."""
        spread = self.measured
        return spread.upper_bound() if self.figure.is_least else spread.lower_bound()

    def exceeds(self, value):
        return value < self.bound if self.figure.is_least else value > self.bound

    @property
    def outcome(self):
        if self.confident is None:
            return "NOT MEASURED"  # too few rounds are no evidence either way
        if self.exceeds(self.confident):
            return "BROKEN"
        return "kept within noise" if self.exceeds(self.measured.median) else "kept"

    def __str__(self):
        text, spread = f"{self.place}: {self.figure.text}: ", self.measured
        if self.outcome == "NOT MEASURED":
            return text + f"NOT MEASURED, {len(spread)} rounds are too few"
        sides = ("at most", "at least") if self.figure.is_least else ("at least", "at most")
        return text + (f"{spread.median:.3f} ({spread.lowest:.3f} to {spread.highest:.3f} in "
                       f"{len(spread)} rounds, with 95 % confidence {sides[0]} "
                       f"{self.confident:.3f}), {sides[1]} {self.bound:.2f}: {self.outcome}")


def judge(results, bounds):
    verdicts = []
    for place, name, bound in bounds:
        figure = {**COST, **OVERLOAD}[name]
        verdicts.append(Verdict(place, figure, bound, figure.of(results, *place.split())))
    return verdicts


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
            verdicts = judge(read_file(arguments[0]), read_bounds(bounds.read()))
    except (OSError, ValueError, AttributeError) as problem:
        print(f"gate.py: {problem}", file=sys.stderr)
        return 2
    print(*verdicts, sep="\n")
    return status_of(verdicts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
