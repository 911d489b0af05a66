// The result of cancelling a wait that another thread may be about to end.
#pragma once

#include <cstdint>

namespace spillway {

enum class Withdrawal : std::uint8_t {
  withdrawn,  // nothing more arrives: the object may be destroyed
  too_late,   // the result has arrived, or is on its way and must be received
};

}  // namespace spillway
