// Resources that this process or machine ran out of, so that a connection to a server failed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway::observe {

enum class LocalShortage : std::uint8_t {
  descriptors,  // the limit of open files, of the process or of the system
  ports,        // local ports, for this address of the server
  memory,       // system memory, or watches of file descriptors
};

inline constexpr std::size_t kLocalShortageCount = 3;

constexpr std::string_view name(LocalShortage shortage) {
  constexpr std::array<std::string_view, kLocalShortageCount> names{"descriptors", "ports",
                                                                    "memory"};
  return names[index(shortage)];
}

}  // namespace spillway::observe
