// Where to send requests: an address and a port, written as http://127.0.0.1:8080.
#pragma once

#include <optional>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

namespace spillway::load {

using Endpoint = boost::asio::ip::tcp::endpoint;

// Accepts [http://]ADDRESS:PORT with an IPv4 or [IPv6] address and no path but "/"; nullopt
// for anything else.
std::optional<Endpoint> parse_endpoint(std::string_view text);

}  // namespace spillway::load
