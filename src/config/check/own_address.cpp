#include "config/check/own_address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

// With or without the trailing dot of the DNS root.
bool is_named(std::string_view host, std::string_view name) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return std::equal(host.begin(), host.end(), name.begin(), name.end(),
                    [](char a, char b) { return (a | 0x20) == (b | 0x20); });
}

// Names below localhost usually mean this machine too (RFC 6761 section 6.3), but a container's
// resolver may map them to another one.
bool is_localhost(std::string_view host) { return is_named(host, "localhost"); }

// Not resolved: the result may be any address of this machine.
bool is_host_name(std::string_view host) {
  std::array<char, 256> own{};
  return ::gethostname(own.data(), own.size() - 1) == 0 && is_named(host, own.data());
}

// Parsed as getaddrinfo() does, which accepts 0x7f000001 as an address, too.
std::optional<IpAddress> read_address(std::string_view host) {
  if (const auto address = parse_ip_address(host)) return address;
  in_addr v4;
  if (::inet_aton(std::string(host).c_str(), &v4) == 0) return std::nullopt;
  IpAddress address = kAnyV4;
  std::memcpy(&address.bytes[12], &v4, 4);
  return address;
}

// The addresses of this machine's interfaces; read each time, since they may change.
std::vector<IpAddress> interface_addresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, ::freeifaddrs);
  std::vector<IpAddress> found;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    IpAddress address = kAnyV4;
    if (one->ifa_addr->sa_family == AF_INET) {
      sockaddr_in v4;
      std::memcpy(&v4, one->ifa_addr, sizeof v4);
      std::memcpy(&address.bytes[12], &v4.sin_addr, 4);
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 v6;
      std::memcpy(&v6, one->ifa_addr, sizeof v6);
      std::memcpy(address.bytes.data(), &v6.sin6_addr, 16);
    } else {
      continue;
    }
    found.push_back(address);
  }
  return found;
}

bool is_of_interface(const IpAddress& address) {
  const std::vector<IpAddress> all = interface_addresses();
  return std::find(all.begin(), all.end(), address) != all.end();
}

}  // namespace

bool is_own_address(const ListenAddress& listen, const IpAddress& address, std::uint16_t port) {
  const auto own = parse_ip_address(listen.address);
  if (!own || port == 0 || port != listen.port) return false;
  const IpAddress& to = address == kAnyV4 ? kLoopbackV4 : address == kAnyV6 ? kLoopbackV6 : address;
  if (to == *own) return true;
  if (*own != kAnyV6 && (*own != kAnyV4 || !to.is_v4())) return false;
  return kAllLoopbackV4.contains(to) || to == kLoopbackV6 || is_of_interface(to);
}

bool is_own_server(const ListenAddress& listen, std::string_view server) {
  const std::size_t colon = server.rfind(':');
  if (colon == server.npos) return false;
  std::uint16_t port = 0;
  std::from_chars(server.data() + colon + 1, server.data() + server.size(), port);
  std::string_view host = server.substr(0, colon);
  if (is_localhost(host)) {
    return is_own_address(listen, kLoopbackV4, port) || is_own_address(listen, kLoopbackV6, port);
  }
  // A listener on all addresses includes the machine's address, whichever that is.
  if (is_host_name(host)) {
    const auto own = parse_ip_address(listen.address);
    return own && (*own == kAnyV4 || *own == kAnyV6) && port != 0 && port == listen.port;
  }
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  const auto address = read_address(host);
  return address && is_own_address(listen, *address, port);
}

}  // namespace spillway::config
