// Waits for the store on behalf of a request.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "proxy/jobs/store_call.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/owner/services.hpp"
#include "store/contract/command.hpp"

namespace spillway::proxy {

enum class Execution : std::uint8_t {
  done,
  failed,   // StoreCall::failure
  refused,  // the store is unavailable or hangs, or too many calls are waiting
};

// Has the store execute the call and waits for that, whatever else wakes the request. `patience`:
// if the store hangs for longer, a call that is not yet on its way to it is withdrawn.
Task<Execution> execute(Services& services, Parking& parking, StoreCall& call,
                        std::optional<Duration> patience = std::nullopt);

// For a request that does not wait for long: returns the question with its answer. nullopt: the
// store has not answered by `until`, or cannot be asked.
Task<std::optional<store::Command>> ask_store(Services& services, Parking& parking,
                                              store::Command question, TimePoint until);

}  // namespace spillway::proxy
