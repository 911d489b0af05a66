// What becomes of a verdict: refusals, places at the gate, and what shadow mode makes of both.
//
// In shadow mode (overload.mode) nobody is refused, delayed or degraded; what would have happened
// is counted and logged. A request that would have to wait goes to the upstream at once, and its
// ticket stays in the queue as a ghost until the request ends: so the queue that the signals and
// the rules see is as long as the requests beyond the cap are many.
#include <algorithm>

#include "config/choices.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

bool Exchange::is_shadow() const {
  return here_->upstream(subject_.upstream).config.overload.mode == config::Mode::shadow;
}

// Ends the request, unless this is shadow mode: true when it goes on.
bool Exchange::refuse(const Fault& fault) {
  here_->upstream(subject_.upstream).budgets.give_back(verdict_.token);
  record_.reason = fault.reason;
  if (!is_shadow()) return fail(fault);
  shadow_outcome_ = fault.outcome;
  return true;
}

// Decisions know tenants by ids; whoever looks at /state wants to see names.
void Exchange::name_heavy_tenant(const overload::AdmissionPlan& plan) {
  const traffic::Tenant& tenant = subject_.tenant;
  if (plan.tenants()->of(subject_.traffic_class).chance(tenant.id) == 0) return;
  if (!worker_.is_new_name(tenant.id)) return;
  here_->upstream(subject_.upstream)
      .tenant_names.remember(tenant.id, config::name(tenant.source), tenant.value());
}

// An answer that costs the upstream nothing is refused to nobody: not to a tenant above its share,
// not to a class whose budget is spent.
void Exchange::prefer_own_answer(const overload::AdmissionPlan& plan) {
  using Kind = overload::Verdict::Kind;
  if (plan.state() == State::normal || verdict_.kind == Kind::degrade || is_shadow()) return;
  const config::Rule& rule = plan.rule(subject_.route, subject_.traffic_class);
  if (rule.strategy != config::Strategy::degrade || !has_own_answer(rule)) return;
  here_->upstream(subject_.upstream).budgets.give_back(verdict_.token);
  verdict_ = overload::judge(rule, plan.state(), plan.reason(), 0);
}

bool Exchange::has_own_answer(const config::Rule& rule) {
  if (rule.mode == config::DegradeMode::skip_downstream)
    return has_fallback() && !rule.annotate.value_or(false);
  if (cache_ == nullptr) return false;
  if (!looked_up_) look_up();
  return may_give_stale();
}

// Answers with less than asked for, without the upstream's help or with less of it. False when
// there is no such answer and the request is refused.
bool Exchange::degrade() {
  if (is_shadow()) {
    shadow_outcome_ = Outcome::degraded;
    return true;
  }
  if (verdict_.mode == config::DegradeMode::skip_downstream) return skip_downstream();
  if (cache_ != nullptr) {
    stale_will_do_ = true;
    if (!looked_up_) look_up();
    if (may_give_stale()) {
      is_degraded_ = true;
      // The promise of cache_only is not to ask the upstream.
      wants_refresh_ = verdict_.mode == config::DegradeMode::stale_ok && !wishes_.no_store;
      answer_from_store();
      here_->upstream(subject_.upstream).budgets.give_back(verdict_.token);
      return true;
    }
  }
  return miss();
}

bool Exchange::skip_downstream() {
  if (verdict_.annotate.value_or(!has_fallback())) {
    is_degraded_ = announces_degrade_ = true;
    is_for_store_ = shares_answer_ = false;  // what comes is less than what is to be stored
    return true;
  }
  if (!has_fallback()) return miss();
  answer_with_prepared();
  return true;
}

void Exchange::answer_with_prepared() {
  is_degraded_ = true;
  source_ = Source::prepared;
  here_->upstream(subject_.upstream).budgets.give_back(verdict_.token);
}

// There is no degraded answer of the rule's mode.
bool Exchange::miss() {
  if (verdict_.miss == config::Miss::fallback && has_fallback()) {
    answer_with_prepared();
    return true;
  }
  const config::DegradeMode mode = verdict_.mode;
  verdict_ = overload::on_miss(verdict_);
  record_.verdict = verdict_.kind;
  record_.reason = verdict_.reason;
  if (verdict_.kind == overload::Verdict::Kind::deny) {
    const Fault fault = denied(verdict_.reason, verdict_.retry_after);
    return refuse(mode == config::DegradeMode::cache_only ? not_stored(fault) : fault);
  }
  plan_fetch();
  return true;
}

dispatch::Terms Exchange::terms(TimePoint arrived) const {
  const config::Dispatch& settings = here_->upstream(subject_.upstream).config.dispatch;
  dispatch::Terms terms;
  terms.traffic_class = subject_.traffic_class;
  terms.max_wait = here_->config().classes[index(subject_.traffic_class)].max_wait;
  const Duration before = arrived - began_;
  if (patience_spent_) terms.max_wait = std::max(terms.max_wait - before, Duration{0});
  terms.deadline = subject_.wait_until(uncounted(before));
  if (in_background_) {
    terms.in_background = true;
    terms.traffic_class = here_->config().lowest_class();
  }
  terms.certainty = overload::certainty_in(record_.state);
  if (verdict_.kind == overload::Verdict::Kind::allow_if_short_wait) {
    terms.short_wait = verdict_.only_if_free ? Duration{0} : Duration(settings.target_wait);
    terms.short_wait_reason = verdict_.reason;
  }
  terms.cost = here_->route_cost.estimate(subject_.route, announces_degrade_);
  return terms;
}

// The time that the client took to send the body, or another request to be answered, is not counted
// against a request.
Duration Exchange::uncounted(Duration before_gate) const {
  return patience_spent_ ? Duration{0} : before_gate;
}

bool Exchange::refused_by_gate(Reason reason) {
  if (verdict_.refuse_silently && reason == verdict_.reason) return refuse(dropped(reason));
  if (reason != Reason::deadline_expired) return refuse(denied(reason, retry_after()));
  keep_dead_letter(reason);
  return refuse(waited_in_vain(reason, retry_after()));
}

bool Exchange::waited_in_vain_for_slot() {
  if (ticket_.reason != Reason::evicted) keep_dead_letter(ticket_.reason);
  return refuse(waited_in_vain(ticket_.reason, retry_after()));
}

Milliseconds Exchange::retry_after() {
  const auto& rule = here_->plan(subject_.upstream).rule(subject_.route, subject_.traffic_class);
  return overload::spread_retry_after(rule.retry_after, worker_.random);
}

void Exchange::keep_dead_letter(Reason reason) {
  Upstream& upstream = here_->upstream(subject_.upstream);
  if (!upstream.dead_letters.keeps() || is_shadow()) return;
  upstream.dead_letters.record({.reason = reason,
                                .traffic_class = subject_.traffic_class,
                                .route = subject_.route,
                                .at = Clock::now(),
                                .waited = waited_,
                                .method = request_.method_name,
                                .path = http::path_of(request_.path_and_query),
                                .request_id = find_request_id(),
                                .tenant = subject_.tenant.value()});
}

void Exchange::got_slot(const dispatch::Offer& offer) {
  if (in_background_) return;
  here_->signals(subject_.upstream).record_admitted();
  here_->tenants(subject_.upstream).record_admitted(subject_.traffic_class);
  here_->metrics.queue_wait(subject_.traffic_class, waited_);
  if (offer.predicted_wait && offer.kind == dispatch::Offer::Kind::queued) {
    const Duration error = waited_ - *offer.predicted_wait;
    here_->metrics.wait_prediction_error(subject_.traffic_class,
                                         error < Duration{0} ? -error : error);
  }
}

// The upstream has finished with the request, or will not be asked.
void Exchange::release_slot(TimePoint now) {
  if (ghost_) release_ghost();
  if (!slot_) return;
  if (upstream_done_)
    here_->route_cost.record(subject_.route, now - dispatched_, announces_degrade_);
  slot_.release(now);
}

// The request goes on without its ticket, which nobody waits for.
void Exchange::leave_ghost() {
  ghost_ = true;
  ticket_.parking = nullptr;
}

// Takes the ghost out of the queue or gives its slot back. False while it is on its way here from
// another thread.
bool Exchange::release_ghost() {
  Gate& gate = here_->upstream(subject_.upstream).gate;
  const TimePoint now = Clock::now();
  if (gate.cancel(ticket_, now)) {
    ghost_ = false;
    return true;
  }
  if (!ticket_.delivered) return false;
  ghost_ = false;
  here_->signals(subject_.upstream).record_wait(ticket_.waited);
  if (ticket_.state != dispatch::Waiter::State::granted) {
    waited_in_vain_for_slot();
    return true;
  }
  here_->signals(subject_.upstream).record_admitted();
  here_->tenants(subject_.upstream).record_admitted(subject_.traffic_class);
  if (upstream_done_)
    here_->route_cost.record(subject_.route, now - dispatched_, announces_degrade_);
  gate.leave(subject_.traffic_class, now - dispatched_, now);
  return true;
}

Task<> Exchange::await_ghost() {
  ticket_.parking = &parking_;
  while (!ticket_.delivered) co_await parking_.park(kNever);
  release_ghost();
}

bool Exchange::is_logged() {
  const double sample = here_->config().log.access_sample;
  if (sample > 0 && worker_.random.uniform() < sample) return true;
  return shadow_outcome_ && worker_.may_log_shadow();
}

void Exchange::log_access(Outcome outcome, Duration duration) {
  record_.wait = waited_;
  record_.deadline = subject_.wait_until(Duration{0});
  // Behind a trusted peer the client is who that one speaks for.
  const IpAddress client = classified_
                               ? here_->generation().classifier.client_of(request_, asker_->peer)
                               : asker_->peer.address;
  const bool is_spoken_for = client != asker_->peer.address;
  const AddressText client_text = is_spoken_for ? AddressText(client) : AddressText();
  const std::string_view peer = asker_->address();
  const Upstream& upstream = here_->upstream(subject_.upstream);
  record_.limit = upstream.config.dispatch.concurrency;
  worker_.log().access(
      {.client = is_spoken_for ? client_text.view() : peer,
       .peer = is_spoken_for ? peer : std::string_view{},
       .method = request_.method_name,
       .path = http::path_of(request_.path_and_query.empty() ? request_.target
                                                             : request_.path_and_query),
       .route = here_->config().routes[index(subject_.route)].name,
       .traffic_class = here_->config().classes[index(subject_.traffic_class)].name,
       .tenant = subject_.tenant.value(),
       .status = status_,
       .outcome = outcome,
       .shadow = shadow_outcome_,
       .reason = failed()       ? fault_.reason
                 : is_degraded_ ? verdict_.reason
                                : Reason::none,
       .error = failed() ? fault_.proxy_error.empty() ? http::proxy_error_of(fault_.reason)
                                                      : fault_.proxy_error
                         : std::string_view{},
       .detail =
           failed() ? fault_.cause.empty() ? fault_.detail : fault_.cause : std::string_view{},
       .server = attempts_ > 0 ? upstream.endpoints[asked_server_].name : std::string_view{},
       .attempts = attempts_,
       .decision = classified_ ? &record_ : nullptr,
       .arrived = began_,
       .wait = waited_,
       .duration = duration,
       .request_id = find_request_id(),
       .bytes = body_bytes_sent_,
       .mode = outcome == Outcome::degraded ? config::name(verdict_.mode) : std::string_view{},
       .cache = cache_status_.has_cache ? observe::name(lookup_) : std::string_view{}});
}

}  // namespace spillway::proxy
