// The client of one step: says what it is told to and sorts what comes back.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "support/event.hpp"
#include "system/wire/origin.hpp"
#include "system/wire/step.hpp"

namespace spillway::wire {

class Client {
 public:
  // Connects to 127.0.0.1. Fills in `seen`, and tells the origin whenever bytes have come.
  // `is_head`: responses have no body.
  Client(std::uint16_t port, bool is_head, Origin& origin, Observation& seen);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool ended() const { return ended_; }      // by the other side
  bool garbled() const { return garbled_; }  // what came is no message

  // Sends, and reads what comes meanwhile. Ends early when the other side takes no more.
  void send(std::string_view bytes, support::Milliseconds within);
  // Reads until that is so, nothing more comes, or the time is over.
  void read_until(const std::function<bool()>& enough, support::Milliseconds within);
  void half_close();

 private:
  // False at the end of the connection or the deadline.
  bool wait_and_read(short events, const support::Deadline& deadline);
  void take_messages();

  bool is_head_;
  Origin& origin_;
  Observation& seen_;
  int socket_;
  bool ended_ = false;
  bool garbled_ = false;
};

}  // namespace spillway::wire
