#include "traffic/route/pattern.hpp"

#include <algorithm>
#include <stdexcept>

#include "traffic/route/path.hpp"

namespace spillway::traffic {
namespace {

[[noreturn]] void refuse(std::string_view text, const char* why) {
  throw std::invalid_argument("path pattern \"" + std::string(text) + "\" " + why);
}

Pattern::Segment literal_segment(std::string_view pattern, std::string_view segment) {
  if (segment.empty()) refuse(pattern, "has an empty segment");
  if (segment == "." || segment == "..") refuse(pattern, "has a dot segment");
  if (segment.find('*') != std::string_view::npos) {
    refuse(pattern, "has a * that is not a whole segment");
  }
  return {false, decoded_segment(segment)};
}

// How specific the pattern is at segment i; see more_specific().
int weight_at(const Pattern& pattern, std::size_t i) {
  if (i < pattern.segments.size()) return pattern.segments[i].star ? 1 : 2;
  return i == pattern.segments.size() && pattern.below ? 0 : 2;
}

}  // namespace

std::uint64_t Pattern::shape(std::size_t depth) const {
  std::uint64_t stars = 0;
  for (std::size_t i = 0; i < depth; ++i) {
    if (segments[i].star) stars |= std::uint64_t{1} << i;
  }
  return stars;
}

Pattern parse_pattern(std::string_view text) {
  if (!text.starts_with('/')) refuse(text, "does not start with /");
  if (text.find_first_of("?#") != std::string_view::npos) refuse(text, "has a query or fragment");
  Pattern pattern;
  std::string_view rest = text.substr(1);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string_view segment = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    if (pattern.segments.size() == Pattern::kMaxSegments) refuse(text, "has too many segments");
    if (segment == "**") {
      if (slash != std::string_view::npos) refuse(text, "has a ** that is not at its end");
      pattern.below = true;
    } else if (segment == "*") {
      pattern.segments.push_back({true, {}});
    } else {
      pattern.segments.push_back(literal_segment(text, segment));
    }
  }
  return pattern;
}

bool more_specific(const Pattern& a, const Pattern& b) {
  const std::size_t length = std::max(a.segments.size(), b.segments.size());
  for (std::size_t i = 0; i <= length; ++i) {
    const int weight_a = weight_at(a, i);
    const int weight_b = weight_at(b, i);
    if (weight_a != weight_b) return weight_a > weight_b;
  }
  return false;
}

}  // namespace spillway::traffic
