// The line that the crowd prints each second, as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "bench/crowd/findings.hpp"
#include "proxy_view.hpp"

namespace spillway::crowd {

struct Second {
  Duration at{};  // since the start
  Heads heads{};
  std::uint64_t entered = 0;
  std::uint64_t polls = 0;                  // of this second
  std::optional<std::uint64_t> answered{};  // 200s of the site, of this second
  std::optional<demo::RoomView> room{};     // as the proxy says
};

// The line above them.
std::string heading();
std::string line(const Second& second);

}  // namespace spillway::crowd
