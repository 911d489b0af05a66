// The defaults that depend on how many traffic classes there are, and on how long slots are held.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace spillway::config {

// Where slots are held for longer than this, requests wait for longer, in proportion, if the file
// does not say how long (TrafficClass::stretches): of the default classes the highest for the time
// of two requests, the others for that of 0.8 and 0.4. With 500 ms and requests of two seconds most
// would leave the queue shortly before a slot is free. Of many slots one is soon free: of more than
// these few it counts how often one is, every 12.5 ms.
//
// In the simulator, 160 ms serves P1 better where clients are patient (8 slots x 2 s at twice the
// capacity 86 % in place of 80), and harms where they give up after 1.75 times what a request takes
// and the limit is found: 1 slot x 200 ms, P0 37 % in place of 42.
inline constexpr Milliseconds kUsualHold{250};
inline constexpr double kFewSlots = 20;
// At most: the highest class waits for ten seconds. Clients and proxies before them give up after
// half a minute or so.
inline constexpr double kMostStretch = 20;

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
