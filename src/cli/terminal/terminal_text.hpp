// Members of JSON objects as a terminal shows them: without characters that change what it shows.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace spillway {

// Deceptive characters (base/shown_text.hpp) and what is no UTF-8 become question marks; lines may
// stay apart.
std::string plain(std::string_view text, bool has_lines = false);
// A member as text; empty if it is not there.
std::string member(const nlohmann::json& object, const char* name);
// "2026-11-23T20:00:00.000Z" without its milliseconds.
std::string seconds_of(const std::string& time);

// One row of a table, a width for each cell.
void print_cells(std::ostream& out, std::span<const std::string> cells,
                 std::span<const int> widths);
// A line of name and value; none if the member is not there.
void print_member(std::ostream& out, const nlohmann::json& object, const char* name,
                  int width = 12);

}  // namespace spillway
