// Awaitables that move bytes: they try the system call first and park only when it would block.
//
//     const Transfer received = co_await receive(parking, stream, block, {.deadline = due});
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "proxy/net/parking.hpp"
#include "proxy/net/stream.hpp"

namespace spillway::proxy {

struct Transfer {
  enum class Status : std::uint8_t {
    done,
    end,          // the peer sent end-of-file (receive only)
    failed,       // the connection is broken
    timeout,      // the deadline passed
    client_gone,  // the client left (Until::client_gone)
    woken,        // another event woke the coroutine: check what has changed, and continue
    cancelled,
  };
  Status status = Status::done;
  std::size_t bytes = 0;

  bool done() const { return status == Status::done; }
};

// The status of a coroutine that was woken before its operation was done.
constexpr Transfer::Status status_of(Wake why) {
  switch (why) {
    case Wake::timeout: return Transfer::Status::timeout;
    case Wake::client_gone: return Transfer::Status::client_gone;
    case Wake::cancelled: return Transfer::Status::cancelled;
    case Wake::ready: break;
  }
  return Transfer::Status::woken;
}

constexpr Transfer::Status status_of(IoResult::Status status) {
  switch (status) {
    case IoResult::Status::end: return Transfer::Status::end;
    case IoResult::Status::failed: return Transfer::Status::failed;
    default: return Transfer::Status::done;
  }
}

class Receive final : Retry {
 public:
  Receive(Parking& parking, Stream& stream, std::span<char> into, Until until)
      : parking_(parking), stream_(stream), into_(into), until_(until) {}

  bool await_ready() { return try_again(); }
  void await_suspend(std::coroutine_handle<> coroutine) {
    parking_.suspend(coroutine, until_, stream_.readable(), *this);
  }
  Transfer await_resume() const {
    if (result_.status == IoResult::Status::would_block) return {status_of(parking_.why())};
    return {status_of(result_.status), result_.bytes};
  }

 private:
  bool try_again() override {
    result_ = stream_.receive(into_);
    return result_.status != IoResult::Status::would_block;
  }

  Parking& parking_;
  Stream& stream_;
  std::span<char> into_;
  Until until_;
  IoResult result_{IoResult::Status::would_block};
};

// Receives at least one byte into the block.
[[nodiscard]] inline Receive receive(Parking& parking, Stream& stream, std::span<char> into,
                                     Until until) {
  return {parking, stream, into, until};
}

class SendAll final : Retry {
 public:
  SendAll(Parking& parking, Stream& stream, std::string_view head, std::string_view body,
          Until until)
      : parking_(parking), stream_(stream), head_(head), body_(body), until_(until) {}

  bool await_ready() { return try_again(); }
  void await_suspend(std::coroutine_handle<> coroutine) {
    parking_.suspend(coroutine, until_, stream_.writable(), *this);
  }
  // `bytes` were sent, whatever the status.
  Transfer await_resume() const {
    if (status_ == IoResult::Status::would_block) return {status_of(parking_.why()), sent_};
    return {status_of(status_), sent_};
  }

 private:
  bool try_again() override {
    while (!head_.empty() || !body_.empty()) {
      const IoResult result = stream_.send(head_, body_);
      status_ = result.status;
      if (result.status != IoResult::Status::done) return status_ != IoResult::Status::would_block;
      sent_ += result.bytes;
      const std::size_t of_head = std::min(result.bytes, head_.size());
      head_.remove_prefix(of_head);
      body_.remove_prefix(result.bytes - of_head);
    }
    status_ = IoResult::Status::done;
    return true;
  }

  Parking& parking_;
  Stream& stream_;
  std::string_view head_;
  std::string_view body_;
  Until until_;
  IoResult::Status status_ = IoResult::Status::would_block;
  std::size_t sent_ = 0;
};

// Sends both parts completely.
[[nodiscard]] inline SendAll send_all(Parking& parking, Stream& stream, std::string_view head,
                                      std::string_view body, Until until) {
  return {parking, stream, head, body, until};
}

}  // namespace spillway::proxy
