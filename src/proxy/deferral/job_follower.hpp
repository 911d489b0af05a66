// Waits for a job to change: for its client's event stream, or for a client that prefers to wait.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/jobs/store_call.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/owner/services.hpp"

namespace spillway::proxy {

// A job as last seen.
struct SeenJob {
  enum class Left : std::uint8_t {
    all,
    key,  // it has ended and was deleted: only its Idempotency-Key is still known
  };
  jobs::JobId id;
  jobs::Progress progress;     // queued if it was accepted just now
  std::uint64_t position = 0;  // as in JobView
  Left left = Left::all;
};

struct Followed {
  enum class Status : std::uint8_t {
    changed,
    unchanged,    // until the time was over, the proxy drains or is at the connection limit
    client_gone,  // the client left meanwhile
    forgotten,    // there is no such job
  };
  Status status = Status::forgotten;
  std::optional<jobs::JobView> job;  // the changed job
};

// Whether the request stops waiting when limits.connections are open and clients wait for room.
enum class AtConnectionLimit : std::uint8_t { stays, gives_way };

// Returns once the job's progress differs from `known`. A change made by another proxy is seen up
// to a second later; if the store does not answer, the wait goes on. Meanwhile the client's
// connection is watched.
Task<Followed> follow(Services& services, Parking& parking, jobs::JobId id,
                      std::optional<jobs::Progress> known, TimePoint until,
                      AtConnectionLimit at_limit);

}  // namespace spillway::proxy
