// Sends a schedule of requests open loop and says what became of them.
//
// Connections are kept alive and reused, the most recently used first; when none is idle a
// new one is opened, as a crowd of browsers would. A request not answered completely within
// `patience` of the instant at which it was due counts as failed and its connection is reset.
// Arrivals of a tenant other than 0 come from an address of its own: 127.0.1.TENANT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/time.hpp"
#include "bench/load/arrivals.hpp"
#include "bench/load/awaited.hpp"
#include "bench/load/connection.hpp"
#include "bench/load/observer.hpp"
#include "bench/load/retries.hpp"

namespace spillway::load {

inline constexpr Milliseconds kPatience{1000};

struct ClientOptions {
  Duration patience = kPatience;  // of each attempt
  Retries retries{};
  Duration last = Duration::max();  // since the start; no retry is sent later
};

// Lives on one thread: the one that runs `io`.
class Client {
 public:
  Client(boost::asio::io_context& io, const boost::asio::ip::tcp::endpoint& target,
         std::span<const Arrival> arrivals, Observer& observer, ClientOptions options = {});

  // Sends every arrival at `start` + its instant and returns when all have ended, which without
  // retries is the patience after the last at the latest.
  boost::asio::awaitable<void> run(TimePoint start);

  // Of the attempts of this client; other threads may read it.
  const Awaited& awaited() const { return awaited_; }

 private:
  struct Line {
    Line(boost::asio::io_context& io, std::uint8_t owner);
    Connection connection;
    std::uint8_t tenant;
    bool timed_out = false;
  };
  struct Due {
    Duration at{};  // since the start
    RequestNumber number;
    bool operator>(const Due& other) const { return at > other.at; }
  };
  struct Pending {
    TimePoint deadline;
    std::weak_ptr<Line> line;
    RequestNumber number;  // to tell this attempt from the next on the connection
  };

  bool finished() const;
  Due next_due() const;
  void send_due(TimePoint now);
  void send(const Due& due);
  void give_up_on_late(TimePoint now);
  std::shared_ptr<Line> line(std::uint8_t tenant);
  void finish(const Due& due, const Ending& ending);
  void close_idle();
  static boost::asio::awaitable<void> exchange(Client& client, std::shared_ptr<Line> line, Due due);
  static boost::asio::awaitable<Ending> ask(Client& client, Line& line, const Due& due);

  boost::asio::io_context& io_;
  boost::asio::ip::tcp::endpoint target_;
  std::span<const Arrival> arrivals_;
  Observer& observer_;
  ClientOptions options_;
  Awaited awaited_;
  std::vector<std::vector<std::shared_ptr<Line>>> idle_;  // by tenant
  std::deque<Pending> pending_;  // one patience for all, so the deadlines come in order
  std::priority_queue<Due, std::vector<Due>, std::greater<>> again_;
  std::uint32_t next_ = 0;
  std::size_t in_flight_ = 0;
  TimePoint start_;
};

}  // namespace spillway::load
