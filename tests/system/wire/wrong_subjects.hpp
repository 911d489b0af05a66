// Two that do it wrong: whatever a case of the table is about, one of them must fail it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "support/event.hpp"
#include "system/wire/backend.hpp"
#include "system/wire/table.hpp"

namespace spillway::conformance {

// A server on a free port that gives each connection a thread.
class WrongServer {
 public:
  // Gets the client's socket, which is closed afterwards, and what says that it is over.
  using Treatment = std::function<void(int client, const support::Event& over)>;
  explicit WrongServer(Treatment treatment);
  ~WrongServer();
  WrongServer(const WrongServer&) = delete;
  WrongServer& operator=(const WrongServer&) = delete;
  std::uint16_t port() const { return port_; }

 private:
  void run();

  Treatment treatment_;
  std::uint16_t port_ = 0;
  int listener_;
  support::Event over_;
  std::vector<std::thread> treated_;
  std::thread thread_;
};

// Sends on the bytes as they come, in both directions, and understands none of them.
class Relays {
 public:
  enum class Ending {
    closes,
    completes,  // first ends for the backend what the client has broken off
  };
  explicit Relays(std::size_t lanes, Ending ending = Ending::closes);
  Subject subject();

 private:
  std::deque<Backend> backends_;
  std::deque<WrongServer> servers_;
};

// Answers whatever comes with 400 and closes.
class Refusers {
 public:
  explicit Refusers(std::size_t lanes);
  Subject subject();

 private:
  std::deque<Backend> backends_;  // never hear of anything
  std::deque<WrongServer> servers_;
};

}  // namespace spillway::conformance
