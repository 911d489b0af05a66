// The queues that are compared, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/jobs/proxy.hpp"
#include "bench/jobs/queue.hpp"

namespace spillway::job_bench {

// http-sqlite, http-postgres: 202s of Spillway. store-sqlite, store-postgres: its store alone, in
// this process; with -keys each job has an Idempotency-Key. plain: one table in PostgreSQL, a
// connection for each outstanding job; plain-batched: the same, all that is outstanding in one
// statement of one connection. rabbitmq-classic, rabbitmq-quorum, nats: broker.hpp. disk: disk.hpp.
const std::vector<std::string>& contender_names();

// Why it cannot be measured here; empty if it can.
std::string why_missing(const std::string& name);

// Starts the servers that it needs, with their data in the directory for temporary files.
std::unique_ptr<Queue> make_queue(const std::string& name, const Programs& programs);

}  // namespace spillway::job_bench
