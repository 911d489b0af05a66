#include "jobs/prefer.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "http/field/ascii.hpp"

namespace spillway::jobs {
namespace {

constexpr std::uint64_t kLongestWait = 3600;

// Returns the text up to the first of `ends` outside quotes; removes it and that delimiter.
std::string_view take_until(std::string_view& text, std::string_view ends) {
  bool is_quoted = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '\\' && is_quoted) {
      ++at;
    } else if (text[at] == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && ends.find(text[at]) != ends.npos) {
      break;
    }
  }
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

std::string_view unquoted(std::string_view value) {
  const bool is_quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return is_quoted ? value.substr(1, value.size() - 2) : value;
}

void read(std::string_view preference, Preference& out, bool& has_wait) {
  std::string_view rest = preference;
  std::string_view first = take_until(rest, ";");  // its parameters are not used
  const std::string_view name = http::trim(take_until(first, "="));
  const std::string_view value = unquoted(http::trim(first));
  if (http::iequals(name, "respond-async")) out.respond_async = true;
  if (!http::iequals(name, "wait") || has_wait) return;
  has_wait = true;
  std::uint64_t seconds = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, seconds);
  if (value.empty() || read.ptr != end) return;
  if (read.ec != std::errc()) seconds = kLongestWait;
  out.wait = std::chrono::seconds(std::min(seconds, kLongestWait));
}

}  // namespace

Preference parse_prefer(const http::FieldList& fields) {
  Preference out;
  bool has_wait = false;
  if (!fields.contains(http::FieldId::prefer)) return out;
  for (const http::Field& field : fields) {
    if (field.id != http::FieldId::prefer) continue;
    for (std::string_view rest = field.value; !rest.empty();)
      read(take_until(rest, ","), out, has_wait);
  }
  return out;
}

}  // namespace spillway::jobs
