#include "simulate/model/proxy_model.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "simulate/model/deferral_rules.hpp"
#include "simulate/model/traffic_source.hpp"

namespace spillway::simulate {

using dispatch::Offer;
using overload::DegradedAnswer;
using overload::Verdict;

ProxyModel::ProxyModel(const Scenario& scenario, ServersModel* servers)
    : scenario_(scenario),
      upstream_(scenario.config.upstreams[index(scenario.upstream)]),
      servers_(servers != nullptr && servers->count() > 1 ? servers : nullptr),
      random_(random_stream(scenario.seed, Draws::decisions, 0)),
      scheduler_(upstream_.dispatch, scenario.config.classes, upstream_.overload.regulate),
      shadow_(scheduler_, scenario.config.routes.size()),
      controller_(scenario.config, upstream_),
      budgets_(scenario.config, upstream_),
      returns_{overload::RetryBooking(scenario.config.classes.size())},
      tenant_budgets_(scenario.config.tenants),
      tenants_(scenario.config),
      times_{dispatch::RouteCost(scenario.config.routes.size()),
             dispatch::RouteLatency(scenario.config.routes.size()),
             dispatch::QuietLatency(scenario.config.routes.size())},
      store_(scenario.config.routes) {
  scheduler_.share_slots(controller_.limit(), 0, dispatch::Scheduler::Reserved::kept);
  for (const config::TrafficClass& one : scenario.config.classes) {
    max_queue_.push_back(one.max_queue);
  }
  for (const Clients& clients : scenario.clients) {
    const RouteId route = route_of(scenario, clients);
    classifications_.push_back(
        {route, scenario.config.routes[index(route)].deadline, clients.deadline});
    auto& tiers = tiers_.emplace_back();
    for (std::uint32_t i = 0; i < clients.tenants; ++i)
      tiers.push_back(simulate::tier_of(scenario, clients, i));
  }
}

ProxyModel::Admission ProxyModel::arrive(Request& request, TimePoint now) {
  if (store_.answers(classification_of(request).route, request.demand.key, now)) {
    answer_from_store(request, false);
    return {Entry::answered, Duration{0}, nullptr};
  }
  const bool is_deferred = is_deferred_first(scenario_, request);
  tenants_.record_offered(request.traffic_class, request.demand.tenant_id,
                          times_.cost.estimate(classification_of(request).route),
                          tier_of(request).weight);
  const Verdict verdict = decide(request, now);
  if (verdict.kind == Verdict::Kind::drop) return refuse(request, Duration{0}, now);
  if (verdict.kind == Verdict::Kind::deny)
    return refuse(request, verdict.reason, verdict.retry_after, now);
  if (verdict.kind == Verdict::Kind::degrade && request.answered_by != AnsweredBy::backend) {
    budgets_.give_back(request.passage.token);
    return {Entry::answered, Duration{0}, nullptr};
  }
  if (is_deferred) {
    request.passage.token = {};
    return {Entry::deferred, Duration{0}, nullptr};
  }

  follow_servers(now);
  if (is_shadow()) return haunt(request, terms_of(request, verdict, now), now);
  const Offer offer = scheduler_.offer(request, terms_of(request, verdict, now), now);
  Admission admission;
  switch (offer.kind) {
    case Offer::Kind::granted: admission.entry = Entry::start; break;
    case Offer::Kind::refused: {
      // A dropped client gets no Retry-After.
      const bool is_dropped = verdict.refuse_silently && offer.reason == verdict.reason;
      admission = is_dropped ? refuse(request,
                                      book_return(request, offer.reason, Milliseconds{0}, now), now)
                             : refuse(request, offer.reason, retry_after(request), now);
      break;
    }
    case Offer::Kind::queued: admission.entry = Entry::wait; break;
  }
  admission.evicted = static_cast<Request*>(offer.evicted);
  return admission;
}

dispatch::Terms ProxyModel::terms_of(const Request& request, const Verdict& verdict,
                                     TimePoint now) const {
  const Classification& classification = classification_of(request);
  // A visitor that was let in may have another class than its route, and then has that class's
  // deadline.
  const config::TrafficClass& its_class = scenario_.config.classes[index(request.traffic_class)];
  const std::optional<Milliseconds>& of_route = classification.routes_deadline;
  const TimePoint clients =
      classification.clients_deadline ? now + *classification.clients_deadline : kNever;
  dispatch::Terms terms{.traffic_class = request.traffic_class,
                        .deadline = DueTime(now + of_route.value_or(its_class.sla), clients),
                        .max_wait = its_class.max_wait,
                        .cost = times_.cost.estimate(classification.route, request.degraded)};
  if (!of_route) terms.clients_deadline = clients;
  if (scenario_.config.tenants.fairness) {
    terms.tenant = request.demand.tenant_id;
    terms.tenant_weight = tier_of(request).weight;
  }
  terms.certainty = overload::certainty_in(controller_.plan()->state());
  if (verdict.kind == Verdict::Kind::allow_if_short_wait) {
    terms.gives_way = verdict.gives_way;
    if (verdict.only_if_free) terms.short_wait = Duration{0};
    terms.up_to_target_wait = !verdict.only_if_free;
    terms.short_wait_reason = verdict.reason;
  }
  const config::Dispatch& dispatch = upstream_.dispatch;
  if (dispatch.deadline_aware && !request.degraded)
    terms.answer_by = of_route ? terms.deadline : DueTime(kNever, clients);
  if (terms.answer_by != kNever) {
    if (const auto times = times_.latency.times(classification.route, now)) {
      terms.takes = times->usual;
      terms.takes_at_least = times->least;
    }
  }
  terms.newest_first =
      overload::is_newest_first(controller_.plan()->order(), request.traffic_class);
  return terms;
}

// Applies the plan's verdict. A degraded request is answered from the cache or by the fallback, or
// becomes cheaper (skip_downstream).
Verdict ProxyModel::decide(Request& request, TimePoint now) {
  const overload::AdmissionRequest asking{classification_of(request).route, request.traffic_class,
                                          request.demand.tenant_id,
                                          tenant_budgets_.find(tier_of(request).number)};
  const overload::AdmissionPlan& plan = *controller_.plan();
  Verdict verdict = overload::decide(plan, budgets_, asking, now, random_);
  const config::Rule& rule = plan.rule(asking.route, asking.traffic_class);
  const bool is_limited = overload::is_over_rate(verdict, plan.state(), rule);
  if (!is_limited && !is_deferred_first(scenario_, request)) signals_.record_offered();
  if (verdict.kind != Verdict::Kind::degrade && !is_shadow())
    prefer_free_answer(request, verdict, now);
  if (verdict.kind == Verdict::Kind::degrade && !is_shadow()) {
    const DegradedAnswer answer = overload::degraded_answer(verdict, at_hand(request, now));
    degrade(request, answer);
    if (answer == DegradedAnswer::none) verdict = on_miss(verdict);
  }
  request.passage.token = verdict.token;
  return verdict;
}

ProxyModel::Admission ProxyModel::refuse(Request& request, Duration retry_after, TimePoint now) {
  budgets_.give_back(request.passage.token);
  const DegradedAnswer instead = answer_for_refusal(request, now);
  if (!is_shadow()) {
    degrade(request, instead);
    const Entry entry = instead == DegradedAnswer::none ? Entry::refused : Entry::answered;
    return {entry, entry == Entry::refused ? retry_after : Duration{0}, nullptr};
  }
  request.passage.token = {};
  request.passage.ghost = &shadow_.pass(classification_of(request).route, now);
  forward(request, now);
  return {Entry::forward, Duration{0}, nullptr, instead == DegradedAnswer::none};
}

// With a Retry-After of at least `least`; deferred requests do not return.
ProxyModel::Admission ProxyModel::refuse(Request& request, Reason reason, Milliseconds least,
                                         TimePoint now) {
  const bool is_deferred = is_deferred_for(scenario_, request, reason);
  const Duration pause = is_deferred ? Duration{0} : book_return(request, reason, least, now);
  Admission admission = refuse(request, pause, now);
  if (is_deferred && admission.entry == Entry::refused) admission.entry = Entry::deferred;
  return admission;
}

void ProxyModel::forward(Request& request, TimePoint now) {
  request.passage.dispatched = now;
  request.passage.in_flight = in_flight_.size();
  in_flight_.push_back(&request);
}

void ProxyModel::start(Request& request, TimePoint now) {
  request.passage.token = {};
  request.passage.has_slot = true;
  forward(request, now);
  if (request.in_background) return;
  signals_.record_wait(request.waited);
  signals_.record_admitted();
  tenants_.record_admitted(request.traffic_class,
                           times_.cost.estimate(classification_of(request).route));
}

void ProxyModel::return_slot(Request& request, TimePoint now) {
  budgets_.give_back(request.passage.token);
  follow_servers(now);
  granted_ = scheduler_.release(request.served_as, Duration{0}, now, request.in_background);
}

void ProxyModel::answered(Request& request, TimePoint now) {
  request.passage.was_answered = true;
  signals_.record_latency(now - request.passage.dispatched);
  record_result(request, request.fails);
  if (!request.fails && !request.degraded)
    store_.put(classification_of(request).route, request.demand.key, now);
  if (!request.fails && !request.degraded) learn_times(request, now);
}

// Paths are not modelled: all requests have the same.
void ProxyModel::record_result(const Request& request, bool failed) {
  if (request.as_job) return;  // as in the proxy
  using Kind = overload::SourceKind;
  const RouteId route = classification_of(request).route;
  overload::AnswerSource source{.traffic_class = request.traffic_class};
  source[Kind::client] = {request.demand.address, "client"};
  source[Kind::tenant] = {index(request.demand.tenant_id), "tenant"};
  source[Kind::route] = {index(route), scenario_.config.routes[index(route)].name};
  signals_.record_result(failed, source);
}

void ProxyModel::learn_times(const Request& request, TimePoint now) {
  const RouteId route = classification_of(request).route;
  const Duration latency = now - request.passage.dispatched;
  times_.latency.record(route, latency, now);
  if (const auto times = times_.quiet.relative(route, latency))
    signals_.record_relative_latency(*times);
  if (controller_.plan()->is_quiet()) times_.quiet.learn(route, latency, now);
}

void ProxyModel::end(Request& request, TimePoint now) {
  leave_flight(request, now);
  if (!request.passage.has_slot) return;
  request.passage.has_slot = false;
  const Duration held = now - request.passage.dispatched;
  if (request.passage.was_answered)
    times_.cost.record(classification_of(request).route, held, request.degraded);
  follow_servers(now);
  granted_ = scheduler_.release(request.served_as, held, now, request.in_background);
}

TimePoint ProxyModel::abandon(Request& request, TimePoint now) {
  leave_flight(request, now);
  if (!request.passage.has_slot) return now;
  const Duration timeout = upstream_.response_timeout;
  const auto usual = times_.latency.nearly_longest(classification_of(request).route);
  return request.passage.dispatched + std::min(usual.value_or(timeout), timeout);
}

void ProxyModel::end_unanswered(Request& request, TimePoint now) {
  if (request.passage.has_slot)
    times_.latency.record_unanswered(classification_of(request).route,
                                     2 * (now - request.passage.dispatched),
                                     now);  // as AbandonedCall
  end(request, now);
}

void ProxyModel::end_abandoned(Request& request, TimePoint now) {
  if (request.passage.has_slot)
    times_.latency.record_unanswered(classification_of(request).route,
                                     now - request.passage.dispatched, now);
  end(request, now);
}

void ProxyModel::leave_flight(Request& request, TimePoint now) {
  if (!request.passage.in_flight) return;
  const std::size_t place = *request.passage.in_flight;
  in_flight_[place] = in_flight_.back();
  in_flight_[place]->passage.in_flight = place;
  in_flight_.pop_back();
  request.passage.in_flight.reset();
  if (request.passage.ghost != nullptr) leave_shadow(request, now);
  if (request.passage.has_slot && !request.passage.was_answered)
    times_.latency.record_unanswered(classification_of(request).route,
                                     now - request.passage.dispatched, now);
}

bool ProxyModel::cancel(Request& request, TimePoint now) {
  if (!scheduler_.cancel(request, now)) return false;
  budgets_.give_back(request.passage.token);
  return true;
}

Request* ProxyModel::expire(TimePoint now) {
  if (!is_shadow()) return static_cast<Request*>(scheduler_.expire(now));
  shadow_.advance(now);
  return nullptr;
}

Duration ProxyModel::expired(Request& request, TimePoint now) {
  signals_.record_wait(request.waited);
  budgets_.give_back(request.passage.token);
  if (is_deferred_for(scenario_, request, request.reason)) return Duration{0};
  return book_return(request, request.reason, retry_after(request), now);
}

Request* ProxyModel::next(TimePoint now) {
  if (is_shadow()) return nullptr;
  follow_servers(now);
  dispatch::Waiter* granted = std::exchange(granted_, nullptr);
  if (granted == nullptr) granted = scheduler_.next(now);
  if (granted == nullptr) granted = scheduler_.next_in_background(now);
  return static_cast<Request*>(granted);
}

void ProxyModel::sweep(TimePoint now) {
  ages_.absolute.clear();
  ages_.relative.clear();
  for (const Request* request : in_flight_) {
    const Duration age = now - request->passage.dispatched;
    ages_.absolute.push_back(age);
    if (const auto times = times_.quiet.relative(classification_of(*request).route, age))
      ages_.relative.push_back(*times);
  }
  signals_.publish_ages(ages_.absolute, ages_.relative);
  tenants_.publish(now);
}

std::optional<overload::Transition> ProxyModel::tick(TimePoint now, const EventLoop& loop,
                                                     Duration ahead) {
  const overload::SignalShard* const shards[] = {&signals_};
  const overload::TenantShard* const tenants[] = {&tenants_};
  std::vector<std::uint32_t> queued;
  for (std::size_t c = 0; c < max_queue_.size(); ++c) {
    queued.push_back(scheduler_.queued(static_cast<ClassId>(c)));
  }
  std::optional<double> lag;
  if (loop.lag) lag = to_seconds(*loop.lag);
  std::vector<std::uint64_t> started;
  std::vector<double> predicted;
  for (std::size_t c = 0; c < max_queue_.size(); ++c) {
    const auto id = static_cast<ClassId>(c);
    started.push_back(scheduler_.totals(id).started);
    predicted.push_back(to_seconds(scheduler_.wait_for_room(id, now).value_or(Duration{0})));
  }
  std::span<const overload::ServerTick> servers;
  if (servers_ != nullptr) servers = servers_->ticks(now);
  const overload::Tick result = controller_.tick(
      {.shards = shards,
       .busy_slot_seconds = scheduler_.busy_slot_seconds(now),
       .shared_slot_seconds = scheduler_.shared_slot_seconds(now),
       .reserved = static_cast<double>(scheduler_.reserved()),
       .concurrency = static_cast<double>(
           std::min<std::uint32_t>(upstream_.dispatch.concurrency, scheduler_.concurrency())),
       .queued = queued,
       .max_queue = max_queue_,
       .event_loop_lag = lag,
       .event_loop_use = loop.use,
       .started = started,
       .predicted_wait = predicted,
       .tenants = tenants,
       .has_refused = budgets_.take_has_refused(),
       .wall = now.time_since_epoch() + ahead,
       .rotation = servers_ != nullptr ? servers_->in_rotation(controller_.limit(), now)
                                       : overload::InRotation{},
       .servers = servers},
      now);
  if (const auto weights = controller_.server_weights(); servers_ != nullptr && !weights.empty())
    servers_->share(weights);
  returns_.booking.measure(overload::shown_capacity(controller_.signals(), scheduler_.mean_hold()),
                           now);
  if (servers_ == nullptr && scheduler_.concurrency() != result.limit)
    scheduler_.share_slots(result.limit, 0, dispatch::Scheduler::Reserved::kept);
  follow_servers(now);
  return result.transition;
}

// The same as Gate::limit().
void ProxyModel::follow_servers(TimePoint now) {
  if (servers_ == nullptr) return;
  const std::uint32_t all = controller_.limit();
  servers_->divide(is_shadow() ? std::numeric_limits<std::uint32_t>::max() : all);
  const std::uint32_t slots =
      std::min(all, std::max(servers_->usable(all, now), scheduler_.reserved() + 1));
  if (scheduler_.concurrency() != slots)
    scheduler_.share_slots(slots, 0, dispatch::Scheduler::Reserved::kept);
}

// Nothing is booked in shadow mode, where no client gets a Retry-After.
Duration ProxyModel::book_return(const Request& request, Reason reason, Milliseconds least,
                                 TimePoint now) {
  if (is_shadow() || is_callers_own(reason) || reason == Reason::deadline_expired) return least;
  ++returns_.refused;
  if (!scenario_.books_returns) return least;
  return returns_.booking.book(request.traffic_class, least, now, random_);
}

Milliseconds ProxyModel::retry_after(const Request& request) {
  const config::Rule& rule =
      controller_.plan()->rule(classification_of(request).route, request.traffic_class);
  return overload::spread_retry_after(rule.retry_after, random_);
}

}  // namespace spillway::simulate
