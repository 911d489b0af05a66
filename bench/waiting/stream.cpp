#include "bench/waiting/stream.hpp"

#include <array>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace spillway::waiting_bench {
namespace asio = boost::asio;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view kEndOfHead = "\r\n\r\n";

std::string events_request(const std::string& cookie) {
  return "GET /_spillway/rooms/sale/events HTTP/1.1\r\nHost: shop.example\r\nCookie: " + cookie +
         "\r\nAccept: text/event-stream\r\nSec-Fetch-Site: same-origin\r\n"
         "Sec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n\r\n";
}

}  // namespace

void EventStream::close() {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

asio::awaitable<bool> EventStream::read(EventStream& stream) {
  std::array<char, 4096> bytes;
  const auto [error, count] =
      co_await stream.socket_.async_read_some(asio::buffer(bytes), kNoThrow);
  stream.input_.append(bytes.data(), count);
  co_return !error;
}

asio::awaitable<bool> EventStream::open(EventStream& stream, load::Endpoint proxy,
                                        std::string cookie) {
  const auto [error] = co_await stream.socket_.async_connect(proxy, kNoThrow);
  if (error) co_return false;
  const std::string request = events_request(cookie);
  const auto [write_error, written] =
      co_await asio::async_write(stream.socket_, asio::buffer(request), kNoThrow);
  bool goes_on = !write_error;
  while (goes_on && stream.input_.find(kEndOfHead) == std::string::npos)
    goes_on = co_await read(stream);
  const bool is_ok = goes_on && stream.input_.starts_with("HTTP/1.1 200");
  co_return is_ok;
}

// The bytes between events, chunk sizes among them, are no lines of an event.
std::optional<std::string> EventStream::take(std::string_view event) {
  const std::string opening = "event: " + std::string(event) + "\ndata: ";
  const auto at = input_.find(opening);
  if (at == std::string::npos) return std::nullopt;
  const auto begin = at + opening.size();
  const auto end = input_.find('\n', begin);
  if (end == std::string::npos) return std::nullopt;
  std::string data = input_.substr(begin, end - begin);
  input_.erase(0, end);
  return data;
}

asio::awaitable<std::optional<std::string>> EventStream::next(EventStream& stream,
                                                              std::string_view event) {
  for (;;) {
    std::optional<std::string> data = stream.take(event);
    if (data) co_return data;
    const bool goes_on = co_await read(stream);
    if (!goes_on) co_return std::nullopt;
  }
}

}  // namespace spillway::waiting_bench
