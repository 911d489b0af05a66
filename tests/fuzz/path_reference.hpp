// Paths and routes once more, in another way than the proxy reads them: as lists of segments, one
// route after the other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace spillway::fuzz {

// The first reading that traffic/route/path.hpp describes.
std::string first_reading(std::string_view path_and_query);

class RouteReference {
 public:
  explicit RouteReference(const std::vector<config::Route>& routes);

  // The index of the most specific route for a path as a backend reads it; the last one if there is
  // no other.
  std::size_t route_of(std::string_view method, std::string_view host, std::string_view path) const;

 private:
  const std::vector<config::Route>& routes_;
  std::vector<std::vector<std::string>> patterns_;  // taken apart
};

}  // namespace spillway::fuzz
