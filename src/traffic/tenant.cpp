#include "traffic/tenant.hpp"

#include "http/ascii.hpp"

namespace spillway::traffic {
namespace {

constexpr std::size_t kMaxKey = 256;

// The value of the one field of that name; empty when there is none, or several: then it is
// unclear which of them the backend believes.
std::string_view only_value(const http::FieldList& fields, std::string_view name) {
  std::string_view value;
  std::size_t found = 0;
  for (const http::Field& field : fields) {
    if (!http::iequals(field.name, name)) continue;
    value = field.value;
    ++found;
  }
  return found == 1 && value.size() <= kMaxKey ? value : std::string_view();
}

}  // namespace

Tenant tenant_of(const http::RequestHead& head, const std::vector<config::TenantKey>& keys,
                 std::string_view client_address, bool trusted_peer) {
  for (const config::TenantKey key : keys) {
    std::string_view value;
    switch (key) {
      case config::TenantKey::api_key: value = only_value(head.fields, "X-Api-Key"); break;
      case config::TenantKey::trusted_header:
        if (trusted_peer) value = only_value(head.fields, "X-Tenant");
        break;
      case config::TenantKey::client_address: value = client_address; break;
    }
    if (!value.empty()) return {key, value};
  }
  return {};
}

}  // namespace spillway::traffic
