// The defaults that depend on how many traffic classes there are.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace spillway::config {

// P0, P1, P2.
std::vector<TrafficClass> default_classes();

// A class with this name and the defaults for all else. Weight, queue and longest wait go by its
// rank among `count` classes, 0 is the highest: of three those of P0, P1 and P2; of more, those
// between have values between, in equal ratios. It has no guaranteed share yet.
TrafficClass new_class(std::string_view name, std::size_t rank, std::size_t count);

// Sets the guaranteed share of each class that has none yet: 0 of the highest, 0.05 of the others,
// which together get 0.5 at most.
void set_min_shares(std::vector<TrafficClass>& classes);

// The class of a route that names none: the middle one, the lower of two.
ClassId middle_class(std::size_t classes);

// A configuration of defaults, without upstreams. Its rules, eviction order and default route are
// for `class_count` classes (at least one).
Config defaults(std::size_t class_count);

}  // namespace spillway::config
