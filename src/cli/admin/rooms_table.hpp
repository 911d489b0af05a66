// Answers of the admin listener about waiting rooms, as a terminal shows them.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

namespace spillway {

void print_rooms(std::ostream& out, const nlohmann::json& rooms);
void print_room(std::ostream& out, const nlohmann::json& room);
void print_tickets_heading(std::ostream& out);
void print_ticket_row(std::ostream& out, const nlohmann::json& ticket);
void print_ticket(std::ostream& out, const nlohmann::json& ticket);

}  // namespace spillway
