#include "bench/load/endpoint.hpp"

#include <charconv>
#include <cstdint>

namespace spillway::load {

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  constexpr std::string_view scheme = "http://";
  if (text.starts_with(scheme)) text.remove_prefix(scheme.size());
  if (text.ends_with('/')) text.remove_suffix(1);
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;

  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;

  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  if (error || address.is_v6() != bracketed) return std::nullopt;
  return Endpoint(address, port);
}

}  // namespace spillway::load
