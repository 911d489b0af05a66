#include "traffic/client/sole_fields.hpp"

#include <bitset>
#include <cstddef>
#include <string_view>
#include <utility>

#include "http/field/ascii.hpp"
#include "traffic/client/tenant.hpp"

namespace spillway::traffic {
namespace {

constexpr std::size_t kMostNames = 8;

// Like "99, 0". Values that are not numbers, like "u=1, i" (RFC 9218), are not priorities here.
bool is_list_of_numbers(std::string_view value) {
  return value.find(',') != std::string_view::npos &&
         value.find_first_not_of("0123456789, \t") == std::string_view::npos;
}

}  // namespace

SoleFields::SoleFields(const config::Config& config) {
  add({.text = "Authorization"});
  if (believes_api_keys(config)) add({.text = "X-Api-Key"});
  if (const auto& jwt = config.trusted_tokens.jwt; jwt && jwt->cookie.empty())
    add({.text = jwt->header});
  const config::TrustedHeaders& trusted = config.trusted_headers;
  for (const std::string* name : {&trusted.tenant, &trusted.tier, &trusted.user})
    add({.text = *name, .is_of_trusted_peers = true});
  add({.text = trusted.priority, .is_of_trusted_peers = true, .is_number = true});
}

void SoleFields::add(Name name) {
  if (!name.text.empty()) names_.push_back(std::move(name));
}

bool SoleFields::is_any_repeated(const http::FieldList& fields, bool is_of_trusted_peer) const {
  std::bitset<kMostNames> seen;
  for (const http::Field& field : fields) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const Name& name = names_[i];
      if (name.is_of_trusted_peers && !is_of_trusted_peer) continue;
      if (!http::iequals(field.name, name.text)) continue;
      if (seen[i] || (name.is_number && is_list_of_numbers(field.value))) return true;
      seen.set(i);
    }
  }
  return false;
}

}  // namespace spillway::traffic
