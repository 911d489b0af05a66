// Sends a schedule of requests open loop and tallies what became of them.
//
// Connections are kept alive and reused, the most recently used first; when none is idle a
// new one is opened, as a crowd of browsers would. A request not answered completely within
// `patience` of its intended instant counts as failed and its connection is reset.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "arrivals.hpp"
#include "base/time.hpp"
#include "tally.hpp"

namespace spillway::demo {

inline constexpr Milliseconds kPatience{1000};

// Lives on one thread: the one that runs `io`.
class Client {
 public:
  Client(boost::asio::io_context& io, const boost::asio::ip::tcp::endpoint& target,
         std::span<const Arrival> arrivals, Tally& tally, Duration patience = kPatience);

  // Sends every arrival at `start` + its instant and returns when all have ended, which is
  // the patience after the last at the latest.
  boost::asio::awaitable<void> run(TimePoint start);

 private:
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                                  boost::asio::io_context::executor_type>;

  struct Connection {
    explicit Connection(boost::asio::io_context& io) : socket(io) {}
    Socket socket;
    boost::beast::flat_buffer input;
    bool timed_out = false;
  };
  struct Pending {
    TimePoint deadline;
    std::weak_ptr<Connection> connection;
    std::size_t number;  // of the arrival, to tell this request from the next on the connection
  };

  std::shared_ptr<Connection> connection();
  void send_due(TimePoint now);
  void give_up_on_late(TimePoint now);
  static boost::asio::awaitable<void> exchange(Client& client, std::shared_ptr<Connection> c,
                                               std::size_t number);
  static boost::asio::awaitable<Ending> ask(Client& client, Connection& c, const Arrival& arrival);

  boost::asio::io_context& io_;
  boost::asio::ip::tcp::endpoint target_;
  std::span<const Arrival> arrivals_;
  Tally& tally_;
  Duration patience_;
  std::vector<std::shared_ptr<Connection>> idle_;
  std::deque<Pending> pending_;  // one patience for all, so the deadlines come in order
  std::vector<bool> ended_;      // by arrival
  std::size_t next_ = 0;
  std::size_t in_flight_ = 0;
  TimePoint start_;
};

}  // namespace spillway::demo
