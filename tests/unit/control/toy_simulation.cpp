#include "unit/control/toy_simulation.hpp"

#include <cmath>
#include <deque>
#include <memory>
#include <numbers>
#include <queue>
#include <vector>

#include "base/random.hpp"
#include "dispatch/scheduler.hpp"
#include "overload/controller.hpp"
#include "overload/decide.hpp"
#include "overload/shard.hpp"

namespace spillway::control {
namespace {

using dispatch::Offer;
using dispatch::Waiter;
using overload::State;
using overload::Verdict;
using namespace std::chrono_literals;

struct Request : Waiter {
  TimePoint started{};
};

enum class Happening : std::uint8_t { arrival, completion, gives_up, tick, timer };

struct Event {
  TimePoint at;
  std::uint64_t order;
  Happening what;
  Request* request;

  bool operator>(const Event& other) const {
    return at != other.at ? at > other.at : order > other.order;
  }
};

class Simulation {
 public:
  explicit Simulation(const Setup& setup)
      : setup_(setup),
        upstream_(setup.config.upstreams[0]),
        random_(setup.seed),
        scheduler_(upstream_.dispatch, setup.config.classes),
        controller_(setup.config, upstream_),
        budgets_(setup.config, upstream_) {}

  Result run() {
    const TimePoint begin = TimePoint{} + 1h;
    measured_from_ = begin + setup_.warm_up;
    measured_until_ = measured_from_ + setup_.duration;
    const TimePoint end = measured_until_ + 2s;  // for those that arrived late to finish
    schedule(begin, Happening::arrival);
    schedule(begin, Happening::tick);
    schedule(begin, Happening::timer);
    while (!events_.empty() && events_.top().at <= end) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      handle(event);
    }
    std::uint64_t served = 0;
    for (const ClassResult& c : result_.classes) served += c.served;
    result_.goodput = double(served) / (capacity() * to_seconds(setup_.duration));
    result_.time_overloaded /= to_seconds(setup_.duration);
    return result_;
  }

 private:
  double capacity() const { return scheduler_.concurrency() / to_seconds(setup_.service); }
  bool measuring() const { return now_ >= measured_from_ && now_ < measured_until_; }
  bool counts(const Waiter& w) const {
    return w.arrived >= measured_from_ && w.arrived < measured_until_;
  }
  ClassResult& result_of(const Waiter& w) { return result_.classes[index(w.traffic_class)]; }

  void schedule(TimePoint at, Happening what, Request* request = nullptr) {
    events_.push({at, order_++, what, request});
  }

  void handle(const Event& event) {
    switch (event.what) {
      case Happening::arrival:
        arrive();
        schedule(now_ + exponential(setup_.load * capacity()), Happening::arrival);
        break;
      case Happening::completion: complete(*event.request); break;
      case Happening::gives_up:
        if (scheduler_.cancel(*event.request, now_)) lose(*event.request);
        break;
      case Happening::tick:
        tick();
        schedule(now_ + upstream_.overload.tick, Happening::tick);
        break;
      case Happening::timer:
        while (Waiter* late = scheduler_.expire(now_)) lose(*late);
        schedule(now_ + 10ms, Happening::timer);
        break;
    }
  }

  void arrive() {
    const double draw = random_.uniform();
    const ClassId id{static_cast<std::uint8_t>(draw < setup_.mix[0]                   ? 0
                                               : draw < setup_.mix[0] + setup_.mix[1] ? 1
                                                                                      : 2)};
    requests_.emplace_back();
    Request& request = requests_.back();
    ClassResult& result = result_.classes[index(id)];
    if (measuring()) ++result.offered;
    shard_.record_offered();
    Verdict verdict;
    if (setup_.shedding != Shedding::off)
      verdict =
          overload::decide(*controller_.plan(), budgets_, {.traffic_class = id}, now_, random_);
    const bool conditional = verdict.kind == Verdict::Kind::allow_if_short_wait;
    if (verdict.kind != Verdict::Kind::allow &&
        !(conditional && setup_.shedding == Shedding::work_conserving)) {
      refused(result.denied);
      return;
    }
    const config::TrafficClass& c = setup_.config.classes[index(id)];
    dispatch::Terms terms{.traffic_class = id, .short_wait_reason = verdict.reason};
    if (conditional) terms.short_wait = upstream_.dispatch.target_wait;
    if (setup_.gate_knows_patience) {
      terms.deadline = now_ + c.sla;
      terms.max_wait = c.max_wait;
    }
    const Offer offer = scheduler_.offer(request, terms, now_);
    if (offer.evicted != nullptr && counts(*offer.evicted)) ++result_of(*offer.evicted).evicted;
    if (offer.kind == Offer::Kind::granted) start(request);
    if (offer.kind == Offer::Kind::queued && !setup_.gate_knows_patience)
      schedule(now_ + c.max_wait, Happening::gives_up, &request);
    if (offer.kind == Offer::Kind::refused)
      refused(offer.reason == Reason::queue_full ? result.queue_full
              : conditional                      ? result.denied
                                                 : result.wait_risk);
  }

  void refused(std::uint64_t& count) {
    if (!measuring()) return;
    ++count;
    if (scheduler_.running() < scheduler_.concurrency()) ++result_.refused_beside_free_slot;
  }

  void start(Request& request) {
    request.started = now_;
    shard_.record_admitted();
    shard_.record_wait(request.waited);
    ClassResult& result = result_of(request);
    if (counts(request) && request.predicted_wait) {
      result_.predicted_seconds += to_seconds(*request.predicted_wait);
      result_.waited_seconds += to_seconds(request.waited);
    }
    if (counts(request)) result.longest_wait = std::max(result.longest_wait, request.waited);
    schedule(now_ + lognormal(), Happening::completion, &request);
  }

  void complete(Request& request) {
    const Duration held = now_ - request.started;
    shard_.record_latency(held);
    shard_.record_result(false);
    if (counts(request) && now_ <= request.deadline) ++result_of(request).served;
    for (Waiter* next = scheduler_.release(request.traffic_class, held, now_); next != nullptr;
         next = scheduler_.next(now_))
      start(*static_cast<Request*>(next));
  }

  void lose(const Waiter& waiter) {
    shard_.record_wait(waiter.waited);
    if (!counts(waiter)) return;
    ClassResult& result = result_of(waiter);
    ++result.gave_up;
    result.wait_seconds_wasted += to_seconds(waiter.waited);
  }

  void tick() {
    const overload::SignalShard* shards[] = {&shard_};
    std::array<std::uint32_t, 3> queued{}, capacity{};
    for (std::uint8_t i = 0; i < 3; ++i) {
      queued[i] = scheduler_.queued(ClassId{i});
      capacity[i] = setup_.config.classes[i].max_queue;
    }
    const auto tick = controller_.tick({.shards = shards,
                                        .busy_slot_seconds = scheduler_.busy_slot_seconds(now_),
                                        .concurrency = double(scheduler_.concurrency()),
                                        .queued = queued,
                                        .max_queue = capacity,
                                        .event_loop_lag = std::nullopt},
                                       now_);
    if (tick.transition && measuring()) ++result_.transitions;
    if (measuring() && controller_.state() != State::normal)
      result_.time_overloaded += to_seconds(upstream_.overload.tick);
  }

  Duration exponential(double rate) {
    return from_seconds(-std::log(1 - random_.uniform()) / rate);
  }
  Duration lognormal() {
    const double normal = std::sqrt(-2 * std::log(1 - random_.uniform())) *
                          std::cos(2 * std::numbers::pi * random_.uniform());
    const double s = setup_.sigma;
    return from_seconds(to_seconds(setup_.service) * std::exp(s * normal - s * s / 2));
  }

  const Setup& setup_;
  const config::Upstream& upstream_;
  Random random_;
  dispatch::Scheduler scheduler_;
  overload::SignalShard shard_;
  overload::Controller controller_;
  overload::Budgets budgets_;
  std::deque<Request> requests_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  TimePoint now_{}, measured_from_{}, measured_until_{};
  Result result_;
};

}  // namespace

Setup::Setup() {
  config.classes.resize(3);
  const std::array<double, 3> weights{8, 3, 1};
  const std::array<std::uint32_t, 3> places{512, 256, 128};
  const std::array<Milliseconds, 3> waits{500ms, 200ms, 100ms};
  for (std::size_t i = 0; i < 3; ++i) {
    config.classes[i].weight = weights[i];
    config.classes[i].max_queue = places[i];
    config.classes[i].max_wait = waits[i];
  }
  config.routes.resize(1);
  config::Upstream upstream;
  upstream.dispatch.concurrency = 16;
  upstream.dispatch.evict = {ClassId{2}, ClassId{1}};
  using config::Strategy;
  upstream.overload.rules = {
      {Strategy::allow, 1.0, 1000ms}, {Strategy::deny, 0.5, 1000ms}, {Strategy::deny, 1.0, 5000ms}};
  config.upstreams = {upstream};
}

Result simulate(const Setup& setup) { return std::make_unique<Simulation>(setup)->run(); }

}  // namespace spillway::control
