// Random bytes of the system, for keys, secrets and ids that cannot be guessed.
#pragma once

#include <cstdint>
#include <span>

namespace spillway::proxy {

// Fills up to 256 bytes (getrandom(2) returns that many at once). False: the system has none.
[[nodiscard]] bool fill_randomly(std::span<std::uint8_t> bytes);

}  // namespace spillway::proxy
