#!/usr/bin/python3 -B
"""The verdict of the regression gate."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from made_up import ROOT, cost_cells
from gate import judge, main, read_bounds, status_of
from results import Results
from tables import ABOVE_RELAY_AIMS, CPU_AIMS

CPU = [("small-get", "cpu_of_haproxy", 0.8)]
ABOVE = [("small-get", "above_relay", 0.5)]


def cells(ours, theirs=10, relay=None):
    """Spillway's CPU per request in each round where HAProxy takes 10."""
    made = cost_cells("small-get", "spillway", ours)
    made += cost_cells("small-get", "haproxy", [theirs] * len(ours))
    return made + (cost_cells("small-get", "relay", [relay] * len(ours)) if relay else [])


def outcome(made, bounds=CPU):
    return judge(Results(cost=made), bounds)[0].outcome


class Judging(unittest.TestCase):
    def test_a_ratio_at_its_bound_is_kept_and_one_above_it_in_all_rounds_is_broken(self):
        self.assertEqual(outcome(cells([8] * 11)), "kept")
        self.assertEqual(outcome(cells([8.1] * 11)), "BROKEN")

    def test_a_median_above_the_bound_is_noise_only_while_enough_rounds_keep_it(self):
        self.assertEqual(outcome(cells([7.9] * 3 + [8.3] * 8)), "kept within noise")
        self.assertEqual(outcome(cells([7.9] * 2 + [8.3] * 9)), "BROKEN")

    def test_one_bad_round_breaks_nothing_and_one_good_round_mends_nothing(self):
        self.assertEqual(outcome(cells([7] * 10 + [30])), "kept")
        self.assertEqual(outcome(cells([9] * 10 + [1])), "BROKEN")

    def test_the_margin_of_former_bounds_is_gone(self):
        self.assertEqual(outcome(cells([8.7, 8.6, 8.8, 8.7, 8.7])), "BROKEN")

    def test_cost_above_the_relay_can_break_while_the_ratio_to_haproxy_is_kept(self):
        made = cells([7.9] * 11, relay=6)
        self.assertEqual(outcome(made), "kept")
        self.assertEqual(str(judge(Results(cost=made), ABOVE)[0]).split(": ")[-1], "kept")
        made = cells([7.9] * 11, relay=5)  # 2.9 of 5
        self.assertEqual(outcome(made), "kept")
        self.assertEqual(outcome(made, ABOVE), "BROKEN")

    def test_too_few_rounds_are_no_evidence_either_way(self):
        for ours in ([8] * 4, [20] * 4):
            self.assertEqual(outcome(cells(ours)), "NOT MEASURED")
        self.assertEqual(outcome([]), "NOT MEASURED")

    def test_without_the_relay_the_cost_above_it_is_not_measured_and_not_kept(self):
        self.assertEqual(outcome(cells([1] * 11), ABOVE), "NOT MEASURED")
        self.assertEqual(outcome(cells([1] * 11, theirs=5, relay=6), ABOVE), "NOT MEASURED")

    def test_a_slower_machine_changes_no_verdict(self):
        ours, theirs = [40, 80, 120, 160, 200], [50, 100, 150, 200, 250]
        made = cost_cells("small-get", "spillway", ours) + cost_cells("small-get", "haproxy", theirs)
        self.assertEqual(outcome(made), "kept")

    def test_the_verdict_says_what_was_measured_and_what_is_allowed(self):
        text = str(judge(Results(cost=cells([9, 9.5, 10, 10, 10])), CPU)[0])
        self.assertEqual(text, "small-get: CPU per request, of HAProxy's: 1.000 (0.900 to 1.000 in 5 "
                               "rounds, with 95 % confidence at least 0.900), at most 0.80: BROKEN")
        self.assertIn("1 rounds are too few", str(judge(Results(cost=cells([8])), CPU)[0]))

    def test_the_status_tells_broken_from_unmeasured_and_from_kept(self):
        kept, broken, unmeasured = (judge(Results(cost=cells(ours)), CPU)[0]
                                    for ours in ([8] * 5, [9] * 5, [8]))
        self.assertEqual(status_of([kept, kept]), 0)
        self.assertEqual(status_of([kept, broken]), 1)
        self.assertEqual(status_of([unmeasured, broken]), 1)
        self.assertEqual(status_of([kept, unmeasured]), 2)
        self.assertEqual(status_of([]), 2)


def overload_cells(contender, **figures):
    """A cell of the class `all`, or of `cls`, for each value of the figures' lists."""
    cls, length = figures.pop("cls", "all"), len(next(iter(figures.values())))
    return [{"suite": "overload", "scenario": "capacity-known", "load": 2, "contender": contender,
             "repetition": at + 1, "class": cls, **{name: values[at] for name, values in figures.items()}}
            for at in range(length)]


class Overload(unittest.TestCase):
    def outcome(self, figure, bound, made):
        return judge(Results(overload=made), [("capacity-known 2", figure, bound)])[0].outcome

    def test_goodput_is_judged_beside_haproxy_in_the_same_repetition(self):
        theirs = overload_cells("haproxy-tuned", goodput_ratio=[0.5, 0.6, 0.7, 0.8, 0.9])
        for ours, verdict in (([0.5, 0.6, 0.7, 0.8, 0.9], "kept"),
                              ([0.49, 0.588, 0.686, 0.784, 0.882], "BROKEN"),
                              ([0.49, 0.588, 0.686, 0.784, 0.9], "kept within noise")):
            made = theirs + overload_cells("spillway", goodput_ratio=ours)
            self.assertEqual(self.outcome("goodput_of_haproxy", 0.99, made), verdict)
        self.assertEqual(self.outcome("goodput_of_haproxy", 0.99, theirs), "NOT MEASURED")

    def test_success_is_judged_from_below_and_of_its_class(self):
        made = overload_cells("spillway", sent=[100] * 5, succeeded=[98] * 5, cls="P1")
        self.assertEqual(self.outcome("p1_success", 0.99, made), "BROKEN")
        self.assertEqual(self.outcome("p1_success", 0.97, made), "kept")
        made = overload_cells("spillway", sent=[100] * 5, succeeded=[98] * 5, cls="P0")
        self.assertEqual(self.outcome("p1_success", 0.97, made), "NOT MEASURED")

    def test_transitions_and_late_refusals_are_judged_from_above(self):
        made = overload_cells("spillway", transitions=[1, 2, 2, 2, 3], denied=[980] * 5,
                              evicted=[10] * 5, timed_out=[10] * 5)
        self.assertEqual(self.outcome("transitions", 2, made), "kept")
        self.assertEqual(self.outcome("late_refusals", 0.01, made), "BROKEN")
        self.assertEqual(self.outcome("late_refusals", 0.03, made), "kept")
        made = overload_cells("spillway", transitions=[3] * 5)
        self.assertEqual(self.outcome("transitions", 2, made), "BROKEN")


class Bounds(unittest.TestCase):
    def test_bounds_are_read_with_comments_and_senseless_ones_are_refused(self):
        self.assertEqual(read_bounds('// why\n{"denied": {"cpu_of_haproxy": 0.8}}'),
                         [("denied", "cpu_of_haproxy", 0.8)])
        self.assertEqual(read_bounds('{"thrash 2": {"transitions": 2}}'),
                         [("thrash 2", "transitions", 2)])
        for senseless in ("{", '{"denied": {"transitions": 2}}', '{"thrash 2": {"cpu_of_haproxy": 1}}',
                          '{"a b": {"transitions": 2}}',
                          '{"denied": {"speed": 0.8}}', '{"denied": {"cpu_of_haproxy": 0}}',
                          '{"denied": {"above_relay": "1"}}', '{"denied": {"above_relay": -1}}',
                          '{"denied": {"above_relay": true}}', '{"denied": {"above_relay": NaN}}'):
            with self.subTest(senseless), self.assertRaises(ValueError):
                read_bounds(senseless)

    def test_the_committed_bounds_are_the_aims_and_the_gate_measures_them(self):
        bounds = read_bounds((ROOT / "bench/gate.json").read_text())
        script = (ROOT / "bench/gate").read_text()
        self.assertEqual(len(bounds), 9)
        for place, figure, bound in bounds:
            if " " in place:
                scenario, load = place.split()
                self.assertIn(f"--scenario {scenario} ", script)
                self.assertIn(f"--load {load} ", script)
        for workload, ratio, bound in (each for each in bounds if " " not in each[0]):
            aims = CPU_AIMS if ratio == "cpu_of_haproxy" else ABOVE_RELAY_AIMS
            self.assertEqual(bound, aims[workload])
            self.assertIn(f"--workload {workload} ", script)
        for contender in ("spillway", "haproxy", "relay", "haproxy-tuned"):
            self.assertIn(f"--contender {contender} ", script)


class CommandLine(unittest.TestCase):
    def status(self, made, bounds):
        with tempfile.TemporaryDirectory() as folder:
            lines, allowed = Path(folder, "lines"), Path(folder, "bounds")
            lines.write_text("".join(json.dumps(cell) + "\n" for cell in made))
            allowed.write_text(bounds)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                return main([str(lines), str(allowed)])

    def test_the_status_is_the_verdicts_and_2_of_files_that_cannot_be_read(self):
        bounds = '{"small-get": {"cpu_of_haproxy": 0.8}}'
        self.assertEqual(self.status(cells([8] * 5), bounds), 0)
        self.assertEqual(self.status(cells([9] * 5), bounds), 1)
        self.assertEqual(self.status(cells([9]), bounds), 2)
        self.assertEqual(self.status(cells([9] * 5), "[]"), 2)
        self.assertEqual(self.status([{"suite": "speed"}], bounds), 2)
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(main(["/nonexistent", "/nonexistent"]), 2)
            self.assertEqual(main([]), 2)


if __name__ == "__main__":
    unittest.main()
