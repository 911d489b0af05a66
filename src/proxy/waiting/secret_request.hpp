// An operator's request to replace the secret of visitors' tokens, on its way to the thread that
// stores the secret, and back. Shared by that thread and the admin page that waits for it, since
// the page may give up first.
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
  under_way,     // the last replacement is: the former secret is still accepted
  not_written,   // nothing has changed
  not_answered,  // it may have been replaced
};

struct SecretReply {
  SecretResult result = SecretResult::not_answered;
  waiting::TokenSecrets secrets{};  // the new ones, or those of a replacement that is under way
};

class SecretRequest {
 public:
  explicit SecretRequest(const waiting::SecretChange& wanted) : change(wanted) {}

  // Call it once.
  void answer(SecretReply reply) { reply_.set_value(std::move(reply)); }
  SecretReply wait(Milliseconds patience) {
    std::future<SecretReply> future = reply_.get_future();
    return future.wait_for(patience) == std::future_status::ready ? future.get() : SecretReply{};
  }

  const waiting::SecretChange change;

 private:
  std::promise<SecretReply> reply_;
};

// Holds one request at a time: that of the admin thread.
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
