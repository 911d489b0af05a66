#!/usr/bin/python3 -B
"""The aims over the grid."""

import json
import tempfile
import unittest
from pathlib import Path

from made_up import ROOT
import grid


def line(cell, contender, seed=1, held_out=False, **more):
    figures = {"suite": "grid", "cell": cell, "held_out": held_out, "contender": contender,
               "seed": seed, "shape": "steady", "slots": 16, "service_ms": 20, "sigma": 0.5,
               "tail": False, "load": 2, "timeout_ms": 1000, "demand_P0": 0.2,
               "alone_p99_ms": 50, "alone_answered": 1, "saturated_useful": 0.98,
               "saturated_useful_s": 98, "success_P0": 1, "success_P1": 0.99, "success_P2": 0.2,
               "p99_P0_ms": 60, "offered": 1000, "refused": 500, "refused_late": 0,
               "transitions": 1, "does_not_help": False}
    return {**figures, **more}


def judged(text, lines):
    aim = next(aim for aim in grid.AIMS if aim.text == text)
    return grid.Judgement(aim, grid.Grid(lines))


class Aims(unittest.TestCase):
    USEFUL = "useful backend time while overloaded, of ideal"

    def test_held_out_cells_are_counted_apart(self):
        lines = [line("a", "auto"), line("b", "auto", held_out=True, saturated_useful=0.5)]
        row = judged(self.USEFUL, lines).row()
        self.assertEqual([row[3], row[5], row[7], row[8]], ["1 of 1", "0 of 1", "b", "no"])

    def test_a_cell_counts_by_the_median_of_its_seeds(self):
        lines = [line("a", "auto", seed, saturated_useful=value)
                 for seed, value in enumerate((0.1, 0.98, 0.99))]
        self.assertEqual(judged(self.USEFUL, lines).missed(), [])

    def test_a_figure_of_nothing_at_all_is_a_miss_also_as_a_ratio(self):
        lines = [line("a", "auto", saturated_useful_s=0), line("a", "strict")]
        aim = judged("the same, of strict priority with the true number", lines)
        self.assertEqual(aim.missed(), [(0, "a")])

    def test_a_cell_that_only_one_of_two_played_does_not_count(self):
        aim = judged("the same, of strict priority with the true number", [line("a", "auto")])
        self.assertEqual(aim.values, [])

    def test_a_class_may_lose_what_one_above_it_gains(self):
        off = line("a", "off", success_P0=0.9)
        self.assertEqual(grid.harm(line("a", "auto", success_P2=0.1), off), 0)
        self.assertAlmostEqual(grid.harm(line("a", "auto", success_P2=0.1), line("a", "off")), 10)

    def test_the_first_class_is_not_judged_where_it_alone_nearly_fills_the_backend(self):
        lines = [line("a", "auto", demand_P0=0.9, success_P0=0)]
        self.assertEqual(judged("P0 answered, of what could be", lines).values, [])

    def test_every_aim_is_about_contenders_that_exist(self):
        source = (ROOT / "bench/grid/contender.cpp").read_text()
        for aim in grid.AIMS:
            for name in aim.contenders:
                self.assertIn(f'{{"{name}", "', source)


class Page(unittest.TestCase):
    def test_the_page_names_what_is_held_out_and_where_aims_are_missed(self):
        lines = [line("a", "auto"), line("b", "auto", held_out=True, saturated_useful=0.5)]
        text = grid.page({}, (made := grid.Grid(lines)),
                         [grid.Judgement(aim, made) for aim in grid.AIMS], [])
        self.assertIn("## Held out\n\nb.\n", text)
        self.assertIn("b 0.5000", text)

    def test_a_line_of_another_suite_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "lines"
            path.write_text(json.dumps({"suite": "cost"}) + "\n")
            with self.assertRaisesRegex(ValueError, "line 1: there is no suite cost"):
                grid.read(path)


if __name__ == "__main__":
    unittest.main()
