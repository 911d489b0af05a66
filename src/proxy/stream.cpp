#include "proxy/stream.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace spillway::proxy {

using StreamPtr = boost::intrusive_ptr<Stream>;

struct Stream::OnReadable {
  StreamPtr self;

  using allocator_type = CallbackAllocator<void>;
  allocator_type get_allocator() const noexcept { return allocator_type(self->read_memory_); }
  void operator()(const boost::system::error_code&) { self->on_readable(); }
};

Stream::Stream(asio::io_context& io, int descriptor) : socket_(io.get_executor()) {
  boost::system::error_code failed;
  // The protocol only matters to calls that are not made here (bind, connect, open).
  socket_.assign(asio::ip::tcp::v4(), descriptor, failed);
  if (failed) {  // out of memory or epoll watches: the descriptor is still ours to close
    ::close(descriptor);
    return;
  }
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

IoResult Stream::receive(std::span<char> into) {
  for (;;) {
    const ssize_t got = ::recv(socket_.native_handle(), into.data(), into.size(), 0);
    if (got > 0) return {IoResult::Status::done, static_cast<std::size_t>(got)};
    if (got == 0) return {IoResult::Status::end};
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoResult::Status::would_block};
    return {IoResult::Status::failed};
  }
}

bool Stream::has_input() {
  char first;
  const ssize_t got = ::recv(socket_.native_handle(), &first, 1, MSG_PEEK);
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

IoResult Stream::send(std::string_view first, std::string_view second) {
  // send() spares the kernel two copies and is what most calls need.
  const std::string_view only = first.empty() ? second : first;
  const bool both = !first.empty() && !second.empty();
  iovec parts[2] = {{const_cast<char*>(first.data()), first.size()},
                    {const_cast<char*>(second.data()), second.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const int descriptor = socket_.native_handle();
  for (;;) {
    const ssize_t sent = both ? ::sendmsg(descriptor, &message, MSG_NOSIGNAL)
                              : ::send(descriptor, only.data(), only.size(), MSG_NOSIGNAL);
    if (sent >= 0) return {IoResult::Status::done, static_cast<std::size_t>(sent)};
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoResult::Status::would_block};
    return {IoResult::Status::failed};
  }
}

Source& Stream::readable() {
  if (!read_.armed) {
    read_.armed = true;
    socket_.async_wait(Socket::wait_read, OnReadable{StreamPtr(this)});
  }
  return read_;
}

Source& Stream::writable() {
  if (!write_.armed) {
    write_.armed = true;
    socket_.async_wait(
        Socket::wait_write,
        [self = StreamPtr(this)](const boost::system::error_code&) { self->on_writable(); });
  }
  return write_;
}

void Stream::on_readable() {
  read_.armed = false;
  if (!open()) return;
  if (read_.parked != nullptr) {
    read_.parked->wake(Wake::ready);
  } else {
    on_idle_readable();
  }
}

void Stream::on_writable() {
  write_.armed = false;
  if (open() && write_.parked != nullptr) write_.parked->wake(Wake::ready);
}

void Stream::shutdown_send() {
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Stream::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Stream::abort() {
  const linger reset{1, 0};
  ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  close();
}

}  // namespace spillway::proxy
