// The table of results: one line per benchmark, as Markdown that also reads well on a terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::micro {

// The middle one; of an even number the lower of the two; 0 of none.
double median(std::vector<double> values);

// The two lines that open the table of times.
std::string times_heading();

// One benchmark: the median of its repetitions in nanoseconds, the lowest and the highest, the
// target, and `ok` if the median does not exceed it, else `OVER`. Without a target both are empty.
std::string times_line(std::string_view name, const std::vector<double>& nanoseconds,
                       std::optional<double> target);

// The two lines that open the table of sizes, and one of its lines.
std::string sizes_heading();
std::string sizes_line(std::string_view name, std::size_t bytes);

}  // namespace spillway::micro
