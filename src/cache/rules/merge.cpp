#include "cache/rules/merge.hpp"

#include <algorithm>
#include <string_view>

#include "http/field/ascii.hpp"

namespace spillway::cache {
namespace {

using http::Field;
using http::FieldId;

bool is_same_name(const Field& a, const Field& b) {
  return a.id == b.id && (a.id != FieldId::unknown || http::iequals(a.name, b.name));
}

bool is_per_exchange(std::string_view name) {
  return http::contains_name({"X-Request-Id", "traceparent", "tracestate", "Server-Timing"}, name);
}

}  // namespace

bool is_stored(const Field& field, const http::HopByHop& hop) {
  switch (field.id) {
    case FieldId::age:
    case FieldId::content_length:
    case FieldId::set_cookie:
    case FieldId::set_cookie2:
    case FieldId::trailer: return false;
    case FieldId::unknown:
      if (is_per_exchange(field.name)) return false;
      break;
    default: break;
  }
  return !hop.strips(field);
}

bool renews(const Field& field, const http::HopByHop& hop) {
  switch (field.id) {
    case FieldId::content_encoding:
    case FieldId::content_range:
    case FieldId::content_type: return false;
    default: return is_stored(field, hop);
  }
}

bool merge(const http::FieldList& stored, const http::FieldList& not_modified,
           http::FieldList& merged) {
  const http::HopByHop hop(not_modified);
  bool all = true;
  merged.clear();
  for (const Field& field : stored) {
    const bool renewed = std::any_of(
        not_modified.begin(), not_modified.end(),
        [&](const Field& other) { return is_same_name(field, other) && renews(other, hop); });
    if (!renewed) all &= merged.push(field);
  }
  for (const Field& field : not_modified) {
    if (renews(field, hop)) all &= merged.push(field);
  }
  return all;
}

}  // namespace spillway::cache
