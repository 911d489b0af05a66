#include "fuzz/connection/stand_in.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

namespace spillway::fuzz {
namespace {

TimePoint now{std::chrono::hours{24 * 365 * 20}};
OnConnect on_connect;
OnReset on_reset;

}  // namespace

TimePoint simulated_now() { return now; }
void advance_clock(Duration by) { now += by; }
void set_on_connect(OnConnect function) { on_connect = std::move(function); }
void set_on_reset(OnReset function) { on_reset = std::move(function); }

Pair new_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  return {ends[0], ends[1]};
}

}  // namespace spillway::fuzz

extern "C" {

int __wrap_connect(int descriptor, const sockaddr*, socklen_t) {
  const spillway::fuzz::Pair pair = spillway::fuzz::new_pair();
  if (!spillway::fuzz::on_connect || !spillway::fuzz::on_connect(pair.other)) {
    ::close(pair.proxys);
    ::close(pair.other);
    errno = ECONNREFUSED;
    return -1;
  }
  ::dup3(pair.proxys, descriptor, O_CLOEXEC);
  ::close(pair.proxys);
  return 0;
}

int __real_setsockopt(int descriptor, int level, int option, const void* value, socklen_t size);
int __wrap_setsockopt(int descriptor, int level, int option, const void* value, socklen_t size) {
  if (level == SOL_SOCKET && option == SO_LINGER && spillway::fuzz::on_reset)
    spillway::fuzz::on_reset(descriptor);
  return __real_setsockopt(descriptor, level, option, value, size);
}

// Asio does without, and looks at its timers in each turn.
int __wrap_timerfd_create(int, int) {
  errno = ENOSYS;
  return -1;
}

// std::chrono::steady_clock::now(), whose time_point is returned as the integer that it holds.
std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  return spillway::fuzz::now.time_since_epoch().count();
}

}  // extern "C"
