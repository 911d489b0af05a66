#!/usr/bin/python3 -B
"""Makes tables, and a page with plots, of result lines.

    bench/report/report.py RESULTS...                    the tables
    bench/report/report.py RESULTS... --page report.md   also the page; its plots beside it

RESULTS are files of result lines (bench/README.md), each of one run."""

import argparse
import sys
from pathlib import Path

from hostile import HOSTILE_NOTES, hostile_remarks, hostile_tables
from jobs import JOBS_NOTES, jobs_remarks, jobs_tables
from results import Cost, check_apart, distinct, read_file
from tables import (cost_details, cost_remarks, cost_tables, overload_aims, overload_remarks,
                    overload_table, sections)

COST_NOTES = """\
Each cell is a proxy started afresh, pinned to one core; load (wrk, a closed loop, paced in some
workloads) and backend (NGINX) share another core. The contenders of a workload take turns of a second.
A figure is the median of the rounds; a ratio is the median of the ratios within each round, which a
machine that gets slower does not move. Only ratios within one run are comparable. An aim is kept by the
median; a question mark says that the rounds disagree, or that there was but one. *Above the relay*
is CPU less that of a relay of bytes that parses no HTTP, mostly the kernel's; its ratio is empty where
HAProxy costs less than the relay (large bodies: HAProxy splices, the relay copies). An empty cell was
not measured. How it is measured: `bench/cost/README.md`.
"""
OVERLOAD_NOTES = """\
The load is an open loop: requests are due at times fixed in advance, whatever becomes of those
before, and latency counts from the time at which a request was due. A figure is the median of the
repetitions.
"""


def run_text(run):
    text = (f"{run.get('date', '')}, commit {run.get('commit', '')}"
            f"{', a quick run' if run.get('quick') else ''}.\n"
            f"{run.get('cpu', '')}, {run.get('cores', 0)} cores, Linux {run.get('kernel', '')}")
    if run.get("congestion_control"):
        text += f", TCP with {run['congestion_control']}"
    if run.get("load_average") is not None:
        text += f", load average before {run['load_average']:.2f}"
    versions = ", ".join(f"{name} {version}" for name, version in
                         sorted(run.get("versions", {}).items()))
    return f"{text}.\n" + (f"{versions}.\n" if versions else "")


def rounds_text(cells):
    rounds = Cost(cells).rounds
    return "1 round.\n" if rounds == 1 else f"Up to {rounds} rounds.\n"


def is_one_run(parts):
    return all(run_text(part.run) == run_text(parts[0].run) for part in parts)


def commits_text(parts):
    """A remark if parts were measured at several commits, since their figures do not compare."""
    commits = dict.fromkeys(part.run.get("commit", "unknown") for part in parts)
    if len(commits) < 2:
        return ""
    return (f"Measured in parts, of {len(commits)} commits ({', '.join(commits)}): figures compare "
            "only within a part.\n")


def terminal_text(parts):
    texts = []
    for part in parts:
        if part is parts[0] or not is_one_run(parts):
            texts.append(run_text(part.run))
        if part.cost:
            texts += ["cost: " + rounds_text(part.cost), cost_tables(part.cost),
                      cost_remarks(part.cost)]
        for scenario in distinct(part.overload, "scenario"):
            texts.append(sections(scenario + "\n", overload_table(part.overload, scenario)))
        texts += [overload_remarks(part.overload), hostile_tables(part.hostile),
                  hostile_remarks(part.hostile), jobs_tables(part.jobs), jobs_remarks(part.jobs)]
    texts += [overload_aims([cell for part in parts for cell in part.overload]),
              commits_text(parts)]
    return "\n" + sections(*texts)


def plot_link(is_drawn, description, name):
    return f"![{description}]({name}.svg)\n" if is_drawn else ""


def cost_page(part, says_run, folder, plots):
    texts = ["## Cost\n", run_text(part.run) if says_run else "",
             COST_NOTES + rounds_text(part.cost), cost_tables(part.cost), cost_remarks(part.cost)]
    for name, figure, title in (("cost-cpu", "cpu_us", "CPU per request, of HAProxy's"),
                                ("cost-p99", "p99_ms", "p99 under full load, of HAProxy's")):
        is_drawn = plots.ratio_plot(part.cost, figure, title, folder / f"{name}.svg")
        texts.append(plot_link(is_drawn, title, name))
    return texts + ["### All figures\n", "Median (lowest–highest).\n", cost_details(part.cost)]


def overload_page(parts, says_run, folder, plots):
    cells = [cell for part in parts for cell in part.overload]
    texts = ["## Overload\n", OVERLOAD_NOTES, overload_aims(cells), overload_remarks(cells)]
    for part in parts:
        for scenario in distinct(part.overload, "scenario"):
            name = "overload-" + scenario
            is_drawn = plots.load_plot(part.overload, scenario, folder / f"{name}.svg")
            texts += [f"### {scenario}\n", run_text(part.run) if says_run else "",
                      overload_table(part.overload, scenario), plot_link(is_drawn, scenario, name)]
    return texts


def write_page(parts, path):
    """The page, and its plots in the same folder; plots of an earlier run are removed first."""
    import plots  # matplotlib takes a second to load
    folder = path.parent
    for stale in [*folder.glob("cost-*.svg"), *folder.glob("overload-*.svg")]:
        stale.unlink()
    in_parts = not is_one_run(parts)
    texts = ["# Measured\n", "Written by `bench/run` from the result lines in `*.jsonl`.\n",
             commits_text(parts) if in_parts else run_text(parts[0].run)]
    for part in parts:
        if part.cost:
            texts += cost_page(part, in_parts, folder, plots)
    if any(part.overload for part in parts):
        texts += overload_page(parts, in_parts, folder, plots)
    for part in parts:
        if part.hostile:
            texts += ["## Hostile clients\n", run_text(part.run) if in_parts else "", HOSTILE_NOTES,
                      hostile_tables(part.hostile), hostile_remarks(part.hostile)]
    for part in parts:
        if part.jobs:
            texts += ["## Deferred requests\n", run_text(part.run) if in_parts else "", JOBS_NOTES,
                      jobs_tables(part.jobs), jobs_remarks(part.jobs)]
    path.write_text(sections(*texts), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="RESULTS")
    parser.add_argument("--page", type=Path, metavar="FILE.md")
    options = parser.parse_args()
    try:
        parts = [read_file(name) for name in options.results]
        check_apart(parts)
        print(terminal_text(parts), end="")
        if options.page:
            write_page(parts, options.page)
    except (OSError, ValueError) as problem:
        sys.exit(f"{parser.prog}: {problem}")


if __name__ == "__main__":
    main()
