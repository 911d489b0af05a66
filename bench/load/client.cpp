#include "bench/load/client.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string_view>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>

#include "bench/load/kinds.hpp"
#include "bench/load/pages.hpp"

namespace spillway::load {
namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr Milliseconds kSweep{5};  // how exactly the patience is kept
constexpr std::size_t kTenants = 1 + std::numeric_limits<std::uint8_t>::max();
constexpr std::uint32_t kTenantAddresses = 0x7f000100;  // 127.0.1.0

std::string request_text(const Arrival& arrival, const RequestNumber& number) {
  const Kind& kind = kKinds[arrival.kind];
  std::string text;
  text.append(kind.method).append(" ").append(path_of(kind.path, arrival.page));
  text.append(" HTTP/1.1\r\n");
  text.append("Host: demo.example\r\nAccept: application/json\r\n");
  text.append(kNumberField).append(": ").append(text_of(number)).append("\r\n");
  text.append(kind.fields);
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

// A reset instead of a close: thousands of connections in TIME_WAIT would use up the ports.
template <class Socket>
void reset(Socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

// Nothing to read and not at its end: what a browser asks of a kept connection before it uses it.
template <class Socket>
bool still_open(Socket& socket) {
  char byte = 0;
  const auto peeked = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return peeked < 0 && errno == EAGAIN;
}

template <class Socket>
void come_from(Socket& socket, std::uint8_t tenant, boost::system::error_code& error) {
  if (tenant == 0) return;
  socket.open(tcp::v4(), error);
  const int on = 1;  // the port is chosen when it is known where to: many share one
  if (!error)
    setsockopt(socket.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  if (!error) socket.bind({asio::ip::make_address_v4(kTenantAddresses + tenant), 0}, error);
}

}  // namespace

Client::Client(asio::io_context& io, const tcp::endpoint& target, std::span<const Arrival> arrivals,
               Observer& observer, ClientOptions options)
    : io_(io),
      target_(target),
      arrivals_(arrivals),
      observer_(observer),
      options_(options),
      awaited_(arrivals.size()),
      idle_(kTenants) {}

asio::awaitable<void> Client::run(TimePoint start) {
  start_ = start;
  asio::steady_timer timer(io_);
  while (!finished()) {
    const TimePoint now = Clock::now();
    send_due(now);
    give_up_on_late(now);
    timer.expires_at(std::min(now + kSweep, start_ + next_due().at));
    co_await timer.async_wait(kNoThrow);
  }
  close_idle();
}

bool Client::finished() const {
  return next_ == arrivals_.size() && again_.empty() && in_flight_ == 0;
}

// Weeks away when nothing more is known to be due.
Client::Due Client::next_due() const {
  Due due{.at = std::chrono::hours(1000)};
  if (next_ < arrivals_.size()) due = {arrivals_[next_].at, {next_, 1}};
  return again_.empty() || again_.top().at >= due.at ? due : again_.top();
}

void Client::send_due(TimePoint now) {
  for (Due due = next_due(); start_ + due.at <= now; due = next_due()) {
    if (due.number.attempt > 1) {
      again_.pop();
    } else {
      ++next_;
    }
    send(due);
  }
}

void Client::send(const Due& due) {
  auto chosen = connection(arrivals_[due.number.arrival].tenant);
  awaited_.begin(due.number);
  pending_.push_back({start_ + due.at + options_.patience, chosen, due.number});
  ++in_flight_;
  asio::co_spawn(io_, exchange(*this, std::move(chosen), due), asio::detached);
}

void Client::give_up_on_late(TimePoint now) {
  while (!pending_.empty() &&
         (!awaited_.waits(pending_.front().number) || pending_.front().deadline <= now)) {
    const Pending late = std::move(pending_.front());
    pending_.pop_front();
    const auto connection = late.connection.lock();
    if (!awaited_.waits(late.number) || !connection) continue;
    connection->timed_out = true;
    reset(connection->socket);
  }
}

std::shared_ptr<Client::Connection> Client::connection(std::uint8_t tenant) {
  auto& idle = idle_[tenant];
  while (!idle.empty()) {
    auto last = std::move(idle.back());
    idle.pop_back();
    if (still_open(last->socket)) return last;
  }
  return std::make_shared<Connection>(io_, tenant);
}

void Client::close_idle() {
  for (auto& idle : idle_) {
    for (const auto& connection : idle) reset(connection->socket);
    idle.clear();
  }
}

void Client::finish(const Due& due, const Ending& ending) {
  const Duration now = Clock::now() - start_;
  const Duration pause =
      pause_before_retry(options_.retries, due.number, ending).value_or(Duration::max());
  const bool again = pause <= options_.last - now;
  awaited_.end(due.number, ending.fate == Fate::ok);
  --in_flight_;
  if (again) again_.push({now + pause, {due.number.arrival, due.number.attempt + 1}});
  const Attempt attempt{arrivals_[due.number.arrival], due.number.attempt, due.at};
  observer_.ended(attempt, ending, now - due.at, again);
}

asio::awaitable<void> Client::exchange(Client& client, std::shared_ptr<Connection> c, Due due) {
  const Attempt attempt{client.arrivals_[due.number.arrival], due.number.attempt, due.at};
  client.observer_.sent(attempt, Clock::now() - (client.start_ + due.at));
  Ending ending = co_await ask(client, *c, due);
  if (c->timed_out) ending = {.fate = Fate::failed, .cause = std::string(kTimeout)};
  client.finish(due, ending);
  if (c->socket.is_open()) client.idle_[c->tenant].push_back(std::move(c));
}

// Leaves the socket open only if it can carry another request.
asio::awaitable<Ending> Client::ask(Client& client, Connection& c, const Due& due) {
  boost::system::error_code error;
  boost::system::error_code ignored;
  if (!c.socket.is_open()) {
    come_from(c.socket, c.tenant, error);
    if (!error) {
      const auto [connect_error] = co_await c.socket.async_connect(client.target_, kNoThrow);
      error = connect_error;
    }
    if (error) {
      c.socket.close(ignored);
      co_return Ending{.fate = Fate::failed, .cause = "connect: " + error.message()};
    }
    c.socket.set_option(tcp::no_delay(true), ignored);
  }
  const std::string request = request_text(client.arrivals_[due.number.arrival], due.number);
  const auto [write_error, written] =
      co_await asio::async_write(c.socket, asio::buffer(request), kNoThrow);
  http::response_parser<http::string_body> response;
  error = write_error;
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

}  // namespace spillway::load
