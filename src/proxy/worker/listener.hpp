// Accepts connections and hands each to the worker that has the fewest.
//
// Lives on the first worker's loop. Accepting pauses while the connection cap is reached, until a
// connection ends, and for 50 ms at a time while the process has no descriptors left; waiting
// clients stay in the backlog.
// A connection from an address that has limits.connections_per_address of them is closed at once
// with a reset: it costs one accept(2), and whoever goes on trying leaves nothing behind here.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "config/config.hpp"
#include "observe/counter.hpp"
#include "observe/snapshot.hpp"
#include "proxy/exchange/client_connection.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/worker/accept_resume.hpp"
#include "resilience/token_bucket.hpp"
#include "traffic/address_count.hpp"

namespace spillway::proxy {

class Worker;

class Listener final : Watcher {
 public:
  // Binds and listens; throws std::runtime_error naming the address when it cannot.
  Listener(const config::Listen& address, std::uint32_t most_connections,
           std::vector<std::unique_ptr<Worker>>& workers);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::uint16_t port() const { return port_; }

  // All on the first worker's thread (or before it runs).
  void start();
  void set_most_connections(std::uint32_t most);
  // Takes in what is in the backlog already, then listens no more.
  void stop();

  // From any thread.
  void read_snapshot(observe::ListenerSnapshot& snapshot) const;

 private:
  static constexpr Milliseconds kPause{50};
  // So many connections may be accepted before others of this loop have their turn.
  static constexpr int kAcceptsInARow = 256;

  enum class Next : std::uint8_t { go_on, wait, pause, wait_for_room };

  void on_events(std::uint32_t events) override;
  void wait_for_room();
  void go_on_if_there_is_room();
  AcceptResume& room() const;
  std::uint32_t connections() const;
  void close();
  Next accept_some();
  Next accept_one(Worker& worker);
  void begin_pause(observe::Counter& reason, const char* why);
  void admit(int descriptor, const ClientInfo& client, Worker& worker);
  void refuse(int descriptor, const ClientInfo& client);

  std::vector<std::unique_ptr<Worker>>& workers_;
  EventLoop& loop_;
  LoopTimer timer_;
  int socket_;
  std::uint32_t most_connections_;
  std::uint16_t port_ = 0;
  traffic::AddressCount addresses_;
  bool paused_ = false;
  observe::Counter refused_by_address_;
  observe::Counter pauses_for_connections_;
  observe::Counter pauses_for_descriptors_;
  resilience::TokenBucket refusal_lines_;
  resilience::TokenBucket pause_lines_;
};

}  // namespace spillway::proxy
