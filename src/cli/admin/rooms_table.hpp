// Prints the admin listener's replies about waiting rooms to a terminal.
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
