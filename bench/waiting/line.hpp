// Visitors who stand in line: each has a ticket, which is its cookie.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/time.hpp"
#include "bench/load/endpoint.hpp"

namespace spillway::waiting_bench {

inline constexpr const char* kPage = "/sale/page";
inline constexpr const char* kTicket = "/_spillway/rooms/sale/ticket";
inline constexpr const char* kCookie = "spillway-sale";

struct StandingLine {
  std::vector<std::string> cookies;  // "name=value"
  Duration took{};
};

// So many visitors come, some at a time, each with a first contact and a second one. Throws
// std::runtime_error if one of them gets no ticket.
StandingLine stand_in_line(boost::asio::io_context& io, load::Endpoint proxy, std::size_t visitors);

// GET of a page by navigation, and of JSON by its script.
std::string page_request(const std::string& path, const std::string& cookie);
std::string poll_request(const std::string& cookie);

}  // namespace spillway::waiting_bench
