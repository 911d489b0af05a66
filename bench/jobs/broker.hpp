// Message brokers as job queues, for comparison: servers of their own on loopback, with a data
// directory of their own, started here and ended with the object.
#pragma once

#include <memory>
#include <string>

#include "bench/jobs/queue.hpp"

namespace spillway::job_bench {

// `type`: "classic" or "quorum"; a durable queue, persistent messages, publisher confirms, one
// channel.
std::unique_ptr<Queue> rabbitmq(const std::string& type);
// Why there can be none; empty if there can.
std::string without_rabbitmq();

// A JetStream stream in a file. Its server acknowledges before the message is on the disk.
std::unique_ptr<Queue> nats();
std::string without_nats();

}  // namespace spillway::job_bench
