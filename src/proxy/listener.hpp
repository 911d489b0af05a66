// Accepts connections and hands each to the worker that has the fewest.
//
// Lives on the first worker's loop. Accepting pauses while the connection cap is reached or the
// process has no descriptors left, and goes on by itself; waiting clients stay in the backlog.
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "config/config.hpp"

namespace spillway::proxy {

class Worker;

class Listener {
 public:
  // Binds and listens; throws std::runtime_error naming the address when it cannot.
  Listener(const config::Listen& address, std::uint32_t most_connections,
           std::vector<std::unique_ptr<Worker>>& workers);

  std::uint16_t port() const { return port_; }

  // All on the first worker's thread (or before it runs).
  void start();
  void set_most_connections(std::uint32_t most) { most_connections_ = most; }
  // Takes in what is in the backlog already, then listens no more.
  void stop();

 private:
  using Executor = boost::asio::io_context::executor_type;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor>;
  static constexpr Milliseconds kPause{50};

  void wait();
  // False when accepting has to pause.
  bool accept_all();
  void pause();

  std::vector<std::unique_ptr<Worker>>& workers_;
  boost::asio::posix::basic_stream_descriptor<Executor> socket_;
  Timer timer_;
  std::uint32_t most_connections_;
  std::uint16_t port_ = 0;
};

}  // namespace spillway::proxy
