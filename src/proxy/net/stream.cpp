#include "proxy/net/stream.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace spillway::proxy {

namespace {
constexpr std::uint32_t kInput = EPOLLIN | EPOLLRDHUP;
constexpr std::uint32_t kBroken = EPOLLHUP | EPOLLERR;  // always reported

// Up to this size a copy costs less than a sendmsg(2) of two parts.
constexpr std::size_t kCopied = 4096;

ssize_t send_some(int socket, std::string_view bytes) {
  return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}
ssize_t send_some(int socket, std::string_view first, std::string_view second) {
  if (first.empty()) return send_some(socket, second);
  if (second.empty()) return send_some(socket, first);
  if (first.size() + second.size() <= kCopied) {
    std::array<char, kCopied> both;
    std::memcpy(both.data(), first.data(), first.size());
    std::memcpy(both.data() + first.size(), second.data(), second.size());
    return send_some(socket, {both.data(), first.size() + second.size()});
  }
  iovec parts[2] = {{const_cast<char*>(first.data()), first.size()},
                    {const_cast<char*>(second.data()), second.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

}  // namespace

Stream::Stream(EventLoop& loop, int descriptor, bool is_connected)
    : loop_(loop), descriptor_(descriptor), watches_output_(!is_connected) {
  if (!loop_.watch(descriptor, is_connected ? kInput : kInput | EPOLLOUT, *this)) {
    ::close(std::exchange(descriptor_, -1));
    return;
  }
  intrusive_ptr_add_ref(this);
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Stream::~Stream() = default;

IoResult Stream::receive(std::span<char> into) {
  for (;;) {
    const ssize_t got = ::recv(descriptor_, into.data(), into.size(), 0);
    if (got > 0) {
      const auto bytes = static_cast<std::size_t>(got);
      if (bytes < into.size()) read_.is_ready = has_ended_;  // a short read: drained (epoll(7))
      return {IoResult::Status::done, bytes};
    }
    if (got == 0) return {IoResult::Status::end};
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return {IoResult::Status::failed};
    read_.is_ready = false;
    return {IoResult::Status::would_block};
  }
}

bool Stream::has_input() {
  char first;
  const ssize_t got = ::recv(descriptor_, &first, 1, MSG_PEEK);
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

IoResult Stream::send(std::string_view first, std::string_view second) {
  for (;;) {
    const ssize_t sent = send_some(descriptor_, first, second);
    if (sent >= 0) return {IoResult::Status::done, static_cast<std::size_t>(sent)};
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return {IoResult::Status::failed};
    write_.is_ready = false;
    return {IoResult::Status::would_block};
  }
}

Source& Stream::readable() {
  if (!read_.is_ready) loop_.hurry(*this);
  await_idle();
  return read_;
}

void Stream::await_idle() {
  read_.is_wanted = true;
  if (read_.is_ready) tell_soon();
}

IoResult Stream::receive_into(Pipe& pipe, std::uint64_t most) {
  constexpr std::uint64_t kMostAtOnce = 1 << 30;
  for (;;) {
    const ssize_t got = ::splice(descriptor_, nullptr, pipe.ends_.in, nullptr,
                                 std::min(most, kMostAtOnce), SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (got > 0) {
      const auto bytes = static_cast<std::size_t>(got);
      pipe.size_ += bytes;
      return {IoResult::Status::done, bytes};
    }
    if (got == 0) return {IoResult::Status::end};
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return {IoResult::Status::failed};
    // splice(2) does not say which side would block. With bytes in the pipe it may be the pipe.
    if (pipe.size_ > 0) {
      pipe.is_full_ = true;
    } else {
      read_.is_ready = false;
    }
    return {IoResult::Status::would_block};
  }
}

IoResult Stream::send_from(Pipe& pipe) {
  for (;;) {
    const ssize_t sent = ::splice(pipe.ends_.out, nullptr, descriptor_, nullptr, pipe.size_,
                                  SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (sent > 0) {
      const auto bytes = static_cast<std::size_t>(sent);
      pipe.size_ -= bytes;
      pipe.is_full_ = false;
      return {IoResult::Status::done, bytes};
    }
    if (sent < 0 && errno == EINTR) continue;
    if (sent == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return {IoResult::Status::failed};
    write_.is_ready = false;
    return {IoResult::Status::would_block};
  }
}

// EPOLLOUT is watched only on demand: otherwise each acknowledgement of the peer would be an edge.
Source& Stream::writable() {
  write_.is_wanted = true;
  if (!std::exchange(watches_output_, true)) {
    if (open()) loop_.change(descriptor_, kInput | EPOLLOUT, *this);
  } else if (write_.is_ready) {
    tell_soon();
  }
  return write_;
}

void Stream::tell_soon() {
  if (open() && !std::exchange(told_soon_, true)) loop_.defer(*this);
}

void Stream::on_events(std::uint32_t events) {
  if (events == 0) told_soon_ = false;
  if ((events & (EPOLLRDHUP | kBroken)) != 0) has_ended_ = true;
  if ((events & (kInput | kBroken)) != 0) read_.is_ready = true;
  if ((events & (EPOLLOUT | kBroken)) != 0) write_.is_ready = true;
  if ((events & EPOLLOUT) != 0 && !write_.is_wanted) {
    watches_output_ = false;
    loop_.change(descriptor_, kInput, *this);
  }
  if (write_.is_ready && std::exchange(write_.is_wanted, false) && write_.parked != nullptr)
    write_.parked->on_ready(write_);
  if (!open() || !read_.is_ready || !std::exchange(read_.is_wanted, false)) return;
  if (read_.parked != nullptr) {
    read_.parked->on_ready(read_);
  } else {
    on_idle_readable();
  }
}

void Stream::give_up_after(Milliseconds untaken) {
  const auto time = static_cast<unsigned>(untaken.count());
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_USER_TIMEOUT, &time, sizeof time);
}

void Stream::shutdown_send() { ::shutdown(descriptor_, SHUT_WR); }

void Stream::close() {
  if (!open()) return;
  loop_.forget(*this);
  loop_.unwatch(descriptor_);
  ::close(std::exchange(descriptor_, -1));
  loop_.post(*this);
}

void Stream::run() { intrusive_ptr_release(this); }

void Stream::abort() {
  const linger reset{1, 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  close();
}

}  // namespace spillway::proxy
