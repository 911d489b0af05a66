// Degraded responses, and stored responses in place of an upstream failure.
#include "http/outgoing/local_response.hpp"
#include "overload/admission/degraded_answer.hpp"
#include "proxy/call/record_result.hpp"
#include "proxy/exchange/exchange.hpp"

namespace spillway::proxy {

using overload::DegradedAnswer;

// A response that costs the upstream nothing takes precedence over every refusal, even for a tenant
// above its share or a class whose budget is spent.
void Exchange::prefer_free_response() {
  const overload::Verdict& verdict = admission_.verdict();
  if (verdict.kind == overload::Verdict::Kind::degrade || request_.is_shadow()) return;
  const config::Rule* const rule = admission_.overload_rule();
  if (rule == nullptr || rule->strategy != config::Strategy::degrade) return;
  if (costs_nothing(overload::answer_of_mode(rule->mode, rule->annotate, at_hand(rule->mode))))
    admission_.prefer(*rule);
}

// The responses that a rule of that mode has at hand without asking the upstream.
overload::AtHand Exchange::at_hand(config::DegradeMode mode) {
  return {.stored = overload::gives_stored(mode) && lookup_.look_up_stale(),
          .fallback = has_fallback()};
}

// Answers from the cache or with the fallback, or has the upstream do less work. Without an answer
// the upstream is asked.
std::optional<Answer> Exchange::degrade() {
  if (request_.is_shadow()) {
    admission_.set_shadow_outcome(Outcome::degraded);
    return std::nullopt;
  }
  const config::DegradeMode mode = admission_.verdict().mode;
  if (overload::gives_stored(mode)) lookup_.accept_stale();
  switch (overload::degraded_answer(admission_.verdict(), at_hand(mode))) {
    // cache_only promises not to ask the upstream: no refresh.
    case DegradedAnswer::stored: return cached(mode == config::DegradeMode::stale_ok);
    case DegradedAnswer::fallback: return fallback();
    case DegradedAnswer::cheaper:
      admission_.set_degraded(Admission::Degraded::work);
      lookup_.cancel_fetch();  // a reduced response must not be stored
      return std::nullopt;
    case DegradedAnswer::none: break;
  }
  return on_miss();
}

// No degraded response is available.
std::optional<Answer> Exchange::on_miss() {
  const std::optional<Fault> fault = admission_.on_miss();
  if (fault) return *fault;
  lookup_.plan_fetch();
  return std::nullopt;
}

Answer Exchange::cached(bool refresh) {
  admission_.set_degraded(Admission::Degraded::answer);
  lookup_.take(refresh);
  admission_.give_back_token();
  return CachedResponse{};
}

Answer Exchange::fallback() {
  admission_.set_degraded(Admission::Degraded::answer);
  admission_.give_back_token();
  return RouteFallback{};
}

bool Exchange::has_fallback() const {
  const auto* const fallback = request_.generation->fallback(request_.classification.route);
  return fallback != nullptr && http::fallback_answers(fallback->status(), request_.head.method);
}

// A stored response in place of the upstream's, if that is a 304 or a failure.
std::optional<Answer> Exchange::cached_instead() {
  if (!lookup_.is_usable()) return std::nullopt;
  const unsigned status = call_.response().status;
  if (status == 304 && lookup_.fetches_for_cache() && lookup_.stored()) {
    flight_.land(call_.finish_confirmed() ? cache::Landing::stored : cache::Landing::nothing);
    return CachedResponse{};
  }
  const Fault failure = upstream_failed();
  if (!says_failure(status) || !lookup_.look_up_stale_if_error(failure)) return std::nullopt;
  record_result(request_, true);
  take_stale_for(failure, status);
  return CachedResponse{};
}

// Answers a failure of the upstream with the stored response, even a stale one (RFC 5861 section
// 4). True: there is one, and the lookup has taken it.
bool Exchange::take_stale_instead(const Fault& fault) {
  if (!lookup_.look_up_stale_if_error(fault)) return false;
  take_stale_for(fault, std::nullopt);
  return true;
}

// If its rule degrades, a stored response or else the fallback replaces any refusal, in any state:
// by a rule or the gate, after a wait without result, for an open circuit or a lack of descriptors.
// nullopt: the request is refused.
std::optional<Answer> Exchange::instead_of_refusal(const Fault& fault) {
  if (!is_refusal(fault) || request_.is_own || request_.is_shadow()) return std::nullopt;
  const config::Rule* const rule = admission_.degrading_rule();
  if (rule == nullptr) return std::nullopt;
  overload::AtHand has{.fallback = has_fallback()};
  // For an open circuit stale_if_error decides about stored responses: take_stale_instead().
  if (overload::gives_stored(rule->mode) && !is_of_upstream(fault.reason)) {
    has.stored = admission_.is_queued() ? lookup_.look_up_stale_again() : lookup_.look_up_stale();
  }
  const DegradedAnswer instead = overload::answer_for_refusal(*rule, has);
  if (instead == DegradedAnswer::none) return std::nullopt;
  flight_.end(fault);
  call_.abandon();
  fill_.drop();
  admission_.degrade_for(fault.reason, rule->mode);
  if (instead == DegradedAnswer::fallback) return fallback();
  lookup_.take_for_refusal(rule->mode == config::DegradeMode::stale_ok);
  return CachedResponse{};
}

// Shadow mode: whether a stored or fallback response would replace a refusal. Call it before the
// upstream is asked: the upstream's response may be stored, and would then be found.
bool Exchange::would_answer_refusal() {
  const config::Rule* const rule = admission_.degrading_rule();
  if (rule == nullptr) return false;
  const overload::AtHand has{
      .stored = overload::gives_stored(rule->mode) && lookup_.would_have_stale(),
      .fallback = has_fallback()};
  return overload::answer_for_refusal(*rule, has) != DegradedAnswer::none;
}

void Exchange::take_stale_for(const Fault& fault, std::optional<unsigned> status) {
  flight_.land(cache::Landing::failed);
  call_.abandon();
  fill_.drop();
  admission_.degrade_for(fault.reason, config::DegradeMode::stale_ok);
  lookup_.take_for_error(fault, status);
}

}  // namespace spillway::proxy
