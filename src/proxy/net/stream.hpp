// A non-blocking TCP connection: bytes are moved by plain system calls first, and only who would
// block waits.
//
// The loop watches it from its first to its last moment, edge-triggered, and it remembers that
// there is something to read. So an idle keep-alive connection waits without having asked for it,
// and nobody asks the kernel to watch it again. While it is open it keeps itself alive.
#pragma once

#include <boost/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "proxy/net/event_loop.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/pipe.hpp"

namespace spillway::proxy {

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

class Stream : public Watcher, private Posted {
 public:
  // Adopts a non-blocking descriptor; open() is false when the system cannot watch one more.
  // `is_connected`: it was accepted, or connect(2) has succeeded.
  Stream(EventLoop& loop, int descriptor, bool is_connected);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  IoResult receive(std::span<char> into);
  // Whether something can be received now: bytes, the end, or an error.
  bool has_input();
  // Writes both parts with one system call; may write less than all of them.
  IoResult send(std::string_view first, std::string_view second = {});

  // Moves up to so many bytes that have been received into a pipe, without copying them.
  // would_block also when the pipe has no room; then it says so.
  IoResult receive_into(Pipe& pipe, std::uint64_t most);
  // Sends what is in the pipe. SIGPIPE must be ignored: splice(2) knows no MSG_NOSIGNAL.
  IoResult send_from(Pipe& pipe);

  // What to park on until something can be received or sent. It may turn out that there is nothing.
  Source& readable();
  Source& writable();

  void shutdown_send();
  // Lets go of the descriptor, and of itself before the loop waits again.
  void close();
  // Closes with a reset: what was relayed so far is never taken for the whole.
  void abort();
  bool open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 protected:
  virtual ~Stream();
  // There is something to read (or it broke) and readable() was asked for, but no coroutine is
  // parked on it.
  virtual void on_idle_readable() = 0;

 private:
  void on_events(std::uint32_t events) final;
  void run() final;  // after close(): lets go of itself
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
  bool has_ended_ = false;       // the peer has, or it broke: there is always something to read
  bool watches_output_ = false;  // told when there is room to send
  bool told_soon_ = false;
};

}  // namespace spillway::proxy
