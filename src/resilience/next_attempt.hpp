// Whether a request that failed at an upstream is sent again, and when.
//
// A request is sent again only if the server cannot have acted on it twice (RFC 9110
// section 9.2.2). If no byte went out, it may always be sent again. If some did, its method must be
// idempotent, its body at hand, and no byte of a response may have come. After a timeout it is
// never sent again: the server may still be at work on it.
//
// A kept connection that turns out dead is replaced by a fresh one at once, and only once: that it
// idled for too long is not a failure. Any other attempt is a retry: it counts against
// `most_retries` and takes from the upstream's retry budget. The request pauses before it asks
// servers again that have just failed.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "base/time.hpp"
#include "resilience/backoff.hpp"

namespace spillway::resilience {

enum class AttemptResult : std::uint8_t {
  answered,  // the head of a response is there
  unsent,    // no connection, or one that broke before it took a byte
  broken,    // the connection broke before a byte of a response
  failed,    // nothing that may be tried again
};

struct AttemptFacts {
  bool is_idempotent = false;
  bool is_body_at_hand = false;  // all of it, to be sent once more
  bool is_on_kept_connection = false;
  bool was_replaced = false;        // a kept connection of this request turned out dead before
  bool is_in_background = false;    // no client waits for it
  bool has_untried_server = false;  // in this round
  std::uint32_t retries = 0;        // so far
  std::uint32_t most_retries = 0;
  std::uint32_t pauses = 0;  // so far
  TimePoint due = kNever;    // the response head is, or the request has failed
};

struct NextAttempt {
  enum class Kind : std::uint8_t {
    give_up,
    replace,  // at once, on a fresh connection; takes nothing from the budget
    retry,    // after `pause`, if the budget allows
  };
  Kind kind = Kind::give_up;
  Duration pause{0};
};

// Whether sending it again is safe after that.
constexpr bool may_send_again(AttemptResult result, const AttemptFacts& facts) {
  if (result == AttemptResult::unsent) return true;
  return result == AttemptResult::broken && facts.is_idempotent && facts.is_body_at_hand;
}

// A pause draws one number from `random`.
inline NextAttempt next_attempt(AttemptResult result, const AttemptFacts& facts,
                                const Backoff& backoff, TimePoint now, Random& random) {
  using Kind = NextAttempt::Kind;
  if (!may_send_again(result, facts)) return {Kind::give_up};
  if (facts.is_on_kept_connection && !facts.was_replaced) return {Kind::replace};
  if (facts.retries >= facts.most_retries || facts.is_in_background) return {Kind::give_up};
  const Duration pause =
      facts.has_untried_server ? Duration{0} : backoff.delay(facts.pauses + 1, random);
  if (now + pause >= facts.due) return {Kind::give_up};
  return {Kind::retry, pause};
}

}  // namespace spillway::resilience
