// Accepts connections with an Asio acceptor on the first worker's loop and hands each to the worker
// with the fewest connections among those that keep up (next_worker).
//
// Accepting pauses while clients wait and the connection cap is reached, or no descriptors are
// left: until a connection ends, and for 50 ms at a time. Meanwhile these clients stay in the
// backlog, and the workers' sweeps make as many connections end, idle ones first. A connection from
// an address that already has limits.connections_per_address is closed at once with a reset: that
// costs one accept(2) and leaves no socket in TIME_WAIT.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "config/config.hpp"
#include "observe/count/counter.hpp"
#include "observe/snapshot/snapshot.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/net/loop_timer.hpp"
#include "proxy/request/owner/client_connection.hpp"
#include "proxy/worker/accept_resume.hpp"
#include "proxy/worker/next_worker.hpp"
#include "resilience/token_bucket.hpp"
#include "traffic/client/address_count.hpp"

namespace spillway::proxy {

class Worker;

class Listener {
 public:
  // Binds and listens; throws std::runtime_error naming the address if it cannot.
  Listener(const config::Listen& address, std::uint32_t most_connections,
           std::vector<std::unique_ptr<Worker>>& workers);
  ~Listener();  // only while the loop does not run
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::uint16_t port() const { return port_; }

  // On the first worker's thread, or before it runs:
  void start();
  void set_most_connections(std::uint32_t most);
  // Accepts the connections in the backlog, then closes the socket.
  void stop();

  // Thread-safe.
  void read_snapshot(observe::ListenerSnapshot& snapshot) const;

 private:
  static constexpr Milliseconds kPause{50};
  // Connections accepted before the loop's other events are handled.
  static constexpr int kAcceptsInARow = 256;

  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, EventLoop::Executor>;
  enum class Next : std::uint8_t { accept, wait, at_cap, out_of_descriptors, out_of_memory };

  void await_clients();
  void on_clients();
  void pause(Next why, std::uint32_t newcomers);
  void resume_below_cap();
  AcceptResume& resume() const;
  std::uint32_t connections() const;
  Next accept_some();
  Next accept_one(Worker& worker);
  void begin_pause(Next why);
  void end_pause();
  void admit(int descriptor, const ClientInfo& client, Worker& worker);
  void refuse(int descriptor, const ClientInfo& client, std::uint32_t cap);

  std::vector<std::unique_ptr<Worker>>& workers_;
  std::vector<WorkerLoad> loads_;  // of the workers, filled again for each connection
  EventLoop& loop_;
  LoopTimer pause_timer_;
  Acceptor acceptor_;
  std::uint32_t most_connections_;
  std::uint16_t port_;
  traffic::AddressCount addresses_;
  bool paused_ = false;
  observe::Counter refused_by_address_;
  observe::Counter pauses_for_connections_;
  observe::Counter pauses_for_descriptors_;
  resilience::TokenBucket refusal_lines_;
  resilience::TokenBucket pause_lines_;
};

}  // namespace spillway::proxy
