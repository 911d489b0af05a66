// A non-blocking TCP connection. A system call is tried first; a coroutine parks only when it would
// block.
//
// The loop watches the socket for input, edge-triggered, from construction to close(), and the
// stream remembers that input is ready. So waiting costs no system call, and an idle keep-alive
// connection waits without a coroutine. While it is open it keeps itself alive.
#pragma once

#include <boost/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/time.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/pipe.hpp"

namespace spillway::proxy {

// Blocks that one connection may move in a row before other connections run.
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

class Stream : public Watcher, private Posted {
 public:
  // Adopts a non-blocking descriptor; open() is false if the system cannot watch another one.
  // `is_connected`: it was accepted, or connect(2) has succeeded.
  Stream(EventLoop& loop, int descriptor, bool is_connected);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  IoResult receive(std::span<char> into);
  // Whether receive() would return something now: bytes, the end, or an error.
  bool has_input();
  // Writes both parts with one system call; may write less than all of them.
  IoResult send(std::string_view first, std::string_view second = {});

  // Moves up to `most` received bytes into a pipe without copying them. Also would_block if the
  // pipe is full; see Pipe::is_full().
  IoResult receive_into(Pipe& pipe, std::uint64_t most);
  // Sends the content of the pipe. SIGPIPE must be ignored: splice(2) has no MSG_NOSIGNAL.
  IoResult send_from(Pipe& pipe);

  // For parking until the socket can be read or written. Readiness may be spurious.
  Source& readable();
  Source& writable();

  // Input will be reported by on_idle_readable().
  void await_idle();

  // From now on the connection breaks if sent bytes are not acknowledged for this long: the peer
  // has vanished, or reads nothing (TCP_USER_TIMEOUT of tcp(7); RFC 5482). Otherwise the kernel
  // would retransmit them for a quarter of an hour.
  void give_up_after(Milliseconds untaken);
  void shutdown_send();
  // Closes the descriptor, and drops the reference to itself before the loop waits again.
  void close();
  // Closes with a reset, so that the peer does not mistake a truncated message for a complete one.
  void abort();
  bool open() const { return descriptor_ >= 0; }
  // The loop has found an event for it and has not delivered it yet.
  bool has_event() const { return loop_.has_event(*this); }
  int descriptor() const { return descriptor_; }

 protected:
  virtual ~Stream();
  // Called if input is ready (or the connection has ended) and readable() was called, but no
  // coroutine is parked on it.
  virtual void on_idle_readable() = 0;
  // No receive has blocked since the last edge. Bytes that came with that edge may be left, and no
  // other edge will report them.
  bool may_have_input() const { return read_.is_ready; }

 private:
  void on_events(std::uint32_t events) final;
  bool is_awaited() const final { return read_.parked != nullptr || write_.parked != nullptr; }
  void run() final;  // after close(): drops the reference to itself
  void discard() final { run(); }
  void tell_soon();

  friend void intrusive_ptr_add_ref(Stream* stream) { ++stream->references_; }
  friend void intrusive_ptr_release(Stream* stream) {
    if (--stream->references_ == 0) delete stream;
  }

  EventLoop& loop_;
  Source read_;
  Source write_;
  int descriptor_;
  std::uint32_t references_ = 0;
  bool has_ended_ = false;       // end-of-file or an error: input stays ready
  bool watches_output_ = false;  // EPOLLOUT is in the interest set
  bool told_soon_ = false;
};

}  // namespace spillway::proxy
