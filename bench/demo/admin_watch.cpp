#include "admin_watch.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "base/time.hpp"

namespace spillway::demo {
namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {
constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr Milliseconds kInterval{250};
}  // namespace

asio::awaitable<void> AdminWatch::follow(AdminWatch& watch) {
  asio::steady_timer timer(watch.io_);
  for (;;) {
    watch.latest_ = co_await ask_once(watch);
    timer.expires_after(kInterval);
    co_await timer.async_wait(kNoThrow);
  }
}

asio::awaitable<std::optional<ProxyView>> AdminWatch::ask_once(AdminWatch& watch) {
  tcp::socket socket(watch.io_);
  const auto [connect_error] = co_await socket.async_connect(watch.admin_, kNoThrow);
  if (connect_error) co_return std::nullopt;
  http::request<http::empty_body> request(http::verb::get, "/state", 11);
  request.set(http::field::host, "127.0.0.1");
  request.keep_alive(false);
  const auto [write_error, written] = co_await http::async_write(socket, request, kNoThrow);
  if (write_error) co_return std::nullopt;
  boost::beast::flat_buffer input;
  http::response<http::string_body> response;
  const auto [read_error, read] = co_await http::async_read(socket, input, response, kNoThrow);
  if (read_error || response.result() != http::status::ok) co_return std::nullopt;
  co_return parse_state(response.body());
}

}  // namespace spillway::demo
