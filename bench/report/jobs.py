"""The tables of deferred requests (bench/jobs): aims, jobs put in, claimed and settled."""

from results import Spread, distinct
from tables import display_name, markdown, middle, number, sections

NAMES = {"http-sqlite": "Spillway, 202s, SQLite", "http-postgres": "Spillway, 202s, PostgreSQL",
         "store-sqlite": "its store, SQLite", "store-postgres": "its store, PostgreSQL",
         "store-sqlite-keys": "its store, SQLite, with keys",
         "store-postgres-keys": "its store, PostgreSQL, with keys",
         "plain": "plain SKIP LOCKED table", "plain-batched": "plain table, batched",
         "rabbitmq-classic": "RabbitMQ, classic", "rabbitmq-quorum": "RabbitMQ, quorum",
         "nats": "NATS (not durable)", "disk": "the disk: append and flush"}
JOBS_NOTES = """\
Jobs of 1 KiB in a closed loop, so many outstanding at a time; each counts once it is acknowledged as durable, but NATS
acknowledges before it flushes. All share the cores with what asks them. 202s: wrk's connections at the built program, whose backend
never answers, so what is accepted waits. A figure is the median of the rounds, a difference or ratio the median
of those within each round. How it is measured: `bench/jobs/README.md`.
"""
FLAT = 1.2  # of the time of a job among none
KEYED = 1.5  # of the time of a job without an Idempotency-Key


class Jobs:
    """Cells by place: (what, contender, outstanding, pending, after_s, lanes)."""

    def __init__(self, cells):
        self._cells = {}
        for cell in cells:
            if not cell.get("failure") and not cell.get("skipped"):
                place = tuple(cell[name] for name in ("what", "contender", "outstanding", "pending",
                                                      "after_s")) + (cell.get("lanes", 0),)
                self._cells.setdefault(place, {})[cell["round"]] = cell

    def figure(self, name, what, contender, outstanding=0, pending=0, after_s=0, lanes=0):
        return self.paired(lambda value: value, name,
                           (what, contender, outstanding, pending, after_s, lanes))

    def paired(self, combine, name, *places):
        """combine() of a figure at several places in the same round, of each round that has all."""
        found = [self._cells.get(place, {}) for place in places]
        values = [[cells[number].get(name) for cells in found] for number in sorted(found[0])
                  if all(number in cells for cells in found)]
        return Spread(combine(*each) for each in values if None not in each)


def most(cells, name, **given):
    return max((cell[name] for cell in cells
                if all(cell[key] == value for key, value in given.items())), default=0)


def most_lanes(cells):
    return max((cell.get("lanes", 0) for cell in cells), default=0)


def _kept(spread, aim, is_least):
    in_doubt = len(spread) < 2 or spread.lowest < aim <= spread.highest
    is_kept = spread.median >= aim if is_least else spread.median <= aim
    return ("yes" if is_kept else "NO") + "?" * in_doubt


def _beside(jobs, outstanding, figure):
    """What the others have there: the brokers and the plain table."""
    texts = []
    for contender in ("rabbitmq-classic", "rabbitmq-quorum", "plain"):
        if its := jobs.figure(figure, "accept", contender, outstanding):
            texts.append(f"{NAMES[contender]} {middle(its)}")
    return "; ".join(texts)


def aims_table(cells):
    jobs, rows = Jobs(cells), []
    deepest = most(cells, "pending")

    def add(what, spread, aim, beside="", is_least=True):
        if spread:
            rows.append([what, middle(spread), extent_of(spread), ("≥ " if is_least else "≤ ") +
                         number(aim), _kept(spread, aim, is_least), beside])

    for outstanding, aim in ((1, 5000), (16, 40000), (64, 80000)):
        add(f"SQLite store, {outstanding} outstanding: jobs/s",
            jobs.figure("per_second", "accept", "store-sqlite", outstanding), aim,
            _beside(jobs, outstanding, "per_second"))
    add("SQLite store, 64 outstanding: p99 ms",
        jobs.figure("p99_ms", "accept", "store-sqlite", 64), 1.5, _beside(jobs, 64, "p99_ms"),
        is_least=False)
    add("PostgreSQL store, 256 outstanding: jobs/s",
        jobs.figure("per_second", "accept", "store-postgres", 256), 50000,
        _beside(jobs, 64, "per_second") and "with 64: " + _beside(jobs, 64, "per_second"))
    add("PostgreSQL store, claim and settle 256: jobs/s",
        jobs.figure("per_second", "lease", "store-postgres", 256), 30000)
    add_pinned(cells, jobs, add)
    add_flat(jobs, deepest, most_lanes(cells), add)
    for kind, name in (("sqlite", "SQLite"), ("postgres", "PostgreSQL")):
        if deepest:
            add(f"start with {deepest} pending, {name}: ms",
                jobs.figure("start_ms", "start", "store-" + kind, 0, deepest), 2000, is_least=False)
        add(f"202s over 64 connections, {name}: a second",
            jobs.figure("per_second", "accept", "http-" + kind, 64), 20000,
            _beside(jobs, 64, "per_second"))
        add(f"their p99 beyond the store's, {name}: ms",
            jobs.paired(lambda http, store: http - store, "p99_ms",
                        ("accept", "http-" + kind, 64, 0, 0, 0),
                        ("accept", "store-" + kind, 64, 0, 0, 0)), 2, is_least=False)
        add(f"time of a job with an Idempotency-Key, of that without: {name}, 64 outstanding",
            jobs.paired(lambda without, keyed: without / keyed, "per_second",
                        ("accept", "store-" + kind, 64, 0, 0, 0),
                        ("accept", f"store-{kind}-keys", 64, 0, 0, 0)), KEYED, is_least=False)
    return markdown(["aim", "measured", "lowest–highest", "bound", "kept", "beside"], rows)


def extent_of(spread):
    return f"{number(spread.lowest)}–{number(spread.highest)}" if len(spread) > 1 else ""


def add_pinned(cells, jobs, add):
    if last := most(cells, "after_s", what="pinned-loop"):
        def rate(contender):
            outstanding = most(cells, "outstanding", what="pinned-loop", contender=contender)
            return jobs.figure("per_second", "pinned-loop", contender, outstanding, 0, last)
        beside = rate("plain")
        add(f"PostgreSQL store, a snapshot pinned for {last} s: jobs/s", rate("store-postgres"),
            2000, f"{NAMES['plain']} {middle(beside)}" if beside else "")


def add_flat(jobs, deepest, lanes, add):
    """The time of a job among many that wait, of that among none; and over many lanes, of that over
    a few."""
    for kind, name in (("sqlite", "SQLite"), ("postgres", "PostgreSQL")):
        for what, contender, outstanding, text in (
                ("accept", "store-" + kind, 64, "put in, 64 outstanding"),
                ("lease", "store-" + kind, 1, "claim and settle 1"),
                ("lease", "store-" + kind, 64, "claim and settle 64"),
                ("accept", "http-" + kind, 64, "202s over 64 connections")):
            slower = jobs.paired(lambda few, many: few / many, "per_second",
                                 (what, contender, outstanding, 0, 0, 0),
                                 (what, contender, outstanding, deepest, 0, 0)) if deepest else None
            if slower:
                add(f"time of a job with {deepest} pending, of that with none: {name}, {text}",
                    slower, FLAT, is_least=False)
            if not lanes:
                continue
            add(f"time of a job over {lanes} lanes, of that over 8: {name}, {text}",
                jobs.paired(lambda few, many: few / many, "per_second",
                            (what, contender, outstanding, deepest, 0, 0),
                            (what, contender, outstanding, deepest, 0, lanes)), FLAT, is_least=False)


def accept_table(cells, figure, heading):
    here = [cell for cell in cells if cell["what"] == "accept" and not cell["pending"] and
            cell["outstanding"]]
    jobs, columns = Jobs(cells), sorted(set(distinct(here, "outstanding")))
    rows = []
    for contender in distinct(here, "contender"):
        values = [figure(jobs, contender, outstanding) for outstanding in columns]
        if any(values):
            rows.append([NAMES.get(contender, display_name(contender)), *values])
    return markdown([heading, *map(str, columns)], rows)


def _rate(jobs, contender, outstanding):
    return middle(jobs.figure("per_second", "accept", contender, outstanding))


def _latency(jobs, contender, outstanding):
    p50, p99 = (jobs.figure(name, "accept", contender, outstanding) for name in ("p50_ms", "p99_ms"))
    return f"{middle(p50)} / {middle(p99)}" if p99 else ""


def _commits(jobs, contender, outstanding):
    size, time = (jobs.figure(name, "accept", contender, outstanding)
                  for name in ("jobs_per_commit", "commit_ms"))
    return f"{middle(size)} in {middle(time)} ms" if size else ""


def depth_table(cells):
    """Nanoseconds of a job by the number of those that wait."""
    here = [cell for cell in cells
            if cell["what"] in ("lease", "accept") and not cell.get("lanes")]
    depths = sorted(set(distinct(here, "pending")))
    jobs, rows = Jobs(cells), []
    if len(depths) < 2:
        return ""
    for contender in distinct(here, "contender"):
        for what in ("accept", "lease"):
            for outstanding in sorted({cell["outstanding"] for cell in here if cell["what"] == what}):
                rates = [jobs.figure("per_second", what, contender, outstanding, depth)
                         for depth in depths]
                if any(rates[1:]):
                    text = "put in" if what == "accept" else "claim and settle"
                    rows.append([f"{NAMES[contender]}: {text} {outstanding}",
                                 *(number(1e9 / rate.median) if rate else "" for rate in rates)])
    return markdown(["ns a job, by jobs that wait", *map(str, depths)], rows)


def start_table(cells):
    jobs, rows = Jobs(cells), []
    for cell in cells:
        place = (cell["contender"], 0, cell["pending"], 0, cell.get("lanes", 0))
        if cell["what"] == "start" and cell["round"] == 1:
            name = "SQLite" if cell["contender"] == "store-sqlite" else "PostgreSQL"
            over = f" over {cell['lanes']} lanes" if cell.get("lanes") else ""
            rows.append([f"{name}, {cell['pending']} pending{over}",
                         middle(jobs.figure("start_ms", "start", *place)),
                         middle(jobs.figure("rss_kib", "start", *place))])
    return markdown(["start of Spillway", "ms", "RSS KiB"], rows)


def loop_table(cells):
    here = [cell for cell in cells if cell["what"] in ("loop", "pinned-loop")]
    jobs, rows = Jobs(cells), []
    windows = sorted(set(distinct(here, "after_s"))) if here else []
    for what, contender, outstanding in dict.fromkeys(
            (cell["what"], cell["contender"], cell["outstanding"]) for cell in here):
        text = NAMES[contender] + (", snapshot pinned" if what == "pinned-loop" else "")
        rows.append([text, *(middle(jobs.figure("per_second", what, contender, outstanding, 0, after))
                             for after in windows)])
    return markdown(["in, claimed and settled: jobs/s after", *(f"{after} s" for after in windows)],
                    rows)


def jobs_tables(cells):
    if not cells:
        return ""
    return sections(aims_table(cells),
                    accept_table(cells, _rate, "jobs/s, by jobs outstanding"),
                    accept_table(cells, _latency, "p50 / p99 ms"),
                    accept_table(cells, _commits, "jobs a commit, as the proxy counts them"),
                    depth_table(cells), start_table(cells), loop_table(cells))


def jobs_remarks(cells):
    text = ""
    for cell in cells:
        name = NAMES.get(cell["contender"], cell["contender"])
        if cell.get("skipped"):
            text += f"* Not measured: {name}: {cell['skipped']}\n"
        if cell.get("failure"):
            text += (f"* Failed: {cell['what']}, {name}, {cell['outstanding']} outstanding, "
                     f"{cell['pending']} pending, round {cell['round']}: {cell['failure']}\n")
    return text
