#include "proxy/request/owner/client_info.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

namespace spillway::proxy {

AddressText::AddressText(const IpAddress& address) {
  const char* const text =
      address.is_v4() ? ::inet_ntop(AF_INET, &address.bytes[12], text_.data(), text_.size())
                      : ::inet_ntop(AF_INET6, address.bytes.data(), text_.data(), text_.size());
  size_ = static_cast<std::uint8_t>(std::strlen(text));  // text_ has room for any address
}

ClientInfo info_of(const sockaddr_storage& peer, const Generation& generation) {
  ClientInfo info;
  info.recognised_by = generation.number;
  IpAddress ip;
  if (peer.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
    ip.bytes[10] = ip.bytes[11] = 0xff;
    std::memcpy(&ip.bytes[12], &v4.sin_addr, 4);
  } else if (peer.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
    std::memcpy(ip.bytes.data(), &v6.sin6_addr, 16);
  } else {
    return info;
  }
  info.text = AddressText(ip);
  info.peer = generation.classifier.peer(ip);
  return info;
}

}  // namespace spillway::proxy
