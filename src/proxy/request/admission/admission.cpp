#include "proxy/request/admission/admission.hpp"

#include <algorithm>

#include "config/choices.hpp"
#include "http/message/target.hpp"

namespace spillway::proxy {

Admission::Admission(Services& services, const RequestContext& request, Parking& parking)
    : services_(services), request_(request), parking_(parking) {
  ticket_.mailbox = &services.mailbox;
  ticket_.parking = &parking;
}

Admission::~Admission() {
  // Still queued only if the worker has ended: otherwise a request waits for its ticket.
  if (ticket_.state == dispatch::Waiter::State::queued) gate().cancel(ticket_, services_.now());
  if (shadow_.ghost != nullptr) gate().leave_shadow(*shadow_.ghost, false, services_.now());
}

void Admission::decide() {
  const traffic::Classification& classification = request_.classification;
  const overload::AdmissionPlan& plan = request_.generation->plan(classification.upstream);
  const config::Tier& tier = *classification.tenant.tier;
  draws_ = Random(services_.random.next());
  request_.tenants().record_offered(classification.traffic_class, classification.tenant.id,
                                    request_.generation->route_cost.estimate(classification.route),
                                    tier.weight);
  if (plan.tenants() != nullptr) name_heavy_tenant(plan);
  judge(request_.generation->generation().tenant_budgets.find(tier.number), request_.arrived);
}

// Draws the same random numbers as decide(): a request that was allowed is refused only if the
// share to be refused has grown. The budget of its tenant has already counted it.
bool Admission::decide_again() {
  const overload::AdmissionPlan& plan = request_.generation->plan(request_.classification.upstream);
  const bool is_normal = plan.state() == State::normal && record_.state == State::normal;
  if (is_normal || shadow_.outcome) return false;
  give_back_token();
  degraded_ = Degraded::no;
  judge(nullptr, services_.now());
  return true;
}

// `budget`: of its tenant. Null: it has none, or the budget has already counted the request.
void Admission::judge(overload::TenantBudget* budget, TimePoint now) {
  const traffic::Classification& classification = request_.classification;
  const overload::AdmissionPlan& plan = request_.generation->plan(classification.upstream);
  const overload::AdmissionRequest asked{classification.route, classification.traffic_class,
                                         classification.tenant.id, budget};
  Random draws = draws_;
  verdict_ = overload::decide(plan, request_.upstream().budgets, asked, now, draws);
  record_ = overload::record_of(asked, plan, verdict_);
  using Kind = overload::Verdict::Kind;
  const bool is_held =
      verdict_.kind == Kind::deny || verdict_.kind == Kind::drop || verdict_.kind == Kind::degrade;
  if (is_held && !is_over_rate(verdict_, plan.state(), plan.rule(asked.route, asked.traffic_class)))
    count_offered();
}

void Admission::count_offered() {
  if (!is_offered_) request_.signals().record_offered();
  is_offered_ = true;
}

const config::Rule* Admission::overload_rule() const {
  const traffic::Classification& classification = request_.classification;
  const overload::AdmissionPlan& plan = request_.generation->plan(classification.upstream);
  if (plan.state() == State::normal) return nullptr;
  return &plan.rule(classification.route, classification.traffic_class);
}

const config::Rule* Admission::degrading_rule() const {
  const traffic::Classification& classification = request_.classification;
  return request_.generation->plan(classification.upstream)
      .degrading(classification.route, classification.traffic_class);
}

void Admission::prefer(const config::Rule& degrading) {
  give_back_token();
  const overload::AdmissionPlan& plan = request_.generation->plan(request_.classification.upstream);
  verdict_ = overload::judge(degrading, plan.state(), plan.cause(), 0);
  record_.verdict = verdict_.kind;
  record_.reason = verdict_.reason;
  record_.probability = verdict_.probability;
  record_.draw = verdict_.draw;
}

std::optional<Fault> Admission::on_miss() {
  const config::DegradeMode mode = verdict_.mode;
  verdict_ = overload::on_miss(verdict_);
  record_.verdict = verdict_.kind;
  record_.reason = verdict_.reason;
  if (verdict_.kind != overload::Verdict::Kind::deny) return std::nullopt;
  const Fault fault = denied(verdict_.reason, verdict_.retry_after);
  return refuse(mode == config::DegradeMode::cache_only ? not_stored(fault) : fault);
}

std::optional<Fault> Admission::refuse(const Fault& fault) {
  give_back_token();
  record_.reason = fault.reason;
  if (!request_.is_shadow()) return fault;
  shadow_.is_refused = true;
  shadow_.outcome =
      shadow_.answers_refusal && is_refusal(fault) ? Outcome::degraded : fault.outcome;
  return std::nullopt;
}

void Admission::degrade_for(Reason reason, config::DegradeMode mode) {
  degraded_ = Degraded::answer;
  verdict_.mode = mode;
  verdict_.reason = record_.reason = reason;
}

// Decisions identify tenants by id; /state shows names.
void Admission::name_heavy_tenant(const overload::AdmissionPlan& plan) {
  const traffic::Tenant& tenant = request_.classification.tenant;
  if (plan.tenants()->of(request_.classification.traffic_class).chance(tenant.id) == 0) return;
  if (!services_.recent.note_name(tenant.id)) return;
  request_.upstream().tenant_names.remember(tenant.id, config::name(tenant.source), tenant.value());
}

dispatch::Terms Admission::terms(Duration spent, TimePoint now) const {
  dispatch::Terms terms;
  terms.traffic_class = request_.classification.traffic_class;
  terms.max_wait = std::max(Duration(request_.traffic_class().max_wait) - spent, Duration{0});
  terms.deadline = request_.classification.wait_until(uncounted_);
  if (!request_.classification.has_route_deadline)
    terms.clients_deadline = request_.classification.client.at;
  if (request_.config().tenants.fairness) {
    terms.tenant = request_.classification.tenant.id;
    terms.tenant_weight = request_.classification.tenant.tier->weight;
  }
  terms.certainty = overload::certainty_in(record_.state);
  if (verdict_.kind == overload::Verdict::Kind::allow_if_short_wait) {
    terms.gives_way = verdict_.gives_way;
    if (verdict_.only_if_free) terms.short_wait = Duration{0};
    terms.up_to_target_wait = !verdict_.only_if_free;
    terms.short_wait_reason = verdict_.reason;
  }
  const config::Dispatch& dispatch = request_.upstream_config().dispatch;
  if (dispatch.deadline_aware && !announces_degrade())
    terms.answer_by = request_.classification.response_deadline(uncounted_);
  if (terms.answer_by != kNever) {
    const auto times = request_.generation->route_latency.times(request_.classification.route, now);
    terms.takes = times ? times->usual : Duration{0};
    terms.takes_at_least = times ? times->least : Duration{0};
  }
  terms.newest_first = record_.newest_first;
  terms.cost =
      request_.generation->route_cost.estimate(request_.classification.route, announces_degrade());
  return terms;
}

// The terms for a slot that no client's request wants.
dispatch::Terms Admission::background_terms(TimePoint now) const {
  dispatch::Terms its = terms(Duration{0}, now);
  its.in_background = true;
  its.traffic_class = request_.config().lowest_class();
  return its;
}

std::optional<Fault> Admission::enter_gate(TimePoint arrived, Duration uncounted, Duration spent) {
  count_offered();
  dispatched_ = arrived;
  uncounted_ = uncounted;
  if (request_.is_shadow()) return enter_shadow(spent);
  ticket_.delivered = false;
  ticket_.parking = &parking_;
  ticket_.state = dispatch::Waiter::State::idle;
  const dispatch::Offer offer = gate().enter(ticket_, terms(spent, arrived), arrived);
  record_offer(offer);
  if (offer.kind == dispatch::Offer::Kind::refused) return on_gate_rejection(offer.reason);
  if (offer.kind == dispatch::Offer::Kind::granted) {
    slot_ = Slot(gate(), ticket_.served_as, dispatched_);
    request_.signals().record_wait(Duration{0});
    on_slot();
  } else {
    is_queued_ = true;
  }
  return std::nullopt;
}

void Admission::record_offer(const dispatch::Offer& offer) {
  record_.predicted_wait = offer.predicted_wait;
  record_.deadline = offer.deadline;
}

Task<std::optional<Fault>> Admission::wait_in_queue() {
  bool is_gone = false;
  while (!ticket_.delivered) {
    const Wake wake = co_await parking_.park({.client_gone = !is_gone});
    if (wake != Wake::client_gone || is_gone) continue;
    is_gone = true;
    const Withdrawal withdrawal = gate().cancel(ticket_, services_.now());
    if (withdrawal == Withdrawal::withdrawn) co_return client_gone();
  }
  waited_ = services_.now() - dispatched_;
  dispatched_ += waited_;
  request_.signals().record_wait(waited_);
  if (ticket_.state != dispatch::Waiter::State::granted) co_return on_queue_timeout();
  slot_ = Slot(gate(), ticket_.served_as, dispatched_);
  if (is_gone) co_return client_gone();
  on_slot();
  co_return std::nullopt;
}

bool Admission::take_free_slot(TimePoint now) {
  dispatched_ = now;
  ticket_.state = dispatch::Waiter::State::idle;
  if (gate().enter(ticket_, background_terms(now), now).kind != dispatch::Offer::Kind::granted)
    return false;
  slot_ = Slot(gate(), ticket_.served_as, now);
  return true;
}

Task<Admission::SpareSlot> Admission::wait_for_spare_slot(TimePoint until, bool goes_first) {
  dispatched_ = services_.now();
  ticket_.delivered = false;
  ticket_.parking = &parking_;
  ticket_.state = dispatch::Waiter::State::idle;
  dispatch::Terms its_terms = background_terms(dispatched_);
  its_terms.has_time = true;
  its_terms.goes_first = goes_first;
  const dispatch::Offer offer = gate().enter(ticket_, its_terms, dispatched_);
  bool is_cancelled = false;
  if (offer.kind != dispatch::Offer::Kind::granted) {
    while (!ticket_.delivered) {
      const Wake wake = co_await parking_.park({.deadline = is_cancelled ? kNever : until});
      if (wake == Wake::ready || is_cancelled) continue;
      is_cancelled = true;
      const Withdrawal withdrawal = gate().cancel(ticket_, services_.now());
      if (withdrawal == Withdrawal::withdrawn) co_return SpareSlot::gave_up;
    }
  }
  waited_ = services_.now() - dispatched_;
  dispatched_ += waited_;
  slot_ = Slot(gate(), ticket_.served_as, dispatched_, true);
  if (is_cancelled) slot_.release(dispatched_);
  co_return is_cancelled ? SpareSlot::gave_up : SpareSlot::granted;
}

std::optional<Fault> Admission::on_gate_rejection(Reason reason) {
  if (verdict_.refuse_silently && reason == verdict_.reason) return refuse(dropped(reason));
  const bool is_late = reason == Reason::deadline_expired;
  if (is_late) keep_dead_letter(reason);
  return refuse(
      by_ticket(is_late ? no_slot(reason, retry_after()) : denied(reason, retry_after())));
}

std::optional<Fault> Admission::on_queue_timeout() {
  if (ticket_.reason != Reason::evicted) keep_dead_letter(ticket_.reason);
  return refuse(by_ticket(no_slot(ticket_.reason, retry_after())));
}

Fault Admission::by_ticket(Fault fault) const {
  fault.by_clients_deadline = ticket_.by_clients_deadline;
  return fault;
}

Milliseconds Admission::retry_after() {
  const traffic::Classification& classification = request_.classification;
  const auto& rule = request_.generation->plan(classification.upstream)
                         .rule(classification.route, classification.traffic_class);
  return overload::spread_retry_after(rule.retry_after, services_.random);
}

Milliseconds Admission::book_return(const Fault& fault) {
  if (!is_shed(fault)) return fault.retry_after;
  request_.upstream().refused.fetch_add(1, std::memory_order_relaxed);
  return request_.upstream().returns.book(request_.classification.traffic_class, fault.retry_after,
                                          services_.now(), services_.random);
}

std::optional<Duration> Admission::predicted_wait(const Fault& fault) const {
  return is_shed(fault) ? record_.predicted_wait : std::nullopt;
}

void Admission::keep_dead_letter(Reason reason) {
  Upstream& upstream = request_.upstream();
  if (!upstream.dead_letters.is_enabled() || request_.is_shadow()) return;
  upstream.dead_letters.record({.reason = reason,
                                .traffic_class = request_.classification.traffic_class,
                                .route = request_.classification.route,
                                .at = services_.now(),
                                .waited = waited_,
                                .method = request_.head.method_name,
                                .path = http::path_of(request_.head.path_and_query),
                                .request_id = request_.id(services_.random),
                                .tenant = request_.classification.tenant.value()});
}

void Admission::on_slot() {
  const ClassId traffic_class = request_.classification.traffic_class;
  request_.signals().record_admitted();
  request_.tenants().record_admitted(
      traffic_class, request_.generation->route_cost.estimate(request_.classification.route));
  request_.metrics().queue_wait(traffic_class, waited_);
  if (is_queued_ && record_.predicted_wait) {
    const Duration error = waited_ - *record_.predicted_wait;
    request_.metrics().wait_prediction_error(traffic_class, error < Duration{0} ? -error : error);
  }
}

void Admission::on_answer(std::optional<Duration> latency, bool failed, TimePoint now) {
  is_answered_ = true;
  if (!latency || announces_degrade()) return;
  const RouteId route = request_.classification.route;
  LocalGeneration& generation = *request_.generation;
  const dispatch::LogTime log_latency(*latency);
  generation.route_latency.record(route, log_latency, now);
  if (failed) return;
  if (const auto times = generation.quiet_latency.relative(route, log_latency))
    request_.signals().record_relative_latency(*times);
  if (generation.plan(request_.classification.upstream).is_quiet())
    generation.quiet_latency.learn(route, log_latency, now);
}

void Admission::release_slot(TimePoint now) {
  const Duration held = now - dispatched_;
  const bool is_like_live = shadow_.ghost != nullptr && !shadow_.ghost->is_crowded;
  if ((slot_ || is_like_live) && !announces_degrade())
    request_.generation->class_cost.record(request_.classification.route, held, now);
  leave_shadow(true);
  if (!slot_) return;
  request_.generation->route_cost.record(request_.classification.route, held, announces_degrade());
  if (!announces_degrade())
    request_.generation->service_time.record(request_.classification.route, held, now);
  slot_.release(now);
}

resilience::SlotTerms Admission::slot_terms(const resilience::SlotLoad& load) const {
  return resilience::slot_terms(request_.limits().slot_rate_bytes,
                                request_.config().classes.front().max_wait, load);
}

void Admission::record_unanswered(TimePoint now) {
  if (!slot_ || std::exchange(is_answered_, true)) return;
  request_.generation->route_latency.record_unanswered(request_.classification.route,
                                                       now - dispatched_, now);
}

Slot Admission::abandon_slot(TimePoint now) {
  leave_shadow(false);
  record_unanswered(now);
  return std::move(slot_);
}

// Shadow mode: the request goes on, and its ghost takes its part at the gate.
std::optional<Fault> Admission::enter_shadow(Duration spent) {
  leave_shadow(false);
  const RouteId route = request_.classification.route;
  if (shadow_.is_refused) {  // refused before the gate
    shadow_.ghost = gate().pass_shadow(route, dispatched_);
    return std::nullopt;
  }
  const auto [offer, ghost] = gate().enter_shadow(route, terms(spent, dispatched_), dispatched_);
  shadow_.ghost = ghost;
  record_offer(offer);
  if (offer.kind == dispatch::Offer::Kind::refused) return on_gate_rejection(offer.reason);
  if (offer.kind == dispatch::Offer::Kind::granted) {
    request_.signals().record_wait(Duration{0});
    on_slot();
  }
  return std::nullopt;
}

// The request releases its ghost, which stays at the gate for as long as enforcing would have kept
// the request there. The sweep counts how the ghost ends later.
void Admission::leave_shadow(bool served) {
  if (shadow_.ghost == nullptr) return;
  const TimePoint now = services_.now();
  Gate::Ghost& ghost = *std::exchange(shadow_.ghost, nullptr);
  if (served && !ghost.is_crowded) {
    request_.generation->route_cost.record(request_.classification.route, now - dispatched_,
                                           announces_degrade());
  }
  const std::optional<Reason> lost = gate().leave_shadow(ghost, served, now);
  if (lost) refuse(no_slot(*lost, retry_after()));
}

const overload::DecisionRecord& Admission::complete_record() {
  record_.wait = waited_;
  if (record_.deadline == kNever)  // it never reached the gate
    record_.deadline = request_.classification.wait_until(Duration{0});
  record_.limit = gate().limit();
  return record_;
}

}  // namespace spillway::proxy
