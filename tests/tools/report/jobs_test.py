#!/usr/bin/python3 -B
"""The tables of deferred requests."""

import json
import unittest

from made_up import cells_of, jobs_cell
from jobs import jobs_remarks, jobs_tables
from report import terminal_text
from results import Results, check_apart, read_results


def some_rounds(what, contender, rates, **more):
    return [jobs_cell(what, contender, rate, round=number, **more)
            for number, rate in enumerate(rates, 1)]


CELLS = (some_rounds("accept", "store-sqlite", [90000, 85000, 100000], outstanding=64, p99_ms=1.0) +
         some_rounds("accept", "http-sqlite", [21000, 19000, 22000], outstanding=64, p99_ms=2.5,
                     jobs_per_commit=31, commit_ms=0.4) +
         some_rounds("accept", "rabbitmq-quorum", [14000, 14000, 14000], outstanding=64) +
         some_rounds("lease", "store-sqlite", [50000, 60000, 40000], outstanding=64) +
         some_rounds("lease", "store-sqlite", [40000, 30000, 38000], outstanding=64,
                     pending=1000000) +
         some_rounds("accept", "store-sqlite-keys", [60000, 60000, 60000], outstanding=64) +
         some_rounds("lease", "store-sqlite", [20000, 10000, 38000], outstanding=64,
                     pending=1000000, lanes=100000) +
         some_rounds("start", "store-sqlite", [None] * 3, pending=1000000, lanes=100000,
                     start_ms=700, rss_kib=50000) +
         some_rounds("pinned-loop", "store-postgres", [2500, 1900, 1800], outstanding=16,
                     after_s=40) +
         some_rounds("pinned-loop", "plain", [500, 510, 520], outstanding=4, after_s=40))


class JobsTables(unittest.TestCase):
    def test_an_aim_is_kept_by_the_median_and_says_when_rounds_disagree(self):
        tables = jobs_tables(CELLS)
        self.assertEqual(cells_of(tables, "SQLite store, 64 outstanding: jobs/s")[1:],
                         ["90000", "85000–100000", "≥ 80000", "yes", "RabbitMQ, quorum 14000"])
        self.assertEqual(cells_of(tables, "202s over 64 connections, SQLite: a second")[1:5],
                         ["21000", "19000–22000", "≥ 20000", "yes?"])
        self.assertEqual(cells_of(tables, "PostgreSQL store, a snapshot pinned for 40 s: jobs/s")[4:],
                         ["NO?", "plain SKIP LOCKED table 510"])

    def test_latency_beyond_the_store_is_a_difference_within_a_round(self):
        name = "their p99 beyond the store's, SQLite: ms"
        self.assertEqual(cells_of(jobs_tables(CELLS), name)[1:5],
                         ["1.50", "1.50–1.50", "≤ 2.00", "yes"])
        of_another_round = [dict(cell, round=cell["round"] + 3) if cell["contender"] == "http-sqlite"
                            else cell for cell in CELLS]
        self.assertEqual(cells_of(jobs_tables(of_another_round), name), [])

    def test_depth_is_judged_by_the_ratio_of_times_within_a_round(self):
        name = "time of a job with 1000000 pending, of that with none: SQLite, claim and settle 64"
        self.assertEqual(cells_of(jobs_tables(CELLS), name)[1:5],
                         ["1.25", "1.05–2.00", "≤ 1.20", "NO?"])
        self.assertEqual(cells_of(jobs_tables(CELLS), "its store, SQLite: claim and settle 64")[1:],
                         ["20000", "26316"])

    def test_keys_and_lanes_are_judged_by_the_ratio_of_times_within_a_round(self):
        name = "time of a job with an Idempotency-Key, of that without: SQLite, 64 outstanding"
        self.assertEqual(cells_of(jobs_tables(CELLS), name)[1:5],
                         ["1.50", "1.42–1.67", "≤ 1.50", "yes?"])
        name = "time of a job over 100000 lanes, of that over 8: SQLite, claim and settle 64"
        self.assertEqual(cells_of(jobs_tables(CELLS), name)[1:5],
                         ["2.00", "1.00–3.00", "≤ 1.20", "NO?"])
        self.assertEqual(cells_of(jobs_tables(CELLS),
                                  "SQLite, 1000000 pending over 100000 lanes")[1:],
                         ["700", "50000"])
        without = [cell for cell in CELLS if "lanes" not in cell]
        self.assertNotIn("lanes", jobs_tables(without))

    def test_an_aim_without_its_figures_is_not_judged(self):
        tables = jobs_tables(CELLS[:3])
        self.assertEqual(cells_of(tables, "SQLite store, 1 outstanding: jobs/s"), [])
        self.assertNotIn("PostgreSQL", tables)
        self.assertEqual(jobs_tables([]), "")

    def test_what_failed_or_is_not_installed_is_told_and_is_no_figure(self):
        cells = [jobs_cell("accept", "nats", None, skipped="nats-server is not installed"),
                 jobs_cell("accept", "http-sqlite", None, outstanding=16, failure="it ended")]
        text = jobs_remarks(cells)
        self.assertIn("Not measured: NATS (not durable): nats-server is not installed", text)
        self.assertIn("Failed: accept, Spillway, 202s, SQLite, 16 outstanding", text)
        self.assertEqual(jobs_tables(cells), "")
        self.assertEqual(jobs_remarks(CELLS), "")

    def test_the_same_at_another_depth_is_another_cell_and_a_part_comes_once(self):
        results = read_results([json.dumps(cell) for cell in CELLS])
        self.assertEqual(len(results.jobs), len(CELLS))
        with self.assertRaises(ValueError):
            read_results([json.dumps(CELLS[0])] * 2)
        with self.assertRaises(ValueError):
            read_results([json.dumps(dict(CELLS[0], p99_ms="much"))])
        with self.assertRaises(ValueError):
            check_apart([results, results])
        self.assertIn("90000", terminal_text([Results(jobs=CELLS)]))


if __name__ == "__main__":
    unittest.main()
