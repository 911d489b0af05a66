#include "table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace spillway::micro {
namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::string number(double value) { return formatted(value < 100 ? "%.1f" : "%.0f", value); }

std::string cells(std::string_view name, const std::string& middle, const std::string& spread,
                  const std::string& target, const char* verdict) {
  return formatted("| %-44.*s | %9s | %17s | %6s | %-4s |", static_cast<int>(name.size()),
                   name.data(), middle.c_str(), spread.c_str(), target.c_str(), verdict);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string times_heading() {
  return cells("what", "ns", "lowest-highest", "target", "") +
         "\n| --- | ---: | ---: | ---: | --- |";
}

std::string times_line(std::string_view name, const std::vector<double>& nanoseconds,
                       std::optional<double> target) {
  if (nanoseconds.empty()) return cells(name, "-", "-", target ? number(*target) : "", "");
  const double middle = median(nanoseconds);
  const auto [lowest, highest] = std::minmax_element(nanoseconds.begin(), nanoseconds.end());
  return cells(name, number(middle), number(*lowest) + "-" + number(*highest),
               target ? formatted("%.0f", *target) : "",
               !target             ? ""
               : middle <= *target ? "ok"
                                   : "OVER");
}

std::string sizes_heading() {
  return formatted("| %-44s | %13s |", "what", "bytes") + "\n| --- | ---: |";
}

std::string sizes_line(std::string_view name, std::size_t bytes) {
  return formatted("| %-44.*s | %13zu |", static_cast<int>(name.size()), name.data(), bytes);
}

}  // namespace spillway::micro
