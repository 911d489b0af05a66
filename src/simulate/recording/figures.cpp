#include "simulate/recording/figures.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace spillway::simulate {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string padding(std::string_view text, std::size_t width) {
  const std::size_t used = characters(text);
  return std::string(used < width ? width - used : 0, ' ');
}

}  // namespace

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  std::array<char, 400> block;  // the longest double has 309 digits before the point
  const auto end = std::to_chars(block.data(), block.data() + block.size(), value,
                                 std::chars_format::fixed, std::clamp(digits, 0, 17))
                       .ptr;
  std::string text(block.data(), end);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string latency_text(double seconds) {
  if (!std::isfinite(seconds) || seconds <= 0) return "-";
  const double ms = seconds * 1000;
  if (ms < 0.995) return fixed(ms, 2) + " ms";
  if (ms < 9.95) return fixed(ms, 1) + " ms";
  if (ms < 999.5) return fixed(ms, 0) + " ms";
  if (seconds < 9.995) return fixed(seconds, 2) + " s";
  if (seconds < 99.95) return fixed(seconds, 1) + " s";
  return fixed(seconds, 0) + " s";
}

std::string share_text(double share) {
  if (!std::isfinite(share)) return "-";
  if (share > 0 && share < 1) share = std::clamp(share, 0.0001, 0.9999);
  return fixed(share * 100, 2) + " %";
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return share_text(static_cast<double>(part) / static_cast<double>(whole));
}

std::string count_text(std::uint64_t count, std::size_t width) {
  std::string text = std::to_string(count);
  for (const char unit : {'k', 'M', 'G', 'T'}) {
    if (text.size() <= width) break;
    count /= 1000;
    text = std::to_string(count) + unit;
  }
  return text;
}

std::string right(std::string_view text, std::size_t width) {
  return padding(text, width).append(text);
}

std::string left(std::string_view text, std::size_t width) {
  return std::string(text) + padding(text, width);
}

std::string cut(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (starts_character(text[end]) && seen++ == width) break;
  }
  return std::string(text.substr(0, end));
}

}  // namespace spillway::simulate
