// Whether and when a request that failed at an upstream is sent again.
//
// A request is sent again only if the server cannot have acted on it twice (RFC 9110 section
// 9.2.2). If no byte of it was sent, it may always be sent again. If some bytes were, its method
// must be idempotent, its body available, and no byte of a response received. After a timeout it is
// never sent again: the server may still be working on it.
//
// An idle kept connection that turns out to be closed is replaced by a new one at once, but only
// once: its closing is not a failure. Any other attempt is a retry: it counts against
// `most_retries` and takes from the upstream's retry budget. The request pauses before it tries
// servers again that have just failed.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "base/time.hpp"
#include "resilience/backoff.hpp"

namespace spillway::resilience {

enum class AttemptResult : std::uint8_t {
  answered,  // the head of a response has been received
  unsent,    // no connection, or it broke before any byte was sent
  broken,    // the connection broke before any byte of a response
  failed,    // a failure that does not permit another attempt
};

struct AttemptFacts {
  bool is_idempotent = false;
  bool is_body_at_hand = false;  // all of it, to be sent again
  bool is_on_kept_connection = false;
  bool was_replaced = false;        // an idle connection of this request was closed before
  bool is_in_background = false;    // no client waits for it
  bool has_untried_server = false;  // in this round
  std::uint32_t retries = 0;        // so far
  std::uint32_t most_retries = 0;
  std::uint32_t pauses = 0;  // so far
  TimePoint due = kNever;    // for the response head, else the request has failed
};

struct NextAttempt {
  enum class Kind : std::uint8_t {
    give_up,
    replace,  // at once, on a new connection; costs no budget
    retry,    // after `pause`, if the budget allows
  };
  Kind kind = Kind::give_up;
  Duration pause{0};
};

// Whether sending it again is safe after this result.
constexpr bool may_send_again(AttemptResult result, const AttemptFacts& facts) {
  if (result == AttemptResult::unsent) return true;
  return result == AttemptResult::broken && facts.is_idempotent && facts.is_body_at_hand;
}

// Draws one number from `random` for a pause.
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
