// Formats members of JSON objects for a terminal: without characters that change its display.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace spillway {

// Replaces deceptive characters (base/shown_text.hpp) and bytes that are not UTF-8 with question
// marks; `has_lines` keeps line breaks.
std::string plain(std::string_view text, bool has_lines = false);
// A member as text; empty if it is absent.
std::string member(const nlohmann::json& object, const char* name);
// "2026-11-23T20:00:00.000Z" without its milliseconds.
std::string seconds_of(const std::string& time);

// Prints one row of a table; `widths` has a width for each cell.
void print_cells(std::ostream& out, std::span<const std::string> cells,
                 std::span<const int> widths);
// Prints a line of name and value; nothing if the member is absent.
void print_member(std::ostream& out, const nlohmann::json& object, const char* name,
                  int width = 12);

}  // namespace spillway
