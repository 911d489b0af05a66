// An operator's request to replace the secret of visitors' tokens, on its way to the thread that
// writes it down and back. The page that waits for it and that thread share it, since the page may
// give up first.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "waiting/token/token_secrets.hpp"

namespace spillway::proxy {

enum class SecretResult : std::uint8_t {
  replaced,
  under_way,     // the last replacement: the former secret is still accepted
  not_written,   // nothing has changed
  not_answered,  // it may have been replaced
};

struct SecretReply {
  SecretResult result = SecretResult::not_answered;
  waiting::TokenSecrets secrets{};  // if it was replaced, or the last one is under way
};

class SecretRequest {
 public:
  explicit SecretRequest(const waiting::SecretChange& wanted) : change(wanted) {}

  // Once.
  void answer(SecretReply reply) { reply_.set_value(std::move(reply)); }
  SecretReply wait(Milliseconds patience) {
    std::future<SecretReply> future = reply_.get_future();
    return future.wait_for(patience) == std::future_status::ready ? future.get() : SecretReply{};
  }

  const waiting::SecretChange change;

 private:
  std::promise<SecretReply> reply_;
};

// Of one at a time: the admin thread's.
class SecretRequests {
 public:
  static constexpr Milliseconds kPatience{5000};

  std::shared_ptr<SecretRequest> put(const waiting::SecretChange& change) {
    const std::lock_guard lock(mutex_);
    return next_ = std::make_shared<SecretRequest>(change);
  }
  std::shared_ptr<SecretRequest> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(next_, nullptr);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<SecretRequest> next_;
};

}  // namespace spillway::proxy
