#include "http/message/target.hpp"

#include <algorithm>
#include <array>

#include "base/ip_address.hpp"
#include "http/field/ascii.hpp"

namespace spillway::http {
namespace {

constexpr std::array<bool, 256> name_characters() {
  std::array<bool, 256> table{};
  for (int c = 0; c < 128; ++c) {
    const char character = static_cast<char>(c);
    table[c] = is_digit(character) || is_alpha(character) ||
               std::string_view("-._~").find(character) != std::string_view::npos;
  }
  return table;
}
constexpr std::array<bool, 256> kName = name_characters();

bool valid_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxHost &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return kName[static_cast<unsigned char>(c)]; });
}

bool valid_port(std::string_view port) {
  if (port.size() > 5) return false;  // leading zeros
  unsigned value = 0;
  for (const char c : port) {
    if (!is_digit(c)) return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 65535) return false;
  }
  return true;
}

Error resolve_absolute_form(RequestHead& head, std::size_t scheme_length) {
  const std::string_view rest = head.target.substr(scheme_length);
  const std::size_t end = rest.find_first_of("/?");
  head.host = rest.substr(0, end);
  if (!valid_authority(head.host)) return Error::bad_target;
  if (end != std::string_view::npos) {
    head.path_and_query = rest.substr(end);
    head.path_is_missing = rest[end] == '?';
  } else {
    head.path_and_query = head.method == Verb::options ? "*" : "/";
  }
  return Error::none;
}

}  // namespace

std::string_view without_port(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(0, authority.find(']') + 1);
  return authority.substr(0, authority.find(':'));
}

std::string_view path_of(std::string_view target) {
  target = target.substr(0, target.find_first_of("?#"));
  if (target.starts_with('/') || target == "*") return target;
  const std::size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) return {};
  const std::size_t path = target.find('/', scheme + 3);
  return path == std::string_view::npos ? std::string_view{} : target.substr(path);
}

bool valid_authority(std::string_view authority) {
  const std::string_view host = without_port(authority);
  const std::string_view rest = authority.substr(host.size());
  if (!rest.empty() && (rest[0] != ':' || !valid_port(rest.substr(1)))) return false;
  if (!host.starts_with('[')) return valid_name(host);
  if (host.size() < 4 || host.back() != ']') return false;
  const auto address = parse_ip_address(host.substr(1, host.size() - 2));
  return address && host.find(':') != std::string_view::npos;
}

Error resolve_target(RequestHead& head) {
  head.path_is_missing = false;
  head.host = {};
  const Field* host = head.fields.find(FieldId::host);
  if (host == nullptr) {
    if (head.version >= 11) return Error::bad_host;
  } else {
    if (!valid_authority(host->value)) return Error::bad_host;
    if (head.fields.count(FieldId::host) > 1) return Error::bad_host;
    head.host = host->value;
  }
  if (head.target.find('#') != std::string_view::npos) return Error::bad_target;
  if (head.target.starts_with('/')) {
    head.path_and_query = head.target;
    return Error::none;
  }
  if (head.target == "*") {
    head.path_and_query = head.target;
    return head.method == Verb::options ? Error::none : Error::bad_target;
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (istarts_with(head.target, scheme)) return resolve_absolute_form(head, scheme.size());
  }
  return Error::bad_target;
}

}  // namespace spillway::http
