#include "bench/overload/metrics_page.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

namespace spillway::bench {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds kPatience{2};

asio::awaitable<void> ask(std::uint16_t port, std::optional<std::string>& page) {
  beast::tcp_stream stream(co_await asio::this_coro::executor);
  stream.expires_after(kPatience);
  const asio::ip::tcp::endpoint admin(asio::ip::address_v4::loopback(), port);
  const auto [unconnected] = co_await stream.async_connect(admin, kNoThrow);
  if (unconnected) co_return;
  http::request<http::empty_body> request(http::verb::get, "/metrics", 11);
  request.set(http::field::host, "127.0.0.1");
  const auto [unsent, sent] = co_await http::async_write(stream, request, kNoThrow);
  if (unsent) co_return;
  beast::flat_buffer input;
  http::response<http::string_body> response;
  const auto [unread, read] = co_await http::async_read(stream, input, response, kNoThrow);
  if (!unread && response.result() == http::status::ok) page = std::move(response).body();
}

}  // namespace

std::optional<std::string> metrics_page(std::uint16_t admin_port) {
  asio::io_context io(1);
  std::optional<std::string> page;
  asio::co_spawn(io, ask(admin_port, page), asio::detached);
  io.run();
  return page;
}

std::optional<std::uint64_t> sum_of(std::string_view page, std::string_view counter) {
  std::optional<double> sum;
  while (!page.empty()) {
    const std::string_view line = page.substr(0, page.find('\n'));
    page.remove_prefix(std::min(line.size() + 1, page.size()));
    if (!line.starts_with(counter)) continue;
    const char next = line.size() > counter.size() ? line[counter.size()] : '\0';
    if (next != '{' && next != ' ') continue;  // another counter, or none
    sum = sum.value_or(0) +
          std::strtod(std::string(line.substr(line.rfind(' ') + 1)).c_str(), nullptr);
  }
  if (!sum) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(*sum));
}

}  // namespace spillway::bench
