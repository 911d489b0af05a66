// Defaults that depend on the number of traffic classes, and on how long slots are held.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace spillway::config {

// If slots are held for longer than this, requests wait longer in proportion, unless the file gives
// the wait (TrafficClass::stretches): the highest default class for the time of two requests, the
// others for the time of 0.8 and 0.4. With 500 ms and requests of two seconds, most would leave the
// queue shortly before a slot is free. Among many slots one is soon free: with more than kFewSlots,
// the interval between freed slots counts instead, against 12.5 ms.
//
// In the simulator, 160 ms serves P1 better if clients are patient (8 slots x 2 s at twice the
// capacity: 86 % instead of 80), but is worse with an adaptive limit and clients that give up after
// 1.75 times a request's duration: 1 slot x 200 ms, P0 37 % instead of 42.
inline constexpr Milliseconds kUsualHold{250};
inline constexpr double kFewSlots = 20;
// The upper bound: the highest class waits for ten seconds. Clients and proxies in front of them
// give up after half a minute or so.
inline constexpr double kMostStretch = 20;

// P0, P1, P2.
std::vector<TrafficClass> default_classes();

// A class with this name and the defaults for all else. Weight, queue and longest wait depend on
// its rank among `count` classes (0: the highest): three have those of P0, P1 and P2; of more,
// those in between have values in between, in equal ratios. No guaranteed share is set yet.
TrafficClass new_class(std::string_view name, std::size_t rank, std::size_t count);

// Sets the guaranteed share of each class that has none yet: 0 for the highest, 0.05 for the
// others, which together get at most 0.5.
void set_min_shares(std::vector<TrafficClass>& classes);

// The class of a route that names none: the middle one; of two middle ones, the lower.
ClassId middle_class(std::size_t classes);

// A default configuration without upstreams. Its rules, eviction order and default route are for
// `class_count` classes (at least one).
Config defaults(std::size_t class_count);

}  // namespace spillway::config
