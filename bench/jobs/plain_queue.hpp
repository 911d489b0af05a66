// What Spillway's PostgreSQL store is measured beside: the queue as it is usually written, one
// table with a partial index, each job inserted, claimed with FOR UPDATE SKIP LOCKED and deleted in
// a transaction of its own, over several connections.
#pragma once

#include <chrono>
#include <string>

namespace spillway::bench {

// Creates the table. Ends the program if it cannot.
void make_plain_queue(const std::string& url);

// Jobs per second that were inserted, claimed and deleted.
double plain_loop(const std::string& url, int connections, std::chrono::seconds time);
// Jobs per second that were inserted, `rows` a statement and commit.
double plain_inserts(const std::string& url, int rows, std::chrono::seconds time);

}  // namespace spillway::bench
