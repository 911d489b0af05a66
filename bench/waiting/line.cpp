#include "bench/waiting/line.hpp"

#include <stdexcept>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "bench/crowd/status.hpp"
#include "bench/load/connection.hpp"

namespace spillway::waiting_bench {
namespace asio = boost::asio;

namespace {

constexpr std::size_t kAtATime = 32;

struct Coming {
  load::Endpoint proxy;
  std::size_t left = 0;  // to come
  std::vector<std::string> cookies{};
  std::string failure{};
};

asio::awaitable<std::string> cookie_after(load::Connection& connection, Coming& all,
                                          std::string request) {
  const load::Reply reply =
      co_await load::Connection::ask(connection, all.proxy, std::move(request));
  if (!reply.failure.empty()) {
    all.failure = reply.failure;
    co_return std::string();
  }
  const auto value = crowd::cookie_of(reply.response, kCookie);
  if (!value) all.failure = "a visitor got no cookie: " + reply.response.body();
  co_return value ? std::string(kCookie) + "=" + *value : std::string();
}

asio::awaitable<void> come(asio::io_context& io, Coming& all) {
  load::Connection connection(io);
  while (all.left > 0 && all.failure.empty()) {
    --all.left;
    const std::string stamp = co_await cookie_after(connection, all, page_request(kPage, ""));
    if (!all.failure.empty()) break;
    std::string ticket = co_await cookie_after(connection, all, poll_request(stamp));
    all.cookies.push_back(std::move(ticket));
  }
  connection.reset();
}

}  // namespace

std::string page_request(const std::string& path, const std::string& cookie) {
  return "GET " + path + " HTTP/1.1\r\nHost: shop.example\r\n" +
         (cookie.empty() ? "" : "Cookie: " + cookie + "\r\n") +
         "Accept: text/html\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n"
         "Sec-Fetch-Dest: document\r\n\r\n";
}

std::string poll_request(const std::string& cookie) {
  return std::string("GET ") + kTicket + " HTTP/1.1\r\nHost: shop.example\r\nCookie: " + cookie +
         "\r\nAccept: application/json\r\nSec-Fetch-Site: same-origin\r\n"
         "Sec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n\r\n";
}

StandingLine stand_in_line(asio::io_context& io, load::Endpoint proxy, std::size_t visitors) {
  Coming all{.proxy = proxy, .left = visitors};
  const TimePoint begin = Clock::now();
  io.restart();
  for (std::size_t n = 0; n < kAtATime; ++n) asio::co_spawn(io, come(io, all), asio::detached);
  io.run();
  if (!all.failure.empty()) throw std::runtime_error(all.failure);
  return {.cookies = std::move(all.cookies), .took = Clock::now() - begin};
}

}  // namespace spillway::waiting_bench
