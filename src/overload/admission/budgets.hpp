// The token buckets of one upstream's class and route budgets, shared by all workers without a
// lock. They outlive plans: a change of state keeps the tokens of a bucket.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/admission/rules.hpp"
#include "resilience/token_bucket.hpp"

namespace spillway::overload {

// A token that a request took; it can be given back.
struct Token {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t bucket = kNone;
  double rate = 0;  // of the budget, when it was taken
};

class Budgets {
 public:
  Budgets(const config::Config& config, const config::Upstream& upstream)
      : buckets_(count_buckets(config, upstream)) {}

  // Takes a token from the rule's budget, if one is left. `rule` has a budget and comes from a plan
  // of this upstream.
  bool try_take(const EffectiveRule& rule, TimePoint now, Token& token) {
    const config::Budget& budget = *rule.rule.budget;
    Bucket& bucket = buckets_[rule.bucket];
    if (bucket.tokens.try_take(budget.rate, budget.burst, now)) {
      token = {rule.bucket, budget.rate};
      return true;
    }
    if (!bucket.has_refused.load(std::memory_order_relaxed))
      bucket.has_refused.store(true, std::memory_order_relaxed);
    return false;
  }

  // Tokens left in the rule's budget.
  double available(const EffectiveRule& rule, TimePoint now) const {
    const config::Budget& budget = *rule.rule.budget;
    return buckets_[rule.bucket].tokens.available(budget.rate, budget.burst, now);
  }

  // Whether any request found no token left since the last call.
  bool take_has_refused() {
    bool has = false;
    for (Bucket& each : buckets_) {
      if (each.has_refused.load(std::memory_order_relaxed))
        has = each.has_refused.exchange(false, std::memory_order_relaxed) || has;
    }
    return has;
  }

  // For a request that was not sent upstream after all. No effect without a token, nor the second
  // time.
  void give_back(Token& token) {
    if (token.bucket == Token::kNone) return;
    buckets_[token.bucket].tokens.give_back(token.rate);
    token = {};
  }

 private:
  struct alignas(64) Bucket {  // workers that use different budgets do not slow each other down
    resilience::TokenBucket tokens;
    std::atomic<bool> has_refused{false};  // rarely written: it shares the line of the tokens
  };
  std::vector<Bucket> buckets_;
};

}  // namespace spillway::overload
