#include "config/describe/effective.hpp"

#include "config/describe/dump.hpp"

namespace spillway::config {

nlohmann::ordered_json effective(const Config& config) {
  Config visited = config;
  return *Dump(config).write(visited, ByType{});
}

}  // namespace spillway::config
