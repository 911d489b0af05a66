// One TCP connection of 127.0.0.0/8, at either end, that is never waited for without a deadline.
//
// Not thread-safe, but for interrupt(). What the other side does is an answer here, not an error:
// nothing throws but a connection that cannot be made at all.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/event.hpp"
#include "support/message.hpp"

namespace spillway::soak {

using support::Deadline;
using support::Milliseconds;

class Wire {
 public:
  enum class Read { done, ended, reset, late };

  // Connects from 127.0.`source`: 16 bits, so that no address runs out of ports.
  // `receive_buffer`: bytes that the kernel may hold for us (0: its own choice). Throws
  // std::system_error.
  explicit Wire(std::uint16_t port, std::uint16_t source, int receive_buffer = 0);
  // One that was accepted.
  explicit Wire(int socket) : socket_(socket) {}
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // False when the other side has closed or takes nothing for so long.
  bool send(std::string_view bytes, Milliseconds within);
  // Appends what comes to received().
  Read read_some(Milliseconds within, std::size_t most = 65536);
  // A message off the front of received(). Throws std::runtime_error on one that is nonsense.
  Read read(support::Message& message, support::Expected expected, Milliseconds within);
  Read read_head(support::Message& message, Milliseconds within);
  Read read_to_end(Milliseconds within);
  std::string& received() { return received_; }

  void half_close();
  void close();
  void reset();      // closes with RST
  void interrupt();  // by another thread: whoever waits here finds the connection ended

 private:
  int socket_;
  std::string received_;
  std::optional<Read> over_;
};

}  // namespace spillway::soak
