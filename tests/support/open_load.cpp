#include "support/open_load.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/random.hpp"

namespace spillway::support {

namespace asio = boost::asio;
using asio::ip::tcp;
using TestClock = std::chrono::steady_clock;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kRefusalsKept = 100;

struct Arrival {
  TestClock::duration at;
  std::size_t stream;
};

std::vector<Arrival> arrivals_of(const std::vector<LoadStream>& streams, Milliseconds length) {
  Random random(42);
  std::vector<Arrival> arrivals;
  for (std::size_t s = 0; s < streams.size(); ++s) {
    double at = 0;  // seconds
    for (;;) {
      at -= std::log(1 - random.uniform()) / streams[s].per_second;
      const std::chrono::duration<double> instant(at);
      if (instant >= length) break;
      arrivals.push_back({std::chrono::duration_cast<TestClock::duration>(instant), s});
    }
  }
  std::sort(arrivals.begin(), arrivals.end(),
            [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
  return arrivals;
}

struct Connection {
  explicit Connection(asio::io_context& io) : socket(io), patience(io) {}
  tcp::socket socket;
  asio::steady_timer patience;
  std::string received;
  bool given_up = false;
};

class Load {
 public:
  Load(std::uint16_t port, const std::vector<LoadStream>& streams, Milliseconds patience)
      : target_(asio::ip::address_v4::loopback(), port),
        streams_(streams),
        patience_(patience),
        results_(streams.size()) {}

  std::vector<LoadResult> run(const std::vector<Arrival>& arrivals) {
    asio::co_spawn(io_, send_all(arrivals), asio::detached);
    io_.run();
    return std::move(results_);
  }

 private:
  asio::awaitable<void> send_all(const std::vector<Arrival>& arrivals) {
    asio::steady_timer timer(io_);
    const auto start = TestClock::now();
    for (const Arrival& arrival : arrivals) {
      if (start + arrival.at > TestClock::now()) {
        timer.expires_at(start + arrival.at);
        co_await timer.async_wait(kNoThrow);
      }
      asio::co_spawn(io_, exchange(arrival.stream), asio::detached);
    }
  }

  asio::awaitable<void> exchange(std::size_t stream) {
    LoadResult& result = results_[stream];
    ++result.sent;
    std::shared_ptr<Connection> connection;
    if (idle_.empty()) {
      connection = std::make_shared<Connection>(io_);
    } else {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
    connection->given_up = false;
    connection->patience.expires_after(patience_);
    connection->patience.async_wait([connection](const boost::system::error_code& stopped) {
      if (stopped) return;
      connection->given_up = true;
      boost::system::error_code ignored;
      connection->socket.close(ignored);
    });
    const std::optional<Message> answer = co_await ask(*connection, streams_[stream].request);
    connection->patience.cancel();
    if (!answer) {
      ++(connection->given_up ? result.given_up : result.unanswered);
      co_return;
    }
    ++result.by_status[answer->status()];
    if (answer->status() != 200 && result.refusals.size() < kRefusalsKept) {
      result.refusals.push_back(*answer);
    }
    if (answer->field("Connection") != "close") idle_.push_back(connection);
  }

  asio::awaitable<std::optional<Message>> ask(Connection& connection, const std::string& request) {
    if (!connection.socket.is_open()) {
      const auto [error] = co_await connection.socket.async_connect(target_, kNoThrow);
      if (error) co_return std::nullopt;
      boost::system::error_code ignored;
      connection.socket.set_option(tcp::no_delay(true), ignored);
    }
    const auto [write_error, written] =
        co_await asio::async_write(connection.socket, asio::buffer(request), kNoThrow);
    if (write_error) co_return std::nullopt;
    std::array<char, 4096> block;
    for (;;) {
      auto message = take_message(connection.received, Expected::response, false);
      if (message) co_return message;
      const auto [error, size] =
          co_await connection.socket.async_read_some(asio::buffer(block), kNoThrow);
      if (error) co_return std::nullopt;
      connection.received.append(block.data(), size);
    }
  }

  asio::io_context io_{1};
  tcp::endpoint target_;
  const std::vector<LoadStream>& streams_;
  Milliseconds patience_;
  std::vector<LoadResult> results_;
  std::vector<std::shared_ptr<Connection>> idle_;
};

}  // namespace

std::uint64_t LoadResult::answered(int status) const {
  const auto found = by_status.find(status);
  return found == by_status.end() ? 0 : found->second;
}

std::vector<LoadResult> run_open_load(std::uint16_t port, const std::vector<LoadStream>& streams,
                                      Milliseconds length, Milliseconds patience) {
  return Load(port, streams, patience).run(arrivals_of(streams, length));
}

void raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace spillway::support
