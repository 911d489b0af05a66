#include "unit/proxy/call/failing_calls.hpp"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace {

std::atomic<int> refused_with{0};
std::atomic<std::uint16_t> refused_port{0};
std::atomic<int> unwatched_with{0};

bool is_to_fail(const sockaddr* address) {
  if (refused_with == 0 || address->sa_family != AF_INET) return false;
  return ntohs(reinterpret_cast<const sockaddr_in*>(address)->sin_port) == refused_port;
}

}  // namespace

// These take the place of the C library's.
extern "C" {

int connect(int socket, const sockaddr* address, socklen_t size) {
  if (is_to_fail(address)) {
    errno = refused_with;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_connect, socket, address, size));
}

int epoll_ctl(int set, int operation, int descriptor, epoll_event* event) noexcept {
  if (unwatched_with != 0 && operation == EPOLL_CTL_ADD) {
    errno = unwatched_with;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_epoll_ctl, set, operation, descriptor, event));
}
}

namespace spillway::proxy {

FailingCall::FailingCall(Call call, int error, std::uint16_t port) {
  refused_port = port;
  (call == Call::connect ? refused_with : unwatched_with) = error;
}

FailingCall::~FailingCall() { refused_with = unwatched_with = 0; }

}  // namespace spillway::proxy
