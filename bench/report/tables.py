"""The tables of the report, as Markdown that also lines up on a terminal. A figure that was not
measured is an empty cell, never 0; a table without any figure is an empty text."""

import math

from results import (Cost, Spread, distinct, late_refusals, loads, over_repetitions, recovered,
                     success)

NOISY = 0.05  # of the proxy's core, taken by other processes
NAMES = {"spillway": "Spillway", "haproxy": "HAProxy", "nginx": "NGINX", "relay": "byte relay",
         "direct": "backend alone"}

# Aims beside HAProxy in the same run: the largest ratio. CPU per request, 1 unless it is here.
CPU_AIMS = {"small-get": 0.8, "denied": 0.8, "connections-1": 0.92}
ABOVE_RELAY_AIMS = {"small-get": 0.5}
IDLE_KIB_AIM, WORKERS_AIM = 0.5, 1.1
# The least ratio of requests a second. Those of other workloads are shown without an aim.
THROUGHPUT_AIMS = {"get-1m": 0.98}


def display_name(contender):
    """ "HAProxy, tuned" for "haproxy-tuned"; an unknown name as it is."""
    proxy, dash, variant = contender.partition("-")
    return NAMES.get(proxy, proxy) + (", " + variant if dash else "")


def number(value):
    """Three significant digits: 0.812, 17.8, 178, 17800."""
    if not math.isfinite(value):
        return "-"
    size = abs(value)
    return f"{value:.{3 if size < 1 else 2 if size < 10 else 1 if size < 100 else 0}f}"


def load_text(load):
    return f"{load:.{1 if load < 2 else 0}f}×"


def markdown(headings, rows, flush_left=1):
    if not rows:
        return ""
    rows = [headings] + [row + [""] * (len(headings) - len(row)) for row in rows]
    widths = [max(4, *(len(row[i]) for row in rows)) for i in range(len(headings))]
    lines = [[cell.ljust(width) if i < flush_left else cell.rjust(width)
              for i, (cell, width) in enumerate(zip(row, widths))] for row in rows]
    rule = ["-" * (width - 1) + ("-" if i < flush_left else ":") for i, width in enumerate(widths)]
    return "".join(f"| {' | '.join(line)} |\n" for line in [lines[0], rule] + lines[1:])


def sections(*texts):
    return "\n".join(text for text in texts if text)


def middle(spread):
    return number(spread.median) if spread else ""


def ratio(spread):
    return f"{spread.median:.2f}" if spread else ""


def extent(spread):
    return f"{spread.lowest:.2f}–{spread.highest:.2f}" if len(spread) > 1 else ""


def with_extent(spread):
    if len(spread) < 2:
        return middle(spread)
    return f"{middle(spread)} ({number(spread.lowest)}–{number(spread.highest)})"


def kept(spread, aim, is_least=False):
    """By the median; with a question mark where rounds disagree or there is but one."""
    if not spread:
        return "?"
    verdicts = [value >= aim if is_least else value <= aim
                for value in (spread.median, spread.lowest, spread.highest)]
    in_doubt = len(spread) < 2 or verdicts[1] != verdicts[2]
    return ("yes" if verdicts[0] else "NO") + "?" * in_doubt


def judged(spread, aim, is_least=False):
    return [ratio(spread), extent(spread), f"{aim:.2f}", kept(spread, aim, is_least)]


# Cost

def cpu_table(cost):
    rows = []
    for workload in cost.workloads:
        cpu = {name: cost.spread(workload, name, "cpu_us") for name in NAMES}
        if cpu["spillway"] or cpu["haproxy"]:
            of_nginx = cost.ratio("cpu_us", (workload, "spillway"), (workload, "nginx"))
            rows.append([workload, *(middle(cpu[name]) for name in list(NAMES)[:4]),
                         *judged(cost.to_haproxy(workload, "spillway", "cpu_us"),
                                 CPU_AIMS.get(workload, 1)),
                         ratio(cost.to_haproxy(workload, "nginx", "cpu_us")),
                         kept(of_nginx, 1) if of_nginx else ""])
    return markdown(["CPU µs per request", "Spillway", "HAProxy", "NGINX", "relay", "of HAProxy",
                     "lowest–highest", "aim", "kept", "NGINX of HAProxy", "ahead of NGINX"], rows)


def throughput_table(cost):
    """Of the workloads without think times, in which each contender does what it can."""
    rows = []
    for workload in cost.workloads:
        if workload.startswith("paced"):
            continue
        rps = [cost.spread(workload, name, "rps") for name in ("spillway", "haproxy", "nginx")]
        if not (rps[0] or rps[1]):
            continue
        ours, aim = cost.to_haproxy(workload, "spillway", "rps"), THROUGHPUT_AIMS.get(workload)
        rows.append([workload, *map(middle, rps),
                     *(judged(ours, aim, is_least=True) if aim else [ratio(ours), extent(ours), "", ""]),
                     ratio(cost.to_haproxy(workload, "nginx", "rps"))])
    return markdown(["requests/s at full load", "Spillway", "HAProxy", "NGINX", "of HAProxy",
                     "lowest–highest", "least", "kept", "NGINX of HAProxy"], rows)


def above_relay_table(cost):
    rows = []
    for workload in cost.workloads:
        excess = [cost.relay_excess(workload, name) for name in ("spillway", "haproxy", "nginx")]
        if not any(excess):
            continue
        ours, aim = cost.above_relay(workload, "spillway"), ABOVE_RELAY_AIMS.get(workload)
        rows.append([workload, *map(middle, excess),
                     *(judged(ours, aim) if aim else [ratio(ours), extent(ours), "", ""]),
                     ratio(cost.above_relay(workload, "nginx"))])
    return markdown(["CPU µs above the relay", "Spillway", "HAProxy", "NGINX", "of HAProxy",
                     "lowest–highest", "aim", "kept", "NGINX of HAProxy"], rows)


def latency_table(cost):
    rows = []
    for workload in cost.workloads:
        latency = {name: " / ".join(middle(cost.spread(workload, name, figure))
                                    for figure in ("p50_ms", "p99_ms"))
                   if cost.spread(workload, name, "p99_ms") else "" for name in NAMES}
        if latency["spillway"] or latency["haproxy"]:
            rows.append([workload, *latency.values(),
                         *judged(cost.to_haproxy(workload, "spillway", "p99_ms"), 1)])
    return markdown(["p50 / p99 ms", "Spillway", "HAProxy", "NGINX", "relay", "backend alone",
                     "p99 of HAProxy", "lowest–highest", "aim", "kept"], rows)


def memory_and_workers_table(cost):
    def of_one(contender, workload):
        return cost.ratio("cpu_us", (workload, contender), ("small-get", contender))

    rows = []

    def add(what, workload, figure, spread, aim):
        figures = [cost.spread(workload, name, figure) for name in ("spillway", "haproxy", "nginx")]
        if figures[0] or figures[1]:
            rows.append([what, *map(middle, figures),
                         ratio(spread) + (f" ({extent(spread)})" if extent(spread) else ""),
                         f"{aim:.2f}", kept(spread, aim)])

    add("RSS with 64 connections, KiB; of HAProxy's", "small-get", "rss_kib",
        cost.to_haproxy("small-get", "spillway", "rss_kib"), 1)
    add("an idle connection, KiB", "idle", "idle_kib", cost.spread("idle", "spillway", "idle_kib"),
        IDLE_KIB_AIM)
    add("RSS with 8000 idle connections, KiB; of HAProxy's", "idle", "rss_kib",
        cost.to_haproxy("idle", "spillway", "rss_kib"), 1)
    add("two workers, CPU µs per request; of one worker's", "two-workers", "cpu_us",
        of_one("spillway", "two-workers"), WORKERS_AIM)
    add("two workers on one core, the same", "two-on-one-core", "cpu_us",
        of_one("spillway", "two-on-one-core"), WORKERS_AIM)
    if rows:
        for what, workload in (("two workers of one, each", "two-workers"),
                               ("two workers on one core of one, each", "two-on-one-core")):
            rows.append([what, *(ratio(of_one(name, workload))
                                 for name in ("spillway", "haproxy", "nginx"))])
    return markdown(["memory and workers", "Spillway", "HAProxy", "NGINX", "judged", "aim", "kept"],
                    rows)


def cost_tables(cells):
    cost = Cost(cells)
    return sections(cpu_table(cost), above_relay_table(cost), throughput_table(cost),
                    latency_table(cost), memory_and_workers_table(cost))


def cost_details(cells):
    """Every figure of every contender at every workload."""
    cost, rows = Cost(cells), []
    for workload in cost.workloads:
        for contender in cost.contenders:
            spread = {name: cost.spread(workload, contender, name)
                      for name in ("cpu_us", "user_us", "system_us", "rps", "p50_ms", "p99_ms",
                                   "rss_kib", "idle_kib")}
            if rounds := max(len(spread["rps"]), len(spread["idle_kib"])):
                rows.append([f"{workload}, {display_name(contender)}",
                             *(middle(each) if name in ("user_us", "system_us", "rss_kib") else
                               with_extent(each) for name, each in spread.items()), str(rounds)])
    return markdown(["workload, contender", "CPU µs", "user", "system", "requests/s", "p50 ms",
                     "p99 ms", "RSS KiB", "idle KiB", "rounds"], rows)


def cost_remarks(cells):
    """A line for each cell that failed, and a warning if other processes took much of the core."""
    text = "".join(f"* Failed: {cell['workload']}, {display_name(cell['contender'])}, "
                   f"round {cell['round']}: {cell['failure']}\n"
                   for cell in cells if cell.get("failure"))
    foreign = [cell.get("foreign") or 0 for cell in cells]
    if noisy := sum(share > NOISY for share in foreign):
        text += (f"* Noise: in {noisy} of {len(cells)} cells other processes took more than 5 % of "
                 f"the proxy's core, at worst {max(foreign) * 100:.0f} %.\n")
    return text


# Overload

def percent(spread):
    return f"{spread.median * 100:.2f}" if spread else ""


def percent_with_extent(spread):
    if len(spread) < 2:
        return percent(spread)
    return f"{percent(spread)} ({spread.lowest * 100:.2f}–{spread.highest * 100:.2f})"


def aims_of_load(cells, load):
    """What Spillway aims at beside a HAProxy that is tuned with the true capacity, as rows."""
    rows = []

    def add(what, cls, figure, bound, judge):
        ours, theirs = (over_repetitions(cells, "capacity-known", load, name, figure, cls)
                        for name in ("spillway", "haproxy-tuned"))
        if ours and (verdict := judge(ours, theirs)):
            rows.append([load_text(load), what, middle(ours), middle(theirs), verdict[0], bound,
                         "yes" if verdict[1] else "NO"])

    def of_haproxy(is_kept):
        def judge(ours, theirs):
            if not theirs or not theirs.median:
                return None
            return f"{ours.median / theirs.median:.3f}", is_kept(ours.median / theirs.median)
        return judge

    def at_most(aim):
        return lambda ours, _: (middle(ours), ours.median <= aim)

    def success_of(cls, bound, aim):
        add(f"{cls} success", cls, success, bound,
            lambda ours, _: (percent(ours) + " %", ours.median >= aim))

    if load > 1:
        add("goodput, of HAProxy's", "all", "goodput_ratio", "≥ 0.99",
            of_haproxy(lambda value: value >= 0.99))
        add("denial on arrival, p99 ms", "all", "denied_on_arrival_p99_ms", "≤ 5.00", at_most(5))
        add("evicted and timed out, of all refusals", "all", late_refusals, "≤ 0.010",
            at_most(0.01))
    add("transitions of the overload state", "all", "transitions", "≤ 2", at_most(2))
    if load <= 8:  # P0 is a tenth of the mix: at most 0.8 of the capacity
        success_of("P0", "≥ 99.9 %", 0.999)
        add("P0 p99, of HAProxy's", "P0", "p99_ms", "≤ 1.10", of_haproxy(lambda it: it <= 1.1))
    for cls, bound, aim in {2: [("P1", "≥ 99 %", 0.99), ("P2", "≥ 15 %", 0.15)],
                            6: [("P2", "≥ 1 %", 0.01)],
                            10: [("P0", "≥ 93 %", 0.93), ("P1", "≥ 1 %", 0.01),
                                 ("P2", "> 0", 1e-9)]}.get(load, []):
        success_of(cls, bound, aim)
    return rows


def aims_of_wrong_numbers(cells):
    """Twice the capacity with four times the true number: what HAProxy has P0 wait for it."""
    rows = []
    for name in ("spillway", "spillway-auto"):
        ours, theirs = (over_repetitions(cells, "capacity-wrong", 2, each, "p99_ms", "P0")
                        for each in (name, "haproxy-tuned"))
        if ours and theirs:
            judged = ours.median / theirs.median
            what = f"number 4 times too high, {display_name(name)}: P0 p99, of HAProxy's"
            rows.append([load_text(2), what, middle(ours), middle(theirs), f"{judged:.3f}", "≤ 0.60",
                         "yes" if judged <= 0.6 else "NO"])
    return rows


def overload_aims(cells):
    rows = [row for load in loads(cells, "capacity-known") for row in aims_of_load(cells, load)]
    rows += aims_of_wrong_numbers(cells)
    return markdown(["load", "aim", "Spillway", "HAProxy, tuned", "judged", "bound", "kept"], rows,
                    flush_left=2)


def overload_table(cells, scenario):
    """Every figure of one scenario, a row for each load and contender."""
    rows = []
    for load in loads(cells, scenario):
        for contender in distinct([cell for cell in cells if cell["scenario"] == scenario],
                                  "contender"):
            def of(figure, cls="all"):
                return over_repetitions(cells, scenario, load, contender, figure, cls)
            goodput, recovery = of("goodput_ratio"), of("recovery_s")
            if not (goodput or of(success) or of(success, "P0")):
                continue
            until = "> " if recovery and not of(recovered).lowest else ""  # not while watched
            rows.append([f"{load_text(load)} {display_name(contender)}",
                         f"{goodput.median:.3f} ({goodput.lowest:.3f}–{goodput.highest:.3f})"
                         if goodput else "",
                         percent_with_extent(of(success, "P0")),
                         middle(of("p50_ms", "P0")), middle(of("p99_ms", "P0")),
                         percent(of(success, "P1")), middle(of("p99_ms", "P1")),
                         percent(of(success, "P2")), middle(of("p99_ms", "P2")),
                         middle(of("denied_on_arrival_p99_ms")), percent(of(late_refusals)),
                         middle(of("transitions")), percent(of("wasted_ratio")), until + middle(recovery), middle(of("jain")),
                         str(len(goodput))])
    return markdown(["load, contender", "goodput / capacity", "P0 ok %", "P0 p50", "P0 p99 ms",
                     "P1 ok %", "P1 p99 ms", "P2 ok %", "P2 p99 ms", "denial p99 ms",
                     "late refusals %", "transitions", "wasted %", "recovery s", "Jain", "runs"], rows)


def overload_remarks(cells):
    return "".join(f"* Failed: {cell['scenario']} at {load_text(cell['load'])}, "
                   f"{display_name(cell['contender'])}, repetition {cell['repetition']}: "
                   f"{cell['failure']}\n" for cell in cells if cell.get("failure"))
