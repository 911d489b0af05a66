#include "bench/hostile/connection.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "bench/hostile/traffic.hpp"

namespace spillway::hostile {
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {
constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
}  // namespace

Connection::Connection(asio::io_context& io, Means& means, Ledger& ledger)
    : socket_(io), timer_(io), means_(means), ledger_(ledger) {}

asio::awaitable<bool> Connection::wait_until(TimePoint when) {
  if (ended_) co_return false;
  if (when > Clock::now()) {
    timer_.expires_at(when);
    co_await timer_.async_wait(kNoThrow);
  }
  co_return !ended_;
}

asio::awaitable<bool> Connection::open(const Route& route) {
  const bool go_on = co_await wait_until(means_.connects.spend(1, Clock::now()));
  if (!go_on) co_return false;
  boost::system::error_code error;
  socket_.open(tcp::v4(), error);
  if (error) co_return false;
  ledger_.open();
  counted_ = true;
  const int on = 1;  // the port is chosen when it is known where to: many share one
  setsockopt(socket_.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  if (route.receive_buffer > 0)  // before connecting: the window is announced then
    socket_.set_option(asio::socket_base::receive_buffer_size(route.receive_buffer), error);
  socket_.bind({route.from, 0}, error);
  if (error) co_return false;
  const auto [failed] = co_await socket_.async_connect(route.to, kNoThrow);
  if (failed || ended_) co_return false;
  socket_.set_option(tcp::no_delay(true), error);
  co_return true;
}

asio::awaitable<bool> Connection::send(std::string_view bytes) {
  const bool go_on =
      co_await wait_until(means_.bytes.spend(static_cast<double>(bytes.size()), Clock::now()));
  if (!go_on) co_return false;
  const auto [error, sent] =
      co_await asio::async_write(socket_, asio::buffer(bytes.data(), bytes.size()), kNoThrow);
  co_return !error && !ended_;
}

asio::awaitable<bool> Connection::pause(Duration time) {
  const bool go_on = co_await wait_until(Clock::now() + time);
  co_return go_on;
}

asio::awaitable<std::size_t> Connection::receive(std::size_t most) {
  if (ended_) co_return 0;
  const auto [error, got] = co_await socket_.async_read_some(
      asio::buffer(taken_.data(), std::min(most, taken_.size())), kNoThrow);
  if (error || ended_) co_return 0;
  means_.bytes.spend(static_cast<double>(got), Clock::now());
  co_return got;
}

asio::awaitable<bool> Connection::read_for(Duration time) {
  using namespace asio::experimental::awaitable_operators;
  const TimePoint end = Clock::now() + time;
  while (!ended_ && Clock::now() < end) {
    timer_.expires_at(end);
    const auto first = co_await (timer_.async_wait(kNoThrow) ||
                                 socket_.async_wait(tcp::socket::wait_read, kNoThrow));
    if (first.index() == 0) break;
    const std::size_t got = co_await receive(taken_.size());
    if (got == 0) co_return false;
  }
  co_return !ended_;
}

asio::awaitable<void> Connection::await_end() {
  for (std::size_t got = 1; got > 0;) got = co_await receive(taken_.size());
}

void Connection::half_close() {
  boost::system::error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void Connection::end() {
  if (ended_) return;
  ended_ = true;
  timer_.cancel();
  if (!socket_.is_open()) return;
  if (counted_) ledger_.close(bytes_of(socket_.native_handle()).value_or(0));
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

}  // namespace spillway::hostile
