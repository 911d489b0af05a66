#include "http/message/hop_by_hop.hpp"

#include <algorithm>

#include "http/field/ascii.hpp"

namespace spillway::http {
namespace {

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

HopByHop::HopByHop(const FieldList& fields, const ProtectedFields& protected_fields,
                   bool is_from_trusted_peer)
    : HopByHop(fields) {
  protected_ = &protected_fields;
  drops_aliases_ = true;
  drops_proxy_fields_ = !is_from_trusted_peer;
  if (is_from_trusted_peer) options_.names.clear();
}

bool HopByHop::strips(const Field& field) const {
  if (is_hop_by_hop(field.id)) return true;
  if (drops_proxy_fields_ && protected_->is_for_trusted_peers(field.name)) return true;
  if (field.id == FieldId::unknown) {
    if (is_own_field(field.name)) return true;
    if (drops_aliases_ && protected_->is_alias(field.name)) return true;
    if (drops_proxy_fields_ && is_proxy_field(field.name)) return true;
  }
  const auto& names = options_.names;
  const bool named = std::any_of(names.begin(), names.end(),
                                 [&](std::string_view name) { return iequals(name, field.name); });
  return named && !is_protected(field.id) && !is_identity_field(field.name) &&
         !protected_->contains(field.name);
}

}  // namespace spillway::http
