// Requests at a steady pace, open loop, and what they took.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "bench/load/connection.hpp"
#include "bench/load/endpoint.hpp"

namespace spillway::waiting_bench {

struct Pace {
  load::Endpoint proxy;
  double per_second = 0;
  std::size_t connections = 1;  // kept alive, each with its share of the pace
  Duration lasts{};
  std::function<std::string(std::size_t n)> request;  // the n-th
  bool (*is_good)(const load::Response& response) = nullptr;
};

struct Taken {
  std::vector<Duration> times;  // of good responses, each from the instant at which it was due
  std::size_t bad = 0;
  Duration lasted{};
};

// Several of them at a time, each on a thread of its own, so that none waits for what another one
// has to send.
std::vector<Taken> keep_paces(const std::vector<Pace>& paces);

}  // namespace spillway::waiting_bench
