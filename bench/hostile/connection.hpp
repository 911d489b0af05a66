// One connection of a malicious client, which pays for each byte from the means of its crowd.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/time.hpp"
#include "bench/hostile/usage.hpp"

namespace spillway::hostile {

// Spreads what is spent evenly over time: `rate` units a second.
class Pace {
 public:
  explicit Pace(double rate) : rate_(rate) {}

  // When `amount` may be spent, which from now on counts as spent.
  TimePoint spend(double amount, TimePoint now) {
    const TimePoint at = next_ > now ? next_ : now;
    next_ = at + from_seconds(amount / rate_);
    return at;
  }

 private:
  double rate_;
  TimePoint next_{};
};

// Of all connections of a crowd.
struct Means {
  Pace connects;  // connections
  Pace bytes;     // payload, both ways
};

struct Route {
  boost::asio::ip::tcp::endpoint to;
  boost::asio::ip::address_v4 from;
  int receive_buffer = 0;  // bytes; 0: what the kernel gives
};

// Lives on one thread: the one that runs `io`. All awaitables return false or 0 once it has ended.
class Connection {
 public:
  Connection(boost::asio::io_context& io, Means& means, Ledger& ledger);
  ~Connection() { end(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  boost::asio::awaitable<bool> open(const Route& route);
  boost::asio::awaitable<bool> send(std::string_view bytes);
  boost::asio::awaitable<bool> pause(Duration time);
  // Waits for bytes and takes at most so many; 0: the other side has ended.
  boost::asio::awaitable<std::size_t> receive(std::size_t most);
  // Reads and forgets for that long; false: the other side has ended.
  boost::asio::awaitable<bool> read_for(Duration time);
  // Reads and forgets until the other side has ended.
  boost::asio::awaitable<void> await_end();
  void half_close();

  // Resets the connection, and nothing waits any longer. A close would leave thousands of
  // connections in TIME_WAIT.
  void end();

 private:
  boost::asio::awaitable<bool> wait_until(TimePoint when);

  boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>
      socket_;
  boost::asio::steady_timer timer_;
  Means& means_;
  Ledger& ledger_;
  std::array<char, 4096> taken_;
  bool counted_ = false;
  bool ended_ = false;
};

}  // namespace spillway::hostile
