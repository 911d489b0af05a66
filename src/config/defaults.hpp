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

// A configuration with every default filled in, but for `class_count` classes (at least one): the
// rules, the eviction order and a default route are for that many. No upstreams; the default
// classes themselves.
Config defaults(std::size_t class_count);

}  // namespace spillway::config
