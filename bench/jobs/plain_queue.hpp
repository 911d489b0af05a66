// What Spillway's PostgreSQL store is measured beside: the queue as it is usually written, one
// table with a partial index, each job inserted, claimed with FOR UPDATE SKIP LOCKED and deleted in
// a transaction of its own, over several connections.
#pragma once

#include <chrono>
#include <string>

#include "bench/jobs/figures.hpp"

namespace spillway::job_bench {

// Creates the table. What PostgreSQL refuses, here and below, is thrown as std::runtime_error.
void make_plain_queue(const std::string& url);

// Jobs per second that were inserted, claimed and deleted.
double plain_loop(const std::string& url, int connections, std::chrono::milliseconds time);
// Jobs inserted over so many connections, `rows` a statement and commit.
Figures plain_inserts(const std::string& url, int connections, int rows,
                      std::chrono::milliseconds time);

}  // namespace spillway::job_bench
