#!/usr/bin/python3 -B
"""The tables of slow and greedy clients."""

import json
import unittest

from made_up import cells_of, hostile_cell
from hostile import hostile_remarks, hostile_tables
from report import terminal_text
from results import Results, check_apart, read_results

CELLS = [hostile_cell("none", "spillway", 1, 1000), hostile_cell("none", "nginx-hardened", 1, 1000),
         hostile_cell("abort", "spillway", 100, 999),
         hostile_cell("abort", "nginx-hardened", 100, 998, p99_ms=80.0),
         hostile_cell("abort", "nginx-hardened", 1, 1000, attack_connections=40)]


class HostileTables(unittest.TestCase):
    def test_the_aim_is_kept_at_one_lost_of_a_thousand_and_missed_at_two(self):
        tables = hostile_tables(CELLS)
        self.assertEqual(cells_of(tables, "P0 answered, %")[1:],
                         ["Spillway", "NGINX, hardened", "NGINX, hardened, 1 address"])
        self.assertEqual(cells_of(tables, "abort"), ["abort", "99.90", "**99.80**", "100.00"])

    def test_the_control_has_one_column_though_its_attack_has_no_addresses(self):
        self.assertEqual(cells_of(hostile_tables(CELLS), "none"), ["none", "100.00", "100.00", ""])

    def test_rounds_count_together(self):
        cells = [hostile_cell("churn", "spillway", 100, answered, round=number)
                 for number, answered in ((1, 1000), (2, 998))]
        self.assertEqual(cells_of(hostile_tables(cells), "churn")[1], "99.90")

    def test_the_most_that_an_attack_used_is_shown_and_the_worst_latency(self):
        tables = hostile_tables(CELLS)
        means = tables[tables.index("attack, at most"):]
        self.assertEqual(cells_of(means, "abort"), ["abort", "90.0", "50000"])
        self.assertEqual(cells_of(means, "none"), [])
        self.assertEqual(cells_of(tables[tables.index("P0 p99"):], "abort")[2], "80.0")

    def test_a_failed_cell_is_told_and_is_no_figure(self):
        failed = {"suite": "hostile", "behaviour": "abort", "contender": "haproxy", "addresses": 100,
                  "round": 1, "failure": "it ended"}
        self.assertEqual(cells_of(hostile_tables(CELLS + [failed]), "abort")[-1], "")
        self.assertIn("abort from 100, HAProxy, round 1: it ended", hostile_remarks([failed]))
        self.assertEqual(hostile_tables([]), "")
        self.assertEqual(hostile_remarks(CELLS), "")

    def test_the_same_attack_from_other_addresses_is_another_cell_and_a_part_comes_once(self):
        results = read_results([json.dumps(cell) for cell in CELLS])
        self.assertEqual(len(results.hostile), 5)
        with self.assertRaises(ValueError):
            read_results([json.dumps(CELLS[0])] * 2)
        with self.assertRaises(ValueError):
            check_apart([results, results])
        self.assertIn("99.90", terminal_text([Results(hostile=CELLS)]))


if __name__ == "__main__":
    unittest.main()
