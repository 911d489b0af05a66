// Proxies that do it wrong: whatever a case is about, one of them must fail it. Negative controls
// of the tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "support/event.hpp"
#include "system/wire/proxies.hpp"

namespace spillway::wire {

// A server on a free port that gives each connection a thread.
class WrongServer {
 public:
  // Gets the client's socket, which is closed afterwards, and what says that it is over.
  using Treatment = std::function<void(int client, const support::Event& over)>;
  explicit WrongServer(Treatment treatment);
  ~WrongServer();
  WrongServer(const WrongServer&) = delete;
  WrongServer& operator=(const WrongServer&) = delete;
  std::uint16_t port() const;

 private:
  void run();

  Treatment treatment_;
  int listener_;
  support::Event over_;
  std::vector<std::thread> treated_;
  std::thread thread_;
};

enum class Ending {
  closes,
  completes,  // first ends for the origin what the client has broken off
};
// Sends on the bytes as they come, in both directions, and understands none of them.
ProxyUnderTest relay(std::size_t lanes, Ending ending = Ending::closes);

// Answers whatever comes with 400 and closes.
ProxyUnderTest refuser(std::size_t lanes);

}  // namespace spillway::wire
