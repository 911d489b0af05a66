#include "http/hop_by_hop.hpp"

#include <algorithm>

#include "http/ascii.hpp"
#include "http/identity.hpp"

namespace spillway::http {
namespace {

bool is_always_hop_by_hop(FieldId id) {
  switch (id) {
    case FieldId::connection:
    case FieldId::keep_alive:
    case FieldId::proxy_connection:
    case FieldId::te:
    case FieldId::transfer_encoding:
    case FieldId::upgrade:
    case FieldId::proxy_authenticate:
    case FieldId::proxy_authorization:
    case FieldId::proxy_authentication_info: return true;
    default: return false;
  }
}

// Fields that are forwarded although Connection names them.
bool is_protected(const Field& field) {
  switch (field.id) {
    case FieldId::host:
    case FieldId::content_length:
    case FieldId::content_type:
    case FieldId::content_encoding:
    case FieldId::content_range:
    case FieldId::trailer:
    case FieldId::expect:
    case FieldId::range:
    case FieldId::authorization:
    case FieldId::www_authenticate:
    case FieldId::cookie:
    case FieldId::set_cookie:
    case FieldId::cache_control:
    case FieldId::vary:
    case FieldId::date:
    case FieldId::origin:
    case FieldId::via:
    case FieldId::forwarded: return true;
    case FieldId::unknown: return is_identity_field(field.name);
    default: return false;
  }
}

void add_option(std::string_view option, ConnectionOptions& options) {
  if (option.empty()) return;
  if (iequals(option, "close")) {
    options.close = true;
  } else if (iequals(option, "keep-alive")) {
    options.keep_alive = true;
  } else if (iequals(option, "upgrade")) {
    options.upgrade = true;
  } else if (options.names.size() == kMaxConnectionOptions) {
    options.too_many = true;
  } else {
    options.names.push_back(option);
  }
}

}  // namespace

HopByHop::HopByHop(const FieldList& fields) {
  if (!fields.contains(FieldId::connection)) return;
  for (const Field& field : fields) {
    if (field.id != FieldId::connection) continue;
    for_each_element(field.value, [&](std::string_view option) { add_option(option, options_); });
  }
}

bool HopByHop::strips(const Field& field) const {
  if (is_always_hop_by_hop(field.id)) return true;
  const auto& names = options_.names;
  const bool named = std::any_of(names.begin(), names.end(),
                                 [&](std::string_view name) { return iequals(name, field.name); });
  return named && !is_protected(field);
}

}  // namespace spillway::http
