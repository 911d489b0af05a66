"""Result lines of the benchmarks (fields: bench/README.md): reading them, and figures over rounds."""

import json
import math
from dataclasses import dataclass, field
from statistics import median

# What identifies a cell; of what type. A line may have further fields.
COST_NAMES = {"workload": str, "contender": str, "round": int}
OVERLOAD_NAMES = {"scenario": str, "load": float, "contender": str, "repetition": int}
HOSTILE_NAMES = {"behaviour": str, "contender": str, "addresses": int, "round": int}
JOBS_NAMES = {"what": str, "contender": str, "round": int, "outstanding": int, "pending": int,
              "after_s": int}
RUN_FIGURES = {"cores", "load_average"}
COST_FIGURES = {"connections", "workers", "seconds", "requests", "cpu_us", "user_us", "system_us",
                "rps", "p50_ms", "p99_ms", "rss_kib", "idle_kib", "foreign"}
OVERLOAD_FIGURES = {"capacity_rps", "offered", "sent", "succeeded", "p50_ms", "p99_ms", "denied",
                    "denied_on_arrival_p99_ms", "evicted", "timed_out", "goodput_ratio",
                    "wasted_ratio", "recovery_s", "jain", "transitions"}
HOSTILE_FIGURES = {"seconds", "sent", "answered", "p50_ms", "p99_ms", "p1_sent", "p1_answered",
                    "attack_connections", "attack_bytes_per_s", "backend_most", "wasted_ratio"}

JOBS_FIGURES = {"per_second", "p50_ms", "p99_ms", "jobs_per_commit", "commit_ms", "start_ms",
                "rss_kib", "lanes"}


@dataclass
class Results:
    """What one run measured: the cells of its suites, as in their lines."""
    run: dict = field(default_factory=dict)
    cost: list = field(default_factory=list)
    overload: list = field(default_factory=list)
    hostile: list = field(default_factory=list)
    jobs: list = field(default_factory=list)


class Spread:
    """One figure of several rounds. Without any it is false and has neither median nor range."""

    def __init__(self, values):
        self.values = sorted(values)

    def __len__(self):
        return len(self.values)

    median = property(lambda self: median(self.values))
    lowest = property(lambda self: self.values[0])
    highest = property(lambda self: self.values[-1])

    def lower_bound(self, confidence=0.95):
        """One-sided lower confidence bound of the median, by the sign test; None of too few.

        Whatever the distribution, a round lies below the true median with probability 1/2. So all
        but k of n rounds lie above it with the probability that k of n coins or fewer show heads
        (W. J. Conover, Practical Nonparametric Statistics, section 3.2). 95 % takes five rounds.
        """
        rank = self._rank(confidence)
        return self.values[rank - 1] if rank else None

    def upper_bound(self, confidence=0.95):
        """The same from above."""
        rank = self._rank(confidence)
        return self.values[-rank] if rank else None

    def _rank(self, confidence):
        n, tail, rank = len(self), 0.0, 0
        while rank < n:
            tail += math.comb(n, rank) / 2**n
            if tail > 1 - confidence:
                break
            rank += 1
        return rank


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check(line, names, figures):
    for name, kind in names.items():
        value = line.get(name)
        if not (_is_number(value) if kind is float else type(value) is kind):
            raise ValueError(f"{name} is {'missing' if value is None else 'of another type'}")
    for name in figures & line.keys():
        if line[name] is not None and not _is_number(line[name]):
            raise ValueError(f"{name} is not a number")
    return line


def _refuse_constant(text):
    raise ValueError(f"{text} is not a number")


def _identity(cell):
    return tuple(cell.get(name) for name in ("suite", "workload", "scenario", "load", "contender",
                                             "round", "repetition", "class", "tenant", "behaviour",
                                             "addresses", "what", "outstanding", "pending",
                                             "after_s", "lanes"))


def read_results(lines):
    """Reads one JSON object a line. Raises ValueError that names the line: for anything else, an
    unknown suite, a missing name, a figure that is not a number, a cell that comes twice, and a
    second run, since figures of two runs do not compare."""
    results, seen = Results(), set()
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text, parse_constant=_refuse_constant)
            suite = line.get("suite") if isinstance(line, dict) else None
            if suite == "run":
                if results.run:
                    raise ValueError("another run: its figures do not compare")
                results.run = _check(line, {}, RUN_FIGURES)
            elif suite == "cost":
                results.cost.append(_check(line, COST_NAMES, COST_FIGURES))
            elif suite == "overload":
                results.overload.append(_check(line, OVERLOAD_NAMES, OVERLOAD_FIGURES))
            elif suite == "hostile":
                results.hostile.append(_check(line, HOSTILE_NAMES, HOSTILE_FIGURES))
            elif suite == "jobs":
                results.jobs.append(_check(line, JOBS_NAMES, JOBS_FIGURES))
            else:
                raise ValueError(f"there is no suite {suite}")
            if suite != "run" and _identity(line) in seen:
                raise ValueError("this cell came before")
            seen.add(_identity(line))
        except ValueError as problem:
            raise ValueError(f"line {number}: {problem}") from None
    return results


def read_file(path):
    """The same from a file, which a ValueError then names too."""
    with open(path, encoding="utf-8") as lines:
        try:
            return read_results(lines)
        except ValueError as problem:
            raise ValueError(f"{path}, {problem}") from None


def check_apart(parts):
    """Raises ValueError if two parts measured the same."""
    measured = set()
    for part in parts:
        for what in (["the cost"] * bool(part.cost) + distinct(part.overload, "scenario") +
                     ["the suite hostile"] * bool(part.hostile) +
                     ["the suite jobs"] * bool(part.jobs)):
            if what in measured:
                raise ValueError(f"{what} is in two parts: figures of two runs do not compare")
            measured.add(what)


def distinct(cells, name):
    """The values of a field, each once, in the order in which they first came."""
    return list(dict.fromkeys(cell[name] for cell in cells))


def loads(cells, scenario):
    return sorted({cell["load"] for cell in cells if cell["scenario"] == scenario})


def of_scenario(cells, scenario):
    return [cell for cell in cells if cell["scenario"] == scenario]


class Cost:
    """The cells of cost. A cell that failed has no figures; one that was not measured is None."""

    def __init__(self, cells):
        self.cells = cells
        self.workloads = distinct(cells, "workload")
        self.contenders = distinct(cells, "contender")
        self.rounds = max((cell["round"] for cell in cells), default=0)
        self._cells = {(cell["workload"], cell["contender"], cell["round"]): cell
                       for cell in cells if not cell.get("failure")}

    def paired(self, combine, figure, *places):
        """combine() of a figure at several places (workload, contender) of the same round, so that
        a machine that gets slower meanwhile cancels out. A round in which one of them is missing
        does not count, nor one for which combine() returns None."""
        values = []
        for number in range(1, self.rounds + 1):
            figures = [self._cells.get((*place, number), {}).get(figure) for place in places]
            if None not in figures and (value := combine(*figures)) is not None:
                values.append(value)
        return Spread(values)

    def spread(self, workload, contender, figure):
        return self.paired(lambda value: value, figure, (workload, contender))

    def ratio(self, figure, place, other):
        return self.paired(lambda own, its: own / its if its else None, figure, place, other)

    def to_haproxy(self, workload, contender, figure):
        return self.ratio(figure, (workload, contender), (workload, "haproxy"))

    def relay_excess(self, workload, contender):
        """CPU per request less the relay's."""
        return self.paired(lambda own, relay: own - relay, "cpu_us", (workload, contender),
                           (workload, "relay"))

    def above_relay(self, workload, contender):
        """CPU per request less the relay's, of HAProxy's less the relay's. The relay's is mostly
        the kernel's, so this ratio depends less on the machine. A round in which the relay costs as
        much as HAProxy (large bodies: HAProxy splices, the relay copies) does not count."""
        def share(own, relay, its):
            return (own - relay) / (its - relay) if its > relay else None
        return self.paired(share, "cpu_us", (workload, contender), (workload, "relay"),
                           (workload, "haproxy"))


# Figures of a cell of overload: fields, or made of several.
def success(cell):
    if cell.get("sent") and cell.get("succeeded") is not None:
        return cell["succeeded"] / cell["sent"]
    return None


def late_refusals(cell):
    """Evicted and timed-out waiters, of all that were refused."""
    if None in (counts := [cell.get(name) for name in ("denied", "evicted", "timed_out")]):
        return None
    return sum(counts[1:]) / sum(counts) if sum(counts) else 0


def recovered(cell):
    return None if cell.get("recovery_s") is None else int(cell.get("recovered", True))


def over_repetitions(cells, scenario, load, contender, figure, cls="all"):
    """A figure (a field's name or a function of the cell) over all repetitions, all tenants
    together. A cell that failed or in which it was not measured does not count."""
    values = [figure(cell) if callable(figure) else cell.get(figure) for cell in cells
              if (cell["scenario"], cell["load"], cell["contender"], cell.get("class")) ==
              (scenario, load, contender, cls)
              and not cell.get("tenant") and not cell.get("failure")]
    return Spread(value for value in values if value is not None)


def beside(cells, scenario, load, contender, other, figure):
    """A figure of the class `all`, of the other contender's in the same repetition."""
    values = {}
    for cell in cells:
        if (cell["scenario"], cell["load"], cell.get("class")) == (scenario, load, "all") \
                and not cell.get("tenant") and not cell.get("failure"):
            values[cell["contender"], cell["repetition"]] = cell.get(figure)
    return Spread(own / values[other, repetition]
                  for (name, repetition), own in values.items()
                  if name == contender and own is not None and values.get((other, repetition)))
