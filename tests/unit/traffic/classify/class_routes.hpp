// Routes and classes for tests of readings that differ.
#pragma once

#include <string>

#include "config/config.hpp"

namespace spillway::traffic {

inline config::Route route(std::string path, unsigned traffic_class) {
  return {.name = path,
          .match = {.path = path},
          .traffic_class = ClassId{static_cast<unsigned char>(traffic_class)}};
}

}  // namespace spillway::traffic
