// What the crowd has to know of the waiting room, read from the proxy's configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace spillway::crowd {

struct Venue {
  std::string room;  // the route's name
  std::string page;  // its path
  std::uint32_t active_sessions = 0;
  Milliseconds claim{};
};

// Of the first route with a waiting room. nullopt: there is none, or a member that is needed is
// not written down: active_sessions, claim_ms, and secure_cookie: false.
std::optional<Venue> read_venue(std::string_view configuration);

}  // namespace spillway::crowd
