// A non-blocking TCP connection: bytes are moved by plain system calls first, and only a call
// that would block arms a readiness callback.
//
// At most one callback is pending per direction, and it stays pending when the coroutine that
// asked for it has moved on: an idle keep-alive connection is watched by the same callback that
// later announces its next bytes. A pending callback keeps the Stream alive.
#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "proxy/callback_memory.hpp"
#include "proxy/parking.hpp"

namespace spillway::proxy {

namespace asio = boost::asio;

// So many blocks in a row may go through one before other connections have their turn.
inline constexpr int kRoundsInARow = 16;

struct IoResult {
  enum class Status : std::uint8_t {
    done,         // at least one byte was moved
    would_block,  // nothing can be moved now
    end,          // the peer sent end-of-file (receive only)
    failed,       // the connection is broken
  };
  Status status;
  std::size_t bytes = 0;
};

class Stream {
 public:
  using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;

  // Adopts a connected (or connecting) non-blocking descriptor.
  Stream(asio::io_context& io, int descriptor);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  IoResult receive(std::span<char> into);
  // Whether something can be received now: bytes, the end, or an error.
  bool has_input();
  // Writes both parts with one system call; may write less than all of them.
  IoResult send(std::string_view first, std::string_view second = {});

  // Arm the callback of a direction (if it is not pending) and return its source to park on.
  Source& readable();
  Source& writable();

  void shutdown_send();
  void close();
  // Closes with a reset: what was relayed so far is never taken for the whole.
  void abort();
  bool open() const { return socket_.is_open(); }
  int descriptor() { return socket_.native_handle(); }

 protected:
  virtual ~Stream() = default;
  // The connection became readable (or broke) while no coroutine was parked on it.
  virtual void on_idle_readable() = 0;

 private:
  struct OnReadable;
  void on_readable();
  void on_writable();

  friend void intrusive_ptr_add_ref(Stream* stream) { ++stream->references_; }
  friend void intrusive_ptr_release(Stream* stream) {
    if (--stream->references_ == 0) delete stream;
  }

  Socket socket_;
  Source read_;
  Source write_;
  std::uint32_t references_ = 0;
  CallbackMemory read_memory_;  // nearly always in use; writing seldom has to wait
};

}  // namespace spillway::proxy
