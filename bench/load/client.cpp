#include "bench/load/client.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "bench/load/kinds.hpp"
#include "bench/load/pages.hpp"

namespace spillway::load {
namespace asio = boost::asio;
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

asio::ip::address_v4 address_of(std::uint8_t tenant) {
  return tenant == 0 ? asio::ip::address_v4() : asio::ip::address_v4(kTenantAddresses + tenant);
}

}  // namespace

Client::Line::Line(asio::io_context& io, std::uint8_t owner)
    : connection(io, address_of(owner)), tenant(owner) {}

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
  auto chosen = line(arrivals_[due.number.arrival].tenant);
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
    const auto line = late.line.lock();
    if (!awaited_.waits(late.number) || !line) continue;
    line->timed_out = true;
    line->connection.reset();
  }
}

std::shared_ptr<Client::Line> Client::line(std::uint8_t tenant) {
  auto& idle = idle_[tenant];
  while (!idle.empty()) {
    auto last = std::move(idle.back());
    idle.pop_back();
    if (last->connection.is_reusable()) return last;
  }
  return std::make_shared<Line>(io_, tenant);
}

void Client::close_idle() {
  for (auto& idle : idle_) {
    for (const auto& line : idle) line->connection.reset();
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

asio::awaitable<void> Client::exchange(Client& client, std::shared_ptr<Line> line, Due due) {
  const Attempt attempt{client.arrivals_[due.number.arrival], due.number.attempt, due.at};
  client.observer_.sent(attempt, Clock::now() - (client.start_ + due.at));
  Ending ending = co_await ask(client, *line, due);
  if (line->timed_out) ending = {.fate = Fate::failed, .cause = std::string(kTimeout)};
  client.finish(due, ending);
  if (line->connection.is_open()) client.idle_[line->tenant].push_back(std::move(line));
}

asio::awaitable<Ending> Client::ask(Client& client, Line& line, const Due& due) {
  const Reply reply =
      co_await Connection::ask(line.connection, client.target_,
                               request_text(client.arrivals_[due.number.arrival], due.number));
  if (!reply.failure.empty()) co_return Ending{.fate = Fate::failed, .cause = reply.failure};
  const Response& response = reply.response;
  co_return ending_of(response.result_int(), value(response, "Proxy-Status"),
                      value(response, "Retry-After"), value(response, "Spillway-Degraded"));
}

}  // namespace spillway::load
