#include "http/message/upgrade.hpp"

#include <algorithm>

#include "http/field/ascii.hpp"
#include "http/message/hop_by_hop.hpp"

namespace spillway::http {
namespace {

bool is_allowed(std::string_view protocol, std::span<const std::string> allowed) {
  const std::string_view name = protocol.substr(0, protocol.find('/'));
  if (iequals(name, "h2c")) return false;
  return std::any_of(allowed.begin(), allowed.end(),
                     [&](const std::string& each) { return iequals(each, name); });
}

// name, or name "/" version: needed because it is written into a head of Spillway's own.
bool is_well_formed(std::string_view protocol) {
  const std::size_t slash = protocol.find('/');
  for (const std::string_view part :
       {protocol.substr(0, slash),
        slash == std::string_view::npos ? std::string_view("1") : protocol.substr(slash + 1)}) {
    if (part.empty() || !std::all_of(part.begin(), part.end(), is_token)) return false;
  }
  return true;
}

}  // namespace

std::string_view offered_upgrade(const RequestHead& head, std::span<const std::string> allowed) {
  if (!head.upgrade || head.method != Verb::get || head.framing.kind != Framing::Kind::none)
    return {};
  std::string_view chosen;
  for (const Field& field : head.fields) {
    if (field.id != FieldId::upgrade) continue;
    for_each_element(field.value, [&](std::string_view protocol) {
      if (chosen.empty() && is_allowed(protocol, allowed) && is_well_formed(protocol))
        chosen = protocol;
    });
  }
  return chosen;
}

bool switches_to(const ResponseHead& head, std::string_view protocol) {
  if (head.version < 11 || head.fields.count(FieldId::upgrade) != 1) return false;
  return iequals(head.fields.find(FieldId::upgrade)->value, protocol) &&
         HopByHop(head.fields).options().upgrade;
}

}  // namespace spillway::http
