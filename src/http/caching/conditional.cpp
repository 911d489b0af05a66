#include "http/caching/conditional.hpp"

#include <cstddef>
#include <optional>

#include "http/caching/date.hpp"
#include "http/field/ascii.hpp"

namespace spillway::http {
namespace {

// Removes the entity-tag at the front of the text and returns the text between its quotes, weak or
// not. Entity-tags have no escapes (RFC 9110 section 8.8.3).
std::optional<std::string_view> take_opaque_tag(std::string_view& text) {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (!text.starts_with('"')) return std::nullopt;
  const std::size_t end = text.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view opaque = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return opaque;
}

std::optional<std::string_view> opaque_tag(std::string_view etag) {
  const auto opaque = take_opaque_tag(etag);
  return etag.empty() ? opaque : std::nullopt;
}

// Reads the list up to the first malformed element.
bool lists(std::string_view tags, std::string_view opaque) {
  for (;;) {
    tags = trim(tags);
    if (tags.starts_with(',')) {
      tags.remove_prefix(1);
      continue;
    }
    const auto listed = take_opaque_tag(tags);
    if (!listed) return false;
    tags = trim(tags);
    if (!tags.empty() && !tags.starts_with(',')) return false;
    if (*listed == opaque) return true;
  }
}

bool matches_none(const FieldList& request, std::string_view etag) {
  const auto opaque = opaque_tag(etag);
  for (const Field& field : request) {
    if (field.id != FieldId::if_none_match) continue;
    // For servers that send an ETag without quotes.
    const bool same_text = !etag.empty() && field.value == etag;
    if (same_text || field.value == "*") return false;
    if (opaque && lists(field.value, *opaque)) return false;
  }
  return true;
}

bool is_modified_since(const Validators& response, std::string_view date,
                       std::chrono::sys_seconds now) {
  const auto since = parse_date(date, now);
  if (!since) return true;
  auto modified = parse_date(response.last_modified, now);
  if (!modified) modified = parse_date(response.date, now);
  return !modified || *modified > *since;
}

}  // namespace

bool not_modified(const FieldList& request, const Validators& response,
                  std::chrono::sys_seconds now) {
  if (request.contains(FieldId::if_none_match)) return !matches_none(request, response.etag);
  if (request.count(FieldId::if_modified_since) != 1) return false;
  return !is_modified_since(response, request.find(FieldId::if_modified_since)->value, now);
}

bool has_range_or_precondition(const FieldList& request) {
  return request.contains(FieldId::range) || request.contains(FieldId::if_range) ||
         request.contains(FieldId::if_match) || request.contains(FieldId::if_unmodified_since);
}

}  // namespace spillway::http
