#!/usr/bin/python3 -B
"""Tables, plots and the page."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from made_up import ROOT, cells_of, cost_cells, some_cost, some_overload
import plots
from report import commits_text, terminal_text, write_page
from results import Cost, Results
from tables import (cost_details, cost_remarks, cost_tables, cpu_table, display_name, markdown,
                    number, overload_aims, overload_table)

RUN = {"date": "2026-11-22", "commit": "abc1234", "cpu": "A <fast> CPU", "cores": 2,
       "kernel": "6.1", "congestion_control": "cubic", "load_average": 0.1,
       "versions": {"haproxy": "2.6.12"}}


def page(*parts):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.md")
        write_page(list(parts), path)
        drawn = {file.name: file.read_text() for file in Path(folder).glob("*.svg")}
        return path.read_text(), drawn


class Tables(unittest.TestCase):
    def test_columns_line_up_whatever_is_in_them(self):
        self.assertEqual(markdown(["what", "µs"], []), "")
        self.assertEqual(markdown(["what", "µs"], [["a", "1"], ["a long name", "1000000"], ["none"]]),
                         "| what        |      µs |\n"
                         "| ----------- | ------: |\n"
                         "| a           |       1 |\n"
                         "| a long name | 1000000 |\n"
                         "| none        |         |\n")
        self.assertIn("| a    | bb   |", markdown(["one", "two"], [["a", "bb"]], flush_left=2))

    def test_a_number_has_three_significant_digits(self):
        self.assertEqual([number(value) for value in (0.8123, 8.123, 81.23, 81234, float("inf"))],
                         ["0.812", "8.12", "81.2", "81234", "-"])

    def test_a_contender_is_shown_by_its_name_and_variant(self):
        self.assertEqual(display_name("haproxy-tuned"), "HAProxy, tuned")
        self.assertEqual(display_name("envoy"), "envoy")

    def test_each_workload_is_held_to_its_own_aim(self):
        tables = cost_tables(some_cost())
        self.assertEqual(cells_of(tables, "small-get")[5:9],
                         ["0.90", "0.80–1.00", "0.80", "NO?"])  # one round was at the aim
        self.assertEqual(cells_of(tables, "get-16k")[5:9], ["0.90", "0.90–0.90", "1.00", "yes"])

    def test_one_round_has_no_range_and_its_verdict_is_in_doubt(self):
        cells = [cell for cell in some_cost() if cell["round"] == 1]
        self.assertEqual(cells_of(cost_tables(cells), "get-16k")[5:9], ["0.90", "", "1.00", "yes?"])

    def test_what_was_not_measured_is_an_empty_cell_without_a_verdict_and_never_0(self):
        cells = [cell for cell in some_cost() if cell["contender"] != "spillway"]
        row = cells_of(cost_tables(cells), "small-get")
        self.assertEqual(row[1:2] + row[5:9], ["", "", "", "0.80", "?"])
        self.assertEqual(cost_tables([]), "")
        self.assertNotIn("above the relay", cost_tables(some_cost()))  # which was not measured
        self.assertEqual(cells_of(cost_details(some_cost()), "small-get, Spillway")[2:4], ["", ""])

    def test_cost_above_the_relay_has_a_table_and_an_aim(self):
        cells = some_cost() + cost_cells("small-get", "relay", [6, 7, 5])
        table = cost_tables(cells)
        above = table[table.index("CPU µs above the relay"):]
        self.assertEqual(cells_of(above, "small-get"),
                         ["small-get", "3.00", "4.00", "", "0.75", "0.33–1.00", "0.50", "NO?", ""])

    def test_throughput_at_full_load_has_a_table_and_1_mib_an_aim(self):
        cells = [cell for name, ours in (("get-1m", [100, 101, 103]), ("get-16k", [120] * 3),
                                         ("paced-1m", [90] * 3))
                 for cell in cost_cells(name, "spillway", ours) + cost_cells(name, "haproxy", [100] * 3)]
        table = cost_tables(cells)
        table = table[table.index("requests/s at full load"):table.index("p50 / p99 ms")]
        self.assertEqual(cells_of(table, "get-1m"), ["get-1m", "9901", "10000", "", "0.99", "0.97–1.00",
                                                     "0.98", "yes?", ""])  # one round was below
        self.assertEqual(cells_of(table, "get-16k")[4:], ["0.83", "0.83–0.83", "", "", ""])
        self.assertEqual(cells_of(table, "paced-1m"), [])  # its rate is the same for all
        slower = cost_tables([cell for cell in cost_cells("get-1m", "spillway", [137, 136, 138]) +
                              cost_cells("get-1m", "haproxy", [100] * 3)])
        row = cells_of(slower[slower.index("requests/s at full load"):], "get-1m")
        self.assertEqual(row[4:8], ["0.73", "0.72–0.74", "0.98", "NO"])

    def test_each_workload_says_whether_its_cpu_is_below_nginxs_in_the_same_rounds(self):
        def ahead(*nginx):
            cells = some_cost() + cost_cells("get-16k", "nginx", nginx)
            return cells_of(cpu_table(Cost(cells)), "get-16k")[10]
        self.assertEqual([ahead(9.5, 10, 11), ahead(8, 10, 11), ahead(8, 8, 8.5)],
                         ["yes", "yes?", "NO"])
        self.assertEqual(cells_of(cost_tables(some_cost()), "get-16k")[10], "")  # not measured

    def test_a_failed_cell_and_a_noisy_one_are_told_and_a_failed_one_is_no_figure(self):
        cells = some_cost()
        cells[0].update(failure="3 answered otherwise", cpu_us=None)
        cells[1]["foreign"] = 0.4
        remarks = cost_remarks(cells)
        self.assertIn("small-get, Spillway, round 1: 3 answered otherwise", remarks)
        self.assertIn("in 1 of 12 cells", remarks)
        self.assertIn("40 %", remarks)
        self.assertEqual(cost_remarks(some_cost()), "")

    def test_aims_under_overload_are_judged_beside_the_tuned_haproxy(self):
        def kept(*made):
            return {row.split(" | ")[1].strip(): row.split(" | ")[-1].strip(" |")
                    for row in overload_aims(some_overload(*made)).splitlines()[2:]}
        self.assertEqual(kept(0.995, 1), {
            "goodput, of HAProxy's": "yes", "denial on arrival, p99 ms": "NO", "P0 success": "yes",
            "evicted and timed out, of all refusals": "NO", "P0 p99, of HAProxy's": "yes"})
        self.assertEqual(kept(0.98, 0.99)["goodput, of HAProxy's"], "NO")
        self.assertEqual(kept(0.98, 0.99)["P0 success"], "NO")

    def test_a_recovery_that_was_not_seen_to_its_end_is_a_lower_bound(self):
        cells = some_overload(1, 1)
        cells[2]["recovery_s"] = 12
        self.assertEqual(cells_of(overload_table(cells, "capacity-known"), "2× Spillway")[13], "12.0")
        cells[2]["recovered"] = False
        row = cells_of(overload_table(cells, "capacity-known"), "2× Spillway")
        self.assertEqual(row[13], "> 12.0")

    def test_p0_with_a_number_too_high_is_judged_beside_haproxy_with_that_number(self):
        def verdict(ours):
            cells = [dict(cell, scenario="capacity-wrong", p99_ms=ours if cell["contender"] == "spillway"
                          else 100) for cell in some_overload(1, 1) if cell["class"] == "P0"]
            return overload_aims(cells).splitlines()[2].split(" | ")[-1].strip(" |")
        self.assertEqual(verdict(60), "yes")
        self.assertEqual(verdict(61), "NO")

    def test_transitions_of_the_state_have_an_aim(self):
        def verdict(transitions):
            cells = [dict(cell, transitions=transitions) for cell in some_overload(1, 1)]
            return [row.split(" | ")[-1].strip(" |") for row in overload_aims(cells).splitlines()
                    if "transitions" in row]
        self.assertEqual(verdict(2), ["yes"])
        self.assertEqual(verdict(3), ["NO"])


class Pages(unittest.TestCase):
    def test_a_page_says_machine_and_versions_and_shows_every_plot_beside_it(self):
        text, drawn = page(Results(RUN, some_cost(), some_overload(1, 1)))
        for part in ("2026-11-22, commit abc1234.", "A <fast> CPU", "2 cores", "6.1",
                     "TCP with cubic", "haproxy 2.6.12", "Up to 3 rounds", "### capacity-known"):
            self.assertIn(part, text)
        self.assertEqual(set(re.findall(r"\]\((.*?)\)", text)), set(drawn))
        self.assertEqual(set(drawn), {"cost-cpu.svg", "cost-p99.svg", "overload-capacity-known.svg"})

    def test_each_part_says_when_it_was_measured_and_several_commits_are_told(self):
        cost = Results(RUN, cost=some_cost())
        later = Results({**RUN, "date": "2026-11-23", "commit": "def5678"},
                        overload=some_overload(1, 1))
        text, _ = page(cost, later)
        order = [text.index(part) for part in ("2 commits (abc1234, def5678)", "## Cost",
                                               "2026-11-22", "### capacity-known", "2026-11-23")]
        self.assertEqual(order, sorted(order))
        self.assertIn("2 commits", terminal_text([cost, later]))
        together, _ = page(cost, Results(RUN, overload=some_overload(1, 1)))
        self.assertEqual(together.count("2026-11-22"), 1)
        self.assertEqual(commits_text([cost]), "")

    def test_a_run_of_one_suite_says_nothing_of_the_other(self):
        self.assertNotIn("## Overload", page(Results(RUN, cost=some_cost()))[0])
        self.assertNotIn("## Cost", page(Results(RUN, overload=some_overload(1, 1)))[0])

    def test_plots_of_an_earlier_run_are_removed_and_other_files_are_not(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("overload-gone.svg", "mine.svg", "cost.jsonl"):
                Path(folder, name).touch()
            write_page([Results(RUN, cost=some_cost())], Path(folder, "report.md"))
            self.assertEqual({file.name for file in Path(folder).iterdir()},
                             {"mine.svg", "cost.jsonl", "cost-cpu.svg", "cost-p99.svg", "report.md"})

    def test_the_script_refuses_files_of_two_runs_and_makes_no_page(self):
        part = str(ROOT / "bench/results/cost.jsonl")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([ROOT / "bench/report/report.py", part, part, "--page",
                                   f"{folder}/report.md"], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("figures of two runs do not compare", done.stderr)
            self.assertEqual(list(Path(folder).iterdir()), [])


class Plots(unittest.TestCase):
    def test_the_same_figures_make_the_same_bytes_and_other_figures_others(self):
        some = page(Results(RUN, some_cost(), some_overload(1, 1)))[1]
        self.assertEqual(page(Results(RUN, some_cost(), some_overload(1, 1)))[1], some)
        other = page(Results(RUN, some_cost(), some_overload(0.9, 1)))[1]
        self.assertEqual(other["cost-cpu.svg"], some["cost-cpu.svg"])
        self.assertNotEqual(other["overload-capacity-known.svg"], some["overload-capacity-known.svg"])

    def test_a_plot_names_its_contenders_and_has_no_date(self):
        for svg in page(Results(RUN, some_cost(), some_overload(1, 1)))[1].values():
            self.assertIn(">Spillway<", svg)
            self.assertNotIn("dc:date", svg)
            self.assertNotIn("nan", svg.lower())

    def test_nothing_is_drawn_of_nothing(self):
        path = Path("/nonexistent/plot.svg")
        self.assertFalse(plots.ratio_plot(cost_cells("get", "spillway", [1]), "cpu_us", "CPU", path))
        self.assertFalse(plots.load_plot([], "capacity-known", path))


class Committed(unittest.TestCase):
    def test_the_committed_report_is_made_of_the_committed_results(self):
        from results import read_file
        folder = ROOT / "bench/results"
        files = [file for file in sorted(folder.glob("*.jsonl")) if file.stem != "grid"]
        text, drawn = page(*(read_file(file) for file in files))
        self.assertEqual(text, (folder / "report.md").read_text())
        self.assertEqual(set(drawn), {file.name for file in folder.glob("*.svg")})


if __name__ == "__main__":
    unittest.main()
