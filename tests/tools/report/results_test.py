#!/usr/bin/python3 -B
"""Reading result lines, and figures over rounds."""

import json
import unittest

from made_up import ROOT, cost_cells, overload_cell
from results import (Cost, Results, Spread, check_apart, late_refusals, loads, over_repetitions,
                     read_file, read_results, recovered, success)


def line(**fields):
    return json.dumps(fields)


class Reading(unittest.TestCase):
    def refused(self, *lines):
        with self.assertRaises(ValueError) as caught:
            read_results(lines)
        return str(caught.exception)

    def test_all_suites_are_read_and_unknown_fields_and_empty_lines_are_passed_over(self):
        results = read_results([
            line(suite="run", commit="abc+", quick=True, versions={"haproxy": "2.6.12"}),
            line(suite="cost", workload="idle", contender="nginx", round=2, idle_kib=0.5,
                 cpu_us=None), "\n",
            line(suite="overload", scenario="s", load=1.2, contender="direct", repetition=1,
                 sent=10, succeeded=9, something_new=[1]),
            line(suite="hostile", behaviour="abort", contender="nginx", addresses=1, round=1)])
        self.assertEqual(results.run["commit"], "abc+")
        self.assertEqual([cell["idle_kib"] for cell in results.cost], [0.5])
        self.assertEqual([cell["load"] for cell in results.overload], [1.2])
        self.assertEqual([cell["addresses"] for cell in results.hostile], [1])

    def test_what_is_no_result_line_is_refused_with_its_number(self):
        cell = {"suite": "cost", "workload": "a", "contender": "b", "round": 1}
        self.assertIn("line 2", self.refused("\n", "{"))
        self.assertIn("line 1", self.refused("[]"))
        self.assertIn("there is no suite speed", self.refused('{"suite":"speed"}'))
        self.assertIn("workload is missing",
                      self.refused(line(suite="cost", contender="nginx", round=1)))
        self.assertIn("rps is not a number", self.refused(line(**cell, rps="much")))
        self.assertIn("round is of another type", self.refused(line(**{**cell, "round": "1"})))
        self.assertIn("NaN", self.refused(line(**cell, rps=float("nan"))))

    def test_figures_of_two_runs_are_not_mixed(self):
        run = line(suite="run", commit="abc")
        other = line(suite="run", commit="def")
        read_results([run])
        self.assertIn("line 2: another run", self.refused(run, other))

    def test_a_cell_that_comes_twice_is_refused(self):
        cell = {"suite": "cost", "workload": "a", "contender": "b", "round": 1}
        read_results([line(**cell), line(**{**cell, "round": 2})])
        self.assertIn("came before", self.refused(line(**cell), line(**cell, cpu_us=1)))
        tenant = overload_cell("spillway", 2, "P1", 1, tenant="quiet-1")
        read_results([json.dumps(tenant), json.dumps({**tenant, "tenant": "noisy"})])

    def test_two_parts_do_not_measure_the_same(self):
        cost = Results(cost=cost_cells("a", "b", [1]))
        x, y = (Results(overload=[{**overload_cell("b", 2, "all", 1), "scenario": name}])
                for name in "xy")
        check_apart([cost, x, y])
        for parts in ([cost, cost], [x, y, x]):
            with self.assertRaises(ValueError):
                check_apart(parts)

    def test_the_committed_results_are_read_and_are_of_different_things(self):
        files = [file for file in sorted((ROOT / "bench/results").glob("*.jsonl"))
                 if file.stem != "grid"]  # that has a page of its own
        self.assertGreater(len(files), 1)
        check_apart([read_file(file) for file in files])


class Spreads(unittest.TestCase):
    def test_the_median_is_the_middle_one_and_of_an_even_number_the_mean_of_the_middle_two(self):
        self.assertEqual(Spread([3, 1, 2]).median, 2)
        self.assertEqual(Spread([4, 1, 3, 2]).median, 2.5)

    def test_one_wild_measurement_moves_the_range_and_not_the_median(self):
        spread = Spread([10, 11, 900, 9, 10])
        self.assertEqual((spread.median, spread.lowest, spread.highest), (10, 9, 900))

    def test_nothing_measured_is_false_and_has_no_median(self):
        self.assertFalse(Spread([]))
        with self.assertRaises(ValueError):
            Spread([]).median
        self.assertTrue(Spread([0]))

    def test_the_lower_bound_is_the_order_statistic_of_the_sign_test(self):
        # Binomial tails at 1/2: of 5 one in 32 is 3.1 %, of 8 nine in 256 are 3.5 %, of 11 3.3 %.
        for rounds, bound in ((5, 1), (7, 1), (8, 2), (10, 2), (11, 3)):
            with self.subTest(rounds=rounds):
                self.assertEqual(Spread(range(1, rounds + 1)).lower_bound(), bound)

    def test_four_rounds_bound_nothing_with_95_percent(self):
        self.assertIsNone(Spread([1, 1, 1, 1]).lower_bound())
        self.assertIsNone(Spread([]).lower_bound())
        self.assertEqual(Spread([1, 2, 3, 4]).lower_bound(confidence=0.9), 1)


class CostFigures(unittest.TestCase):
    def cost(self, *cells):
        return Cost([cell for some in cells for cell in some])

    def test_a_machine_that_gets_slower_from_round_to_round_does_not_move_a_ratio(self):
        cost = self.cost(cost_cells("small-get", "spillway", [8, 16, 40]),
                         cost_cells("small-get", "haproxy", [10, 20, 50]),
                         cost_cells("small-get", "relay", [6, 12, 30]))
        self.assertEqual(cost.to_haproxy("small-get", "spillway", "cpu_us").values, [0.8] * 3)
        self.assertEqual(cost.above_relay("small-get", "spillway").values, [0.5] * 3)

    def test_a_round_counts_only_if_all_were_measured_in_it(self):
        ours, theirs = (cost_cells("small-get", name, [9, 9, 9]) for name in ("spillway", "haproxy"))
        ours[0]["failure"] = "no answer"
        theirs[1]["cpu_us"] = None
        cost = self.cost(ours, theirs)
        self.assertEqual(len(cost.to_haproxy("small-get", "spillway", "cpu_us")), 1)
        self.assertEqual(len(cost.spread("small-get", "spillway", "cpu_us")), 2)
        self.assertFalse(cost.above_relay("small-get", "spillway"))

    def test_zero_is_nothing_to_divide_by(self):
        cost = self.cost(cost_cells("small-get", "spillway", [8]),
                         [{**cost_cells("small-get", "haproxy", [1])[0], "cpu_us": 0}])
        self.assertFalse(cost.to_haproxy("small-get", "spillway", "cpu_us"))

    def test_above_the_relay_nothing_is_judged_where_the_relay_costs_more_than_haproxy(self):
        cost = self.cost(cost_cells("get-1m", "spillway", [120, 120]),
                         cost_cells("get-1m", "haproxy", [130, 130]),
                         cost_cells("get-1m", "relay", [340, 130]))
        self.assertFalse(cost.above_relay("get-1m", "spillway"))
        self.assertEqual(cost.relay_excess("get-1m", "spillway").values, [-220, -10])

    def test_one_contender_is_compared_with_itself_at_another_workload(self):
        cost = self.cost(cost_cells("small-get", "spillway", [10, 20]),
                         cost_cells("two-workers", "spillway", [15, 30]))
        self.assertEqual(cost.ratio("cpu_us", ("two-workers", "spillway"),
                                    ("small-get", "spillway")).values, [1.5, 1.5])

    def test_workloads_and_contenders_are_named_once_and_in_the_order_of_the_run(self):
        cost = self.cost(cost_cells("post", "spillway", [1, 1]), cost_cells("get", "haproxy", [1]),
                         cost_cells("post", "haproxy", [1]))
        self.assertEqual(cost.workloads, ["post", "get"])
        self.assertEqual(cost.contenders, ["spillway", "haproxy"])
        self.assertEqual((cost.rounds, Cost([]).rounds), (2, 0))


class OverloadFigures(unittest.TestCase):
    def test_a_failed_cell_one_tenant_and_an_unmeasured_figure_do_not_count(self):
        cells = [overload_cell("spillway", 2, "P1", share) for share in (0.5, 0.7, 0.9)]
        cells[0]["failure"] = "late"
        cells.append(overload_cell("spillway", 2, "P1", 0.1, tenant="noisy"))
        cells.append(overload_cell("spillway", 2, "all", 0.2))
        spread = over_repetitions(cells, "capacity-known", 2, "spillway", success, "P1")
        self.assertEqual(spread.values, [0.7, 0.9])
        self.assertFalse(over_repetitions(cells, "capacity-known", 2, "spillway", "jain"))

    def test_figures_that_are_made_of_others_are_none_without_them_and_not_zero(self):
        self.assertIsNone(success({}))
        self.assertIsNone(success({"sent": 0, "succeeded": 0}))
        self.assertIsNone(late_refusals({"denied": 1, "evicted": 1}))
        self.assertEqual(late_refusals({"denied": 2, "evicted": 1, "timed_out": 1}), 0.5)
        self.assertEqual(late_refusals({"denied": 0, "evicted": 0, "timed_out": 0}), 0)
        self.assertIsNone(recovered({"recovery_s": None}))
        self.assertEqual(recovered({"recovery_s": 3, "recovered": False}), 0)

    def test_loads_rise(self):
        cells = [overload_cell("spillway", load, "all", 1) for load in (10, 0.7, 2, 10)]
        self.assertEqual(loads(cells, "capacity-known"), [0.7, 2, 10])


if __name__ == "__main__":
    unittest.main()
