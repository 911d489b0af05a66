// The terms of a waiting room, made from its route's configuration.
#pragma once

#include <string_view>
#include <vector>

#include "config/waiting_room.hpp"
#include "waiting/terms/terms.hpp"
#include "waiting/ticket/ticket_events.hpp"

namespace spillway::waiting {

// All but the key of a draw.
Terms terms_of(const config::WaitingRoom& settings);

// The events that its webhook gets.
EventSet wanted_events(const config::WaitingRoom& settings);

// In the order of Terms::tiers.
std::vector<std::string_view> tier_names(const config::WaitingRoom& settings);
// If no tier has this priority: as Tiers::number_of.
std::string_view tier_name(const config::WaitingRoom& settings, Priority priority);
// If the name is empty or that of no tier: the priority of the lowest tier.
Priority priority_of(const config::WaitingRoom& settings, std::string_view tier);

}  // namespace spillway::waiting
