// Clients that try again: how often, and when.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "bench/load/ending.hpp"
#include "bench/load/request_number.hpp"
#include "resilience/backoff.hpp"

namespace spillway::load {

struct Retries {
  std::uint32_t most = 0;  // after the first attempt, at most 200
  resilience::Backoff backoff{.base = Milliseconds(200), .jitter = 0.5};
  double honouring = 1;    // share of the clients that wait for as long as Retry-After says, [0, 1]
  std::uint64_t seed = 1;  // of the jitter, and of which clients honour Retry-After
};

// The pause after an attempt that ended so, before the next; nullopt: there is none, the client was
// answered or has tried often enough. The same for the same number and ending.
std::optional<Duration> pause_before_retry(const Retries& retries, const RequestNumber& number,
                                           const Ending& ending);

}  // namespace spillway::load
