// What comes of giving up a wait whose end another thread brings.
#pragma once

#include <cstdint>

namespace spillway {

enum class Withdrawal : std::uint8_t {
  withdrawn,  // nothing comes any more: the object may end
  too_late,   // what was waited for has come, or is on its way and must be received
};

}  // namespace spillway
