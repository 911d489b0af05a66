#include "traffic/client/client_address.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "http/field/ascii.hpp"
#include "http/outgoing/forwarded.hpp"

namespace spillway::traffic {
namespace {

// Follows the chain of proxies from right to left.
class Walk {
 public:
  Walk(const IpAddress& peer, const TrustedPeers& trusted) : client_(peer), trusted_(trusted) {}

  // False once the walk has ended.
  bool pass(std::string_view list) {
    for (;;) {
      const std::size_t comma = list.rfind(',');
      const bool is_last = comma == std::string_view::npos;
      const std::string_view entry = http::trim(is_last ? list : list.substr(comma + 1));
      if (!entry.empty()) {
        const std::optional<IpAddress> address = parse_ip_address(http::address_in(entry));
        if (!address) return false;
        client_ = *address;
        if (!trusted_.contains(client_)) return false;
      }
      if (is_last) return true;
      list = list.substr(0, comma);
    }
  }
  const IpAddress& client() const { return client_; }

 private:
  IpAddress client_;
  const TrustedPeers& trusted_;
};

}  // namespace

IpAddress client_behind(const IpAddress& peer, const http::FieldList& fields,
                        const TrustedPeers& trusted) {
  Walk walk(peer, trusted);
  for (std::size_t i = fields.size(); i-- > 0;) {
    if (http::iequals(fields[i].name, "X-Forwarded-For") && !walk.pass(fields[i].value)) break;
  }
  return walk.client();
}

IpAddress network_of(const IpAddress& address, PrefixLength length) {
  IpAddress network = address;
  const std::size_t kept = address.is_v4() ? 12 + length.v4 / 8 : length.v6 / 8;
  std::fill(network.bytes.begin() + static_cast<std::ptrdiff_t>(kept), network.bytes.end(), 0);
  return network;
}

NetworkText::NetworkText(const IpAddress& network, PrefixLength length) {
  char* to = text_.data();
  char* const end = to + text_.size();
  const auto put = [&](std::string_view text) { to = std::copy(text.begin(), text.end(), to); };
  if (network.is_v4()) {
    for (std::size_t i = 12; i < 16; ++i) {
      if (i > 12) put(".");
      to = std::to_chars(to, end, network.bytes[i]).ptr;
    }
  } else {
    // The lower half is zero, so the trailing zeros are always the longest run.
    std::size_t groups = length.v6 / 16;
    const auto group = [&](std::size_t i) {
      return static_cast<unsigned>(network.bytes[2 * i] << 8 | network.bytes[2 * i + 1]);
    };
    while (groups > 0 && group(groups - 1) == 0) --groups;
    for (std::size_t i = 0; i < groups; ++i) {
      if (i > 0) put(":");
      to = std::to_chars(to, end, group(i), 16).ptr;
    }
    put("::");
  }
  if (!network.is_v4() || length.v4 < 32) {
    put("/");
    to = std::to_chars(to, end, network.is_v4() ? length.v4 : length.v6).ptr;
  }
  size_ = static_cast<std::uint8_t>(to - text_.data());
}

}  // namespace spillway::traffic
