#include "traffic/classify/bypass.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/shown_text.hpp"
#include "traffic/route/path.hpp"

namespace spillway::traffic {
namespace {

// `path` is a reading: it starts with "/" and has no trailing slash.
bool is_of(const Pattern& pattern, std::string_view path) {
  std::string_view rest = path == "/" ? std::string_view{} : path;
  for (const Pattern::Segment& segment : pattern.segments) {
    if (rest.empty()) return false;
    rest.remove_prefix(1);
    const std::string_view its = rest.substr(0, rest.find('/'));
    if (!segment.star && its != segment.literal) return false;
    rest.remove_prefix(its.size());
  }
  return rest.empty() || pattern.below;
}

// A lenient decoder turns overlong forms (RFC 3629 section 3) into dots and slashes.
bool is_utf8(std::string_view text) { return utf8_part(text) == text.size(); }

}  // namespace

WaitingBypass::WaitingBypass(const config::WaitingBypass& settings) : tiers_(settings.tiers) {
  for (const std::string& text : settings.clients) {
    IpBlock block;
    const std::string_view wrong = parse_ip_block(text, block);
    if (!wrong.empty()) throw std::invalid_argument("\"" + text + "\" " + std::string(wrong));
    clients_.push_back(block);
  }
  for (const std::string& text : settings.paths) patterns_.push_back(parse_pattern(text));
}

bool WaitingBypass::has_client(const IpAddress& client) const {
  return std::ranges::any_of(clients_,
                             [&](const IpBlock& block) { return block.contains(client); });
}

bool WaitingBypass::has_tier(std::string_view tier) const {
  return !tier.empty() && std::ranges::find(tiers_, tier) != tiers_.end();
}

bool WaitingBypass::has_path(std::string_view path_and_query) const {
  if (patterns_.empty()) return false;
  PathReadings path(path_and_query);
  while (path.next()) {
    if (!matches(path.reading()) || !is_utf8(path.reading())) return false;
  }
  return !path.is_ambiguous();
}

bool WaitingBypass::matches(std::string_view reading) const {
  return std::ranges::any_of(patterns_,
                             [&](const Pattern& pattern) { return is_of(pattern, reading); });
}

}  // namespace spillway::traffic
