// The keys of visitors' tokens, which an operator may replace while workers use them. Readers take
// no lock: replaced keys stay in memory until the process ends, some hundred bytes each.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "waiting/token/token.hpp"

namespace spillway::proxy {

class KeysInForce {
 public:
  explicit KeysInForce(const waiting::TokenKeys& first) { set(first.secrets()); }

  const waiting::TokenKeys* operator->() const { return now_.load(std::memory_order_acquire); }
  const waiting::TokenSecrets& secrets() const { return (*this)->secrets(); }
  void set(const waiting::TokenSecrets& secrets) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::make_unique<const waiting::TokenKeys>(secrets));
    now_.store(kept_.back().get(), std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<const waiting::TokenKeys>> kept_;
  std::atomic<const waiting::TokenKeys*> now_{nullptr};
};

}  // namespace spillway::proxy
