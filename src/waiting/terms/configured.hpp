// The terms that a route's configuration gives its waiting room.
#pragma once

#include <string_view>
#include <vector>

#include "config/waiting_room.hpp"
#include "waiting/terms/terms.hpp"
#include "waiting/ticket/ticket_events.hpp"

namespace spillway::waiting {

// Without the key of a draw.
Terms terms_of(const config::WaitingRoom& settings);

// What its webhook is told of.
EventSet wanted_events(const config::WaitingRoom& settings);

// In the order of Terms::tiers.
std::vector<std::string_view> tier_names(const config::WaitingRoom& settings);
// Of a priority that is none of them: as Tiers::number_of.
std::string_view tier_name(const config::WaitingRoom& settings, Priority priority);
// Of a name that is none of them, or empty: that of the lowest.
Priority priority_of(const config::WaitingRoom& settings, std::string_view tier);

}  // namespace spillway::waiting
