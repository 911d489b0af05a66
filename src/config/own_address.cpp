#include "config/own_address.hpp"

#include <algorithm>
#include <charconv>

namespace spillway::config {
namespace {

constexpr IpAddress address_v4(std::uint8_t a, std::uint8_t d) {
  return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, 0, 0, d}};
}
constexpr IpAddress kAnyV4 = address_v4(0, 0);
constexpr IpAddress kAnyV6{};
constexpr IpAddress kLoopbackV4 = address_v4(127, 1);
constexpr IpAddress kLoopbackV6{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr IpBlock kAllLoopbackV4{address_v4(127, 0), 96 + 8};

bool is_localhost(std::string_view host) {
  constexpr std::string_view name = "localhost";
  return std::equal(host.begin(), host.end(), name.begin(), name.end(),
                    [](char c, char lower) { return (c | 0x20) == lower; });
}

}  // namespace

bool is_own_address(const Listen& listen, const IpAddress& address, std::uint16_t port) {
  const auto own = parse_ip_address(listen.address);
  if (!own || port == 0 || port != listen.port) return false;
  const IpAddress& to = address == kAnyV4 ? kLoopbackV4 : address == kAnyV6 ? kLoopbackV6 : address;
  if (to == *own) return true;
  if (*own == kAnyV4) return kAllLoopbackV4.contains(to);
  return *own == kAnyV6 && (kAllLoopbackV4.contains(to) || to == kLoopbackV6);
}

bool is_own_server(const Listen& listen, std::string_view server) {
  const std::size_t colon = server.rfind(':');
  if (colon == server.npos) return false;
  std::uint16_t port = 0;
  std::from_chars(server.data() + colon + 1, server.data() + server.size(), port);
  std::string_view host = server.substr(0, colon);
  if (is_localhost(host)) {
    return is_own_address(listen, kLoopbackV4, port) || is_own_address(listen, kLoopbackV6, port);
  }
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  const auto address = parse_ip_address(host);
  return address && is_own_address(listen, *address, port);
}

}  // namespace spillway::config
