// Asks the store a question for a request that does not wait for long.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/services.hpp"
#include "store/contract/command.hpp"

namespace spillway::proxy {

// The question with its answer; nullopt: the store has not answered by `until`, or cannot be asked.
Task<std::optional<store::Command>> ask_store(Services& services, Parking& parking,
                                              store::Command question, TimePoint until);

}  // namespace spillway::proxy
