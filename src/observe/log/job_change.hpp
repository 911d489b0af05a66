// What the operator did to deferred requests, for the log.
#pragma once

#include <cstdint>
#include <string>

#include "store/contract/command.hpp"

namespace spillway::observe {

struct JobChange {
  enum class Kind : std::uint8_t { cancelled, replayed, purged };
  Kind kind = Kind::cancelled;
  std::string client;    // the address that asked for it
  store::Filter filter;  // which jobs were meant
  std::uint64_t count = 0;
};

}  // namespace spillway::observe
