// The defaults that depend on how many traffic classes there are.
#pragma once

#include <cstddef>
#include <vector>

#include "config/config.hpp"

namespace spillway::config {

// P0, P1, P2.
std::vector<TrafficClass> default_classes();

// The class of a route that names none: the middle one, the lower of two.
ClassId middle_class(std::size_t classes);

// A configuration of defaults, without upstreams. Its rules, eviction order and default route are
// for `class_count` classes (at least one).
Config defaults(std::size_t class_count);

}  // namespace spillway::config
