"""Made-up cells for tests, and the path to what is tested."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench/report"))


def cost_cells(workload, contender, cpu_us):
    """A cell a round with this CPU, and latency and RSS in proportion."""
    return [{"suite": "cost", "workload": workload, "contender": contender, "round": number,
             "connections": 64, "workers": 1, "cpu_us": cpu, "rps": 1e6 / cpu, "p50_ms": cpu / 10,
             "p99_ms": cpu / 2, "rss_kib": 1000 * cpu} for number, cpu in enumerate(cpu_us, 1)]


def overload_cell(contender, load, cls, success, **more):
    return {"suite": "overload", "scenario": "capacity-known", "load": load, "contender": contender,
            "repetition": 1, "class": cls, "sent": 1000, "succeeded": 1000 * success, "p50_ms": 20,
            "p99_ms": 60, **more}


def hostile_cell(behaviour, contender, addresses, answered, **more):
    return {"suite": "hostile", "behaviour": behaviour, "contender": contender,
            "addresses": addresses, "round": 1, "sent": 1000, "answered": answered, "p99_ms": 50.0,
            "attack_connections": 90, "attack_bytes_per_s": 50000, "backend_most": 16, **more}


def jobs_cell(what, contender, per_second, **more):
    return {"suite": "jobs", "what": what, "contender": contender, "round": 1, "outstanding": 0,
            "pending": 0, "after_s": 0, "per_second": per_second, **more}


def some_cost():
    return (cost_cells("small-get", "spillway", [9, 8, 10]) +
            cost_cells("small-get", "haproxy", [10, 10, 10]) +
            cost_cells("get-16k", "spillway", [9, 9, 9]) +
            cost_cells("get-16k", "haproxy", [10, 10, 10]))


def some_overload(goodput, priority_success):
    cells = []
    for contender in ("haproxy-tuned", "spillway"):
        cells += [overload_cell(contender, 2, "all", 0.5, denied=98, evicted=1, timed_out=1,
                                denied_on_arrival_p99_ms=404,
                                goodput_ratio=goodput if contender == "spillway" else 1),
                  overload_cell(contender, 2, "P0", priority_success)]
    return cells


def cells_of(table, first):
    """The cells of the first row that begins with this, without blanks; none if there is none."""
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == first:
            return cells
    return []
