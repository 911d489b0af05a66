#include "client.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>

#include "pages.hpp"

namespace spillway::demo {
namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr Milliseconds kSweep{5};  // how exactly the patience is kept

std::string request_text(const Arrival& arrival) {
  const Kind& kind = kKinds[arrival.kind];
  std::string text;
  text.append(kind.method).append(" ").append(path_of(kind.path, arrival.page));
  text.append(" HTTP/1.1\r\n");
  text.append("Host: demo.example\r\nAccept: application/json\r\n");
  if (!kind.body.empty()) {
    text.append("Content-Type: application/json\r\nContent-Length: ");
    text.append(std::to_string(kind.body.size())).append("\r\n");
  }
  return text.append("\r\n").append(kind.body);
}

std::string_view value(const http::fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  if (found == fields.end()) return {};
  return {found->value().data(), found->value().size()};
}

}  // namespace

Client::Client(asio::io_context& io, const tcp::endpoint& target, std::span<const Arrival> arrivals,
               Tally& tally, Duration patience)
    : io_(io),
      target_(target),
      arrivals_(arrivals),
      tally_(tally),
      patience_(patience),
      ended_(arrivals.size()) {}

asio::awaitable<void> Client::run(TimePoint start) {
  start_ = start;
  asio::steady_timer timer(io_);
  while (next_ < arrivals_.size() || in_flight_ > 0) {
    const TimePoint now = Clock::now();
    send_due(now);
    give_up_on_late(now);
    TimePoint wake = now + kSweep;
    if (next_ < arrivals_.size()) wake = std::min(wake, start_ + arrivals_[next_].at);
    timer.expires_at(wake);
    co_await timer.async_wait(kNoThrow);
  }
  idle_.clear();
}

void Client::send_due(TimePoint now) {
  for (; next_ < arrivals_.size() && start_ + arrivals_[next_].at <= now; ++next_) {
    const Arrival& arrival = arrivals_[next_];
    const TimePoint intended = start_ + arrival.at;
    tally_.offered(arrival, now - intended);
    auto chosen = connection();
    pending_.push_back({intended + patience_, chosen, next_});
    ++in_flight_;
    asio::co_spawn(io_, exchange(*this, std::move(chosen), next_), asio::detached);
  }
}

void Client::give_up_on_late(TimePoint now) {
  while (!pending_.empty() &&
         (ended_[pending_.front().number] || pending_.front().deadline <= now)) {
    const Pending late = std::move(pending_.front());
    pending_.pop_front();
    const auto connection = late.connection.lock();
    if (ended_[late.number] || !connection) continue;
    connection->timed_out = true;
    boost::system::error_code ignored;
    // A reset instead of a close: thousands of connections in TIME_WAIT would use up the ports.
    connection->socket.set_option(asio::socket_base::linger(true, 0), ignored);
    connection->socket.close(ignored);
  }
}

std::shared_ptr<Client::Connection> Client::connection() {
  if (idle_.empty()) return std::make_shared<Connection>(io_);
  auto last = std::move(idle_.back());
  idle_.pop_back();
  return last;
}

asio::awaitable<void> Client::exchange(Client& client, std::shared_ptr<Connection> c,
                                       std::size_t number) {
  const Arrival& arrival = client.arrivals_[number];
  Ending ending = co_await ask(client, *c, arrival);
  if (c->timed_out) ending = {.fate = Fate::failed, .cause = "timeout"};
  client.ended_[number] = true;
  --client.in_flight_;
  client.tally_.ended(arrival, ending, Clock::now() - (client.start_ + arrival.at));
  if (c->socket.is_open()) client.idle_.push_back(std::move(c));
}

// Leaves the socket open only if it can carry another request.
asio::awaitable<Ending> Client::ask(Client& client, Connection& c, const Arrival& arrival) {
  boost::system::error_code ignored;
  if (!c.socket.is_open()) {
    const auto [error] = co_await c.socket.async_connect(client.target_, kNoThrow);
    if (error) {
      c.socket.close(ignored);
      co_return Ending{.fate = Fate::failed, .cause = "connect: " + error.message()};
    }
    c.socket.set_option(tcp::no_delay(true), ignored);
  }
  const std::string request = request_text(arrival);
  const auto [write_error, written] =
      co_await asio::async_write(c.socket, asio::buffer(request), kNoThrow);
  http::response_parser<http::string_body> response;
  boost::system::error_code error = write_error;
  if (!error) {
    const auto [read_error, bytes] =
        co_await http::async_read(c.socket, c.input, response, kNoThrow);
    error = read_error;
  }
  if (error) {
    c.socket.close(ignored);
    co_return Ending{.fate = Fate::failed, .cause = "broken: " + error.message()};
  }
  const auto& message = response.get();
  if (!message.keep_alive()) c.socket.close(ignored);
  co_return ending_of(message.result_int(), value(message, "Proxy-Status"),
                      value(message, "Retry-After"), value(message, "Spillway-Degraded"));
}

}  // namespace spillway::demo
