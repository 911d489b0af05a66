// System calls of this program that fail as a test says, as they do where the process or the
// machine has none left.
#pragma once

#include <cstdint>

namespace spillway::proxy {

// While it lives connect(2) to this port, or epoll_ctl(2) where it is to watch one more, fails with
// `error`. One at a time.
class FailingCall {
 public:
  enum class Call : std::uint8_t { connect, watch };

  FailingCall(Call call, int error, std::uint16_t port = 0);
  ~FailingCall();
  FailingCall(const FailingCall&) = delete;
  FailingCall& operator=(const FailingCall&) = delete;
};

}  // namespace spillway::proxy
