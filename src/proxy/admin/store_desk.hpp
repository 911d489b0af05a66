// Asks the store of deferred requests for the admin pages, and awaits its answer.
//
// The store's thread answers at any time: late, or when the admin server is gone. So a call is
// owned by its own `done`, and the way back is cut before the event loop ends.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "proxy/jobs/store_call.hpp"

namespace spillway::proxy {

class StoreDesk {
 public:
  // JobQueue::submit.
  using Submit = std::function<bool(StoreCall&)>;
  // A call was executed. On the store's thread, even if the answer is no longer awaited.
  using Then = std::function<void(const StoreCall&)>;

  enum class Result : std::uint8_t {
    executed,
    unavailable,  // nothing was changed
    late,         // it may still be executed
    busy,         // kMostCalls are awaited already
  };
  struct Answer {
    Result result = Result::unavailable;
    std::shared_ptr<const StoreCall> call;  // if it was executed
  };

  static constexpr std::chrono::seconds kPatience{10};
  // The other pages must not run out of connections because many wait for the store.
  static constexpr std::size_t kMostCalls = 16;

  // `submit` may be empty: then the result is `unavailable`.
  StoreDesk(boost::asio::io_context& io, Submit submit,
            std::chrono::milliseconds patience = kPatience);
  StoreDesk(const StoreDesk&) = delete;
  StoreDesk& operator=(const StoreDesk&) = delete;

  // Call it before the event loop is destroyed, and after its thread has ended. Calls awaited then
  // never get an answer. Idempotent.
  void close();

  // On the event loop's thread. The desk must outlive the coroutine.
  boost::asio::awaitable<Answer> ask(store::Command command, Then then = {});

 private:
  struct Door;
  struct Wait;

  boost::asio::io_context& io_;
  Submit submit_;
  std::chrono::milliseconds patience_;
  std::shared_ptr<Door> door_;
  std::size_t calls_ = 0;
};

}  // namespace spillway::proxy
