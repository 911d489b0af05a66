// Waits for a job to change: for its client's events, and for one that prefers to wait.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/jobs/store_call.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/owner/services.hpp"

namespace spillway::proxy {

// A job as it was seen last.
struct SeenJob {
  enum class Left : std::uint8_t {
    all,
    key,  // it has ended and was deleted: nothing but its Idempotency-Key is known of it
  };
  jobs::JobId id;
  jobs::Progress progress;     // of one that was accepted just now: queued
  std::uint64_t position = 0;  // as JobView's
  Left left = Left::all;
};

struct Followed {
  enum class Status : std::uint8_t {
    changed,
    unchanged,    // until the time was over, the proxy drains or is at the connection limit
    client_gone,  // meanwhile
    forgotten,    // there is no such job
  };
  Status status = Status::forgotten;
  std::optional<jobs::JobView> job;  // changed
};

// Whether it stops waiting once limits.connections are open and others are not accepted.
enum class AtConnectionLimit : std::uint8_t { stays, gives_way };

// Returns once the job's progress is another one than `known`. A change that another proxy makes is
// seen up to a second later; a store that does not answer is waited for. The client's connection is
// watched meanwhile.
Task<Followed> follow(Services& services, Parking& parking, jobs::JobId id,
                      std::optional<jobs::Progress> known, TimePoint until,
                      AtConnectionLimit at_limit);

}  // namespace spillway::proxy
