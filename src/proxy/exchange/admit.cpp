// Whether a request goes on to the upstream, and when: the verdict, and the gate.
#include "proxy/exchange/exchange.hpp"

namespace spillway::proxy {

// An answer if the request does not go on to the upstream.
std::optional<Answer> Exchange::admit() {
  admission_.decide();
  return follow_verdict();
}

// Admits the request again if the proxy had to wait for its body: the upstream may have become
// overloaded in the meantime.
std::optional<Answer> Exchange::admit_again() {
  if (!body_.was_waited_for() || !admission_.decide_again()) return std::nullopt;
  std::optional<Answer> ended = follow_verdict();
  if (ended && fault_in(*ended) == nullptr) flight_.land(cache::Landing::nothing);
  return ended;
}

std::optional<Answer> Exchange::follow_verdict() {
  using Kind = overload::Verdict::Kind;
  if (request_.is_shadow()) admission_.set_answers_refusal(would_answer_refusal());
  prefer_free_response();
  const overload::Verdict& verdict = admission_.verdict();
  if (lookup_.accepts_only_stored()) {
    const bool is_degraded = verdict.kind == Kind::degrade && !request_.is_shadow() &&
                             overload::gives_stored(verdict.mode);
    if (!is_degraded || !lookup_.may_serve_stale()) return only_if_cached();
  }
  std::optional<Fault> refused;
  switch (verdict.kind) {
    case Kind::allow:
    case Kind::allow_if_short_wait: return std::nullopt;
    case Kind::degrade: return degrade();
    case Kind::deny:
      refused = admission_.refuse(denied(verdict.reason, verdict.retry_after));
      break;
    case Kind::drop: refused = admission_.refuse(dropped(verdict.reason)); break;
  }
  return refused ? std::optional<Answer>(*refused) : std::nullopt;
}

// Takes a slot, or a place in the queue. Time that the client took to send the body, or another
// request to fetch the response, is not held against the request; but waiting for a leader that
// failed counts as a wait at the gate.
std::optional<Fault> Exchange::enter_gate() {
  const bool has_waited = body_.was_waited_for() || lookup_.was_follower();
  const TimePoint arrived = has_waited ? services_.now() : request_.arrived;
  const Duration before = arrived - request_.arrived;
  const bool spent = flight_.has_spent_wait();
  return admission_.enter_gate(arrived, spent ? Duration{0} : before, spent ? before : Duration{0});
}

}  // namespace spillway::proxy
