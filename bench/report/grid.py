#!/usr/bin/python3 -B
"""Makes the table of aims of the grid's result lines (fields: bench/grid/README.md).

    bench/report/grid.py RESULTS                    the aims, on a terminal
    bench/report/grid.py RESULTS --page grid.md     also the page

An aim is judged in each cell by the median over its seeds. The part that the laws were tuned on and
the part that is held out are reported apart."""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Callable

from tables import markdown, sections

JUDGED_MOST = 0.8  # demand of P0 / capacity, up to which P0 is judged


class Grid:
    """The runs by cell, contender and seed."""

    def __init__(self, lines):
        self.runs, self.cells, self.held_out = {}, {}, set()
        for line in lines:
            self.runs[line["cell"], line["contender"], line["seed"]] = line
            self.cells.setdefault(line["cell"], line)
            if line["held_out"]:
                self.held_out.add(line["cell"])
        self.seeds = sorted({seed for _, _, seed in self.runs})
        self.contenders = list(dict.fromkeys(name for _, name, _ in self.runs))

    def values(self, cell, figure, *contenders):
        """figure(run of each contender) for each seed, without those where it is None."""
        out = []
        for seed in self.seeds:
            runs = [self.runs.get((cell, contender, seed)) for contender in contenders]
            if None not in runs and (value := figure(*runs)) is not None:
                out.append(value)
        return out


@dataclass
class Aim:
    """`figure` of the runs of `contenders` in a cell, where `applies`; met up to or from `bound`."""
    text: str
    contenders: tuple
    applies: Callable
    figure: Callable
    bound: float
    is_most: bool = False  # the bound is the most, not the least
    note: str = ""

    def met(self, value):
        return value <= self.bound if self.is_most else value >= self.bound


def of(name):
    return lambda run: run.get(name)


def ratio(name):
    """A figure of one contender by that of another."""
    return lambda own, its: own[name] / its[name] if name in own and its.get(name) else None


def is_steady(run):
    return run["shape"] == "steady"


def is_judged_overload(run):
    return run["load"] >= 1.2 and run["shape"] in ("steady", "noisy", "mix-shift", "thrash")


def judges_first(run):
    return run["demand_P0"] < JUDGED_MOST and run["shape"] != "storm"


def answered(name):
    """Success of a class, of what could be answered before the timeout without any queue."""
    return lambda run: run.get("success_" + name, 0) / run["alone_answered"]


def p99_alone(run):
    return run["p99_P0_ms"] / run["alone_p99_ms"] if "p99_P0_ms" in run else None


def p99_within(own, its):
    """P0's p99 / the larger of 1.25 x unloaded and the reference's."""
    if "p99_P0_ms" not in own or "p99_P0_ms" not in its:
        return None
    return own["p99_P0_ms"] / max(1.25 * own["alone_p99_ms"], 1.05 * its["p99_P0_ms"])


def first_lost(own, its):
    return answered("P0")(own) - min(0.999, answered("P0")(its))


def false_refusals(own):
    return own["refused"] / own["offered"]


def more_false_refusals(own, its):
    return (own["refused"] - its["refused"]) / own["offered"]


def harm(own, off):
    """The most that a class loses by the rules, in points of success, no class above gaining."""
    worst, gain = 0.0, 0.0
    for name in ("P0", "P1", "P2"):
        change = 100 * (own["success_" + name] - off["success_" + name])
        if gain < 0.05:
            worst = max(worst, -change)
        gain = max(gain, change)
    return worst


def least_jain(run):
    values = [run["jain_" + name] for name in ("P0", "P1", "P2") if "jain_" + name in run]
    return min(values) if values else None


def early(run):
    return 1 - run["refused_late"] if run.get("refused", 0) >= 100 else None


def is_overload(run):
    return run["load"] >= 1.2


def has_end(run):
    return run["shape"] in ("step", "slow2", "slow5", "cut", "storm")


def is_calm_after(run):
    return has_end(run) and (run["shape"] == "step" or run["load"] < 0.96)


def lost_after(own, its):
    if "lost_after_s" not in own:
        return None
    return own["lost_after_s"] - max(0.0, its["lost_after_s"])


AIMS = [
    Aim("useful backend time while overloaded, of ideal", ("auto",), is_judged_overload,
        of("saturated_useful"), 0.97),
    Aim("the same, of strict priority with the true number", ("auto", "strict"), is_overload,
        ratio("saturated_useful_s"), 0.99),
    Aim("the same, with the true number", ("true", "strict"), is_overload,
        ratio("saturated_useful_s"), 0.99),
    Aim("the true number, of strict priority whose queue timeout fits the clients'",
        ("true", "strict-told"), is_overload, ratio("saturated_useful_s"), 0.99),
    Aim("P0 answered, of what could be", ("auto",), judges_first, answered("P0"), 0.999),
    Aim("the same, or as strict priority with the true number", ("auto", "strict"), judges_first,
        first_lost, 0.0, note="difference"),
    Aim("P0 p99 / unloaded", ("auto",), judges_first, p99_alone, 1.25, True),
    Aim("P0 p99 / the larger of 1.25 x unloaded and 1.05 x strict priority's", ("auto", "strict"),
        judges_first, p99_within, 1.0, True),
    Aim("the same, with the true number", ("true", "strict"), judges_first, p99_within, 1.0, True),
    Aim("P1 answered at 2 x", ("auto",), lambda run: is_steady(run) and run["load"] == 2,
        answered("P1"), 0.99),
    Aim("the same, of strict priority's", ("auto", "strict"),
        lambda run: is_steady(run) and run["load"] == 2, ratio("success_P1"), 0.99),
    Aim("4 x too high at 2 x, auto: P0 p99 / strict priority's with that number",
        ("auto", "strict-high"), lambda run: is_steady(run) and run["load"] == 2,
        ratio("p99_P0_ms"), 0.6, True),
    Aim("the same, a latency threshold", ("threshold-high", "strict-high"),
        lambda run: is_steady(run) and run["load"] == 2, ratio("p99_P0_ms"), 0.6, True),
    Aim("transitions, auto", ("auto",), is_steady, of("transitions"), 2, True),
    Aim("transitions, true number", ("true",), is_steady, of("transitions"), 2, True),
    Aim("transitions, a latency threshold", ("threshold-high",), is_steady, of("transitions"), 2,
        True),
    Aim("refused at 0.7 x", ("auto",), lambda run: is_steady(run) and run["load"] < 0.9,
        false_refusals, 1e-4, True),
    Aim("refused at 0.7 x and 0.95 x, more than with the true number", ("auto", "true"),
        lambda run: is_steady(run) and run["load"] < 1, more_false_refusals, 1e-4, True),
    Aim("an impossible latency threshold: useful time, of ideal", ("threshold-impossible",),
        is_steady, of("saturated_useful"), 0.97),
    Aim("the same: P0 answered", ("threshold-impossible",), is_steady, answered("P0"), 0.999),
    Aim("the same: told by SHEDDING_DOES_NOT_HELP", ("threshold-impossible",), is_steady,
        lambda run: float(run["does_not_help"]), 1),
    Aim("harm of the rules, points of success", ("auto", "off"), lambda run: True, harm, 0.5, True),
    Aim("recovery: capacity lost after, seconds more than strict priority", ("auto", "strict"),
        has_end, lost_after, 2, True),
    Aim("NORMAL after a disturbance, seconds", ("auto",), is_calm_after, of("normal_after_s"), 5,
        True),
    Aim("refused from 5 s after it on, at 0.95 x and less", ("auto",), is_calm_after,
        of("refused_after"), 1e-4, True),
    Aim("the same, more than with the true number", ("auto", "true"), is_calm_after,
        lambda own, its: own["refused_after"] - its["refused_after"], 1e-4, True),
    Aim("refusals within 5 ms", ("auto",), lambda run: True, early, 0.99),
    Aim("Jain index inside a class, the least of three", ("auto",), lambda run: True, least_jain,
        0.98),
    Aim("slots idle while requests are refused", ("auto",), is_overload, of("idle_while_refused"),
        0.005, True),
]


def figure_text(value):
    if value == 0:
        return "0"
    size = abs(value)
    return f"{value:.{0 if size >= 100 else 1 if size >= 10 else 2 if size >= 2 else 4}f}"


class Judgement:
    """An aim over all its cells: (value, cell), the worst first."""

    def __init__(self, aim, grid):
        self.aim, self.values = aim, []
        for cell, line in grid.cells.items():
            if aim.applies(line) and (values := grid.values(cell, aim.figure, *aim.contenders)):
                self.values.append((median(values), cell))
        self.values.sort(reverse=aim.is_most)
        self.held_out = grid.held_out

    def part(self, is_held_out):
        return [value for value, cell in self.values if (cell in self.held_out) == is_held_out]

    def missed(self):
        return [(value, cell) for value, cell in self.values if not self.aim.met(value)]

    def met_text(self, values):
        return f"{sum(map(self.aim.met, values))} of {len(values)}" if values else ""

    def row(self):
        aim = self.aim
        parts = [self.part(False), self.part(True)]
        if not self.values:
            return [aim.text]
        worst, cell = self.values[0]
        bound = ("≤ " if aim.is_most else "≥ ") + f"{aim.bound:g}"
        medians = [figure_text(median(part)) if part else "" for part in parts]
        return [aim.text, bound, medians[0], self.met_text(parts[0]), medians[1],
                self.met_text(parts[1]), figure_text(worst), cell,
                "no" if self.missed() else "yes"]


def aims_table(judgements):
    return markdown(["aim", "bound", "tuned: median", "met", "held out: median", "met", "worst",
                     "in", "kept"], [judgement.row() for judgement in judgements])


def misses(judgements, most):
    """For each aim that is missed, the worst cells."""
    texts = []
    for judgement in judgements:
        missed = judgement.missed()
        if missed:
            texts.append(f"* {judgement.aim.text} ({', '.join(judgement.aim.contenders)}): " + ", ".join(
                f"{cell} {figure_text(value)}" for value, cell in missed[:most])
                + (f", and {len(missed) - most} more" if len(missed) > most else "") + "\n")
    return "".join(texts)


FLEET_AIMS = (("useful", 0.95, False), ("jain_proxies", 0.95, False), ("limits_variation", 0.2, True))


def fleet_table(lines):
    """One row for each fleet and contender, medians over the seeds."""
    rows = []
    for name, contender in dict.fromkeys((line["fleet"], line["contender"]) for line in lines):
        runs = [line for line in lines
                if (line["fleet"], line["contender"]) == (name, contender)]

        def middle(figure):
            values = [run[figure] for run in runs if figure in run]
            return median(values) if values else None
        missed = [figure for figure, bound, is_most in FLEET_AIMS
                  if (value := middle(figure)) is not None and contender == "auto"
                  and not name.startswith("servers") and not name.endswith("-clocks-apart")
                  and not (figure == "limits_variation" and name.endswith("-changing"))
                  and (value > bound if is_most else value < bound)]
        cells = [middle(figure) for figure in ("useful", "success_P0", "success_P1", "p99_P0_ms",
                                               "jain_proxies", "limits_mean", "limits_lowest",
                                               "limits_highest", "in_step")]
        rows.append([name, contender, *("" if value is None else figure_text(value)
                                        for value in cells), ", ".join(missed)])
    return markdown(["fleet", "contender", "useful", "P0", "P1", "P0 p99 ms", "Jain of proxies",
                     "sum of limits", "lowest", "highest", "in step", "missed"], rows, 2)


def servers_table(lines):
    rows = []
    for line in lines:
        if "useful_during" in line and line["seed"] == 1:
            inside = ["/".join(figure_text(line[f"in_flight_{i}{when}"]) for i in range(1, 4)
                               if f"in_flight_{i}{when}" in line) for when in ("", "_during")]
            rows.append([line["fleet"], line["contender"],
                         *(figure_text(line[figure]) for figure in
                           ("useful_before", "useful_during", "useful_after")), *inside])
    return markdown(["servers", "contender", "useful before", "during", "after",
                     "in flight / slots, before", "during"], rows, 2)


def mean_of(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def contenders_table(grid, is_held_out):
    """Means over the cells with 1.2 x and more that every one of them played."""
    cells = [cell for cell, line in grid.cells.items()
             if line["load"] >= 1.2 and (cell in grid.held_out) == is_held_out]
    rows = []
    for name in grid.contenders:
        runs = [run for (cell, contender, _), run in grid.runs.items()
                if contender == name and cell in set(cells)]
        if not runs or {run["cell"] for run in runs} != set(cells):
            continue
        figures = [of("saturated_useful"),
                   lambda run: answered("P0")(run) if judges_first(run) else None,
                   lambda run: answered("P1")(run) if run["load"] == 2 else None,
                   lambda run: p99_alone(run) if judges_first(run) else None,
                   of("transitions"), early, least_jain, of("idle_while_refused")]
        means = [mean_of(map(figure, runs)) for figure in figures]
        rows.append([name, *("" if value is None else figure_text(value) for value in means)])
    return markdown(["mean over cells from 1.2 x on", "useful", "P0", "P1 at 2 x", "P0 p99 / alone",
                     "transitions", "early", "Jain", "idle"], rows)


def by_axis(judgements, grid):
    """Where aims are missed: met of all, by value of each axis."""
    rows = []
    for axis in ("shape", "slots", "service_ms", "sigma", "load", "timeout_ms"):
        for value in sorted({line[axis] for line in grid.cells.values()}, key=str):
            met = all_of_it = 0
            for judgement in judgements:
                for figure, cell in judgement.values:
                    if grid.cells[cell][axis] == value and "auto" in judgement.aim.contenders:
                        all_of_it += 1
                        met += judgement.aim.met(figure)
            if all_of_it:
                rows.append([f"{axis} {value}", f"{met} of {all_of_it}", f"{met / all_of_it:.2f}"])
    return markdown(["aims of auto met where", "", ""], rows)


def page(run, grid, judgements, fleets):
    held_out = ", ".join(sorted(grid.held_out))
    return sections(
        "# The grid\n", "Written by `bench/run grid` from `grid.jsonl`; what is played and what each figure "
        "means: `bench/grid/README.md`.\n",
        f"{run.get('date', '')}, commit {run.get('commit', '')}"
        f"{', a quick run' if run.get('quick') else ''}. {len(grid.cells)} cells, "
        f"{len(grid.held_out)} of them held out, {len(grid.seeds)} seed(s), "
        f"{len(grid.runs)} runs.\n",
        "## Aims\n", aims_table(judgements), "## Where they are missed\n", misses(judgements, 12),
        by_axis(judgements, grid), "## Contenders\n", "The tuned part:\n",
        contenders_table(grid, False), "The held-out part:\n", contenders_table(grid, True),
        "## Fleets\n", fleet_table(fleets), servers_table(fleets),
        "## Held out\n", held_out + ".\n")


def read(path):
    run, lines, fleets = {}, [], []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = json.loads(text)
        except ValueError as problem:
            raise ValueError(f"{path}, line {number}: {problem}") from None
        if line.get("suite") == "run":
            run = line
        elif line.get("suite") == "grid":
            lines.append(line)
        elif line.get("suite") == "fleet":
            fleets.append(line)
        else:
            raise ValueError(f"{path}, line {number}: there is no suite {line.get('suite')}")
    return run, lines, fleets


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, metavar="RESULTS")
    parser.add_argument("--page", type=Path, metavar="FILE.md")
    options = parser.parse_args()
    try:
        run, lines, fleets = read(options.results)
        grid = Grid(lines)
        judgements = [Judgement(aim, grid) for aim in AIMS]
        print(sections(aims_table(judgements), misses(judgements, 6), fleet_table(fleets),
                       servers_table(fleets)), end="")
        if options.page:
            options.page.write_text(page(run, grid, judgements, fleets), encoding="utf-8")
    except (OSError, ValueError) as problem:
        sys.exit(f"{parser.prog}: {problem}")


if __name__ == "__main__":
    main()
