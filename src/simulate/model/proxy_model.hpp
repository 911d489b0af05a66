// The proxy in a simulation: the proxy's own decision objects, called in the same order, on a
// virtual clock. One worker, one upstream.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "dispatch/estimate/quiet_latency.hpp"
#include "dispatch/estimate/route_cost.hpp"
#include "dispatch/estimate/route_latency.hpp"
#include "dispatch/scheduler/scheduler.hpp"
#include "dispatch/scheduler/shadow_gate.hpp"
#include "overload/admission/budgets.hpp"
#include "overload/admission/decide.hpp"
#include "overload/admission/degraded_answer.hpp"
#include "overload/admission/retry_booking.hpp"
#include "overload/control/controller.hpp"
#include "overload/signals/shard.hpp"
#include "overload/signals/tenant_shard.hpp"
#include "simulate/model/request.hpp"
#include "simulate/model/servers_model.hpp"
#include "simulate/model/store_model.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

class ProxyModel {
 public:
  // Keeps references. `servers`: if there are several, the slots follow their rotation; else null.
  explicit ProxyModel(const Scenario& scenario, ServersModel* servers = nullptr);
  ProxyModel(const ProxyModel&) = delete;
  ProxyModel& operator=(const ProxyModel&) = delete;

  enum class Entry : std::uint8_t {
    start,    // has a slot: start() it
    forward,  // shadow mode: has no slot, but goes to the backend
    wait,
    refused,
    answered,  // by its route's cache or fallback
    deferred,  // not refused: becomes a job
  };
  struct Admission {
    Entry entry = Entry::refused;
    Duration retry_after{0};     // of a refusal
    Request* evicted = nullptr;  // lost its queue place
    bool would_refuse = false;   // shadow mode: enforcing would
  };
  // Decides, then asks the gate for a slot.
  Admission arrive(Request& request, TimePoint now);
  // A job requests a slot: a spare one, or, with a class, one as requests of its class do.
  Admission enter_job(Request& job, TimePoint now);
  // For a job refused as a request of its class: returns start, wait, or refused.
  Entry wait_for_spare_slot(Request& job, TimePoint now);
  // The request has a slot and is sent to the backend.
  void start(Request& request, TimePoint now);
  // It has a slot and is not sent after all.
  void return_slot(Request& request, TimePoint now);
  // The backend answered, perhaps with an error, and the client is still there.
  void answered(Request& request, TimePoint now);
  // The backend gave no answer: no connection, or none in time.
  void failed(const Request& request) { record_result(request, true); }
  // No answer came in time; true: the request has a slot, which must be kept while the backend is
  // working on it.
  bool outlast(Request& request, TimePoint now) {
    if (!request.as_job) signals_.record_timeout();
    leave_flight(request, now);
    return request.passage.has_slot;
  }
  // Whether a stored answer replaces the error; the request is then degraded and answered.
  bool answers_error(Request& request, TimePoint now);
  // The backend answered, or its answer is no longer awaited. Idempotent.
  void end(Request& request, TimePoint now);
  // The client left, and the backend is working on the request, which keeps its slot until end();
  // returns the latest time for that call.
  TimePoint abandon(Request& request, TimePoint now);
  // At that time the backend was still working on it.
  void end_unanswered(Request& request, TimePoint now);
  // The backend answered a request whose client had left.
  void end_abandoned(Request& request, TimePoint now);
  // The client leaves; true if the request was queued at the gate.
  bool cancel(Request& request, TimePoint now);
  // The next queued request whose wait expired; nullptr: no more.
  Request* expire(TimePoint now);
  // For a request that expired or was evicted; returns its Retry-After, zero if it is deferred.
  Duration expired(Request& request, TimePoint now);
  // The next request to start(), after an end, cancel or expiry; nullptr: no more.
  Request* next(TimePoint now);

  // Shadow mode: the class of the next request that would have waited in vain under enforcement;
  // nullopt: no more.
  std::optional<ClassId> next_ghost_lost();

  // A worker's sweep, every 50 ms.
  void sweep(TimePoint now);
  // Measurements of the workers, see overload::TickInput.
  struct EventLoop {
    std::optional<Duration> lag{};
    double use = 0;
  };
  // Call every tick of the configuration. The proxy's wall clock is `ahead` of the others'.
  std::optional<overload::Transition> tick(TimePoint now, const EventLoop& loop,
                                           Duration ahead = Duration{0});

  State state() const { return controller_.state(); }
  Reason reason() const { return controller_.reason(); }
  std::uint32_t limit() const { return scheduler_.concurrency(); }
  bool is_limit_at_max() const { return controller_.is_limit_at_max(); }
  // Queued requests; 0 in shadow mode, where they are in the backend as well.
  std::uint32_t queued() const { return is_shadow() ? 0 : scheduler_.queued(); }
  std::uint32_t queued(ClassId id) const { return is_shadow() ? 0 : scheduler_.queued(id); }
  // Requests refused for lack of room since the last call.
  std::uint64_t take_refused() { return std::exchange(returns_.refused, 0); }

 private:
  struct Classification {  // the classifier's result
    RouteId route{};
    std::optional<Milliseconds> routes_deadline{};
    std::optional<Milliseconds> clients_deadline{};
  };

  const Classification& classification_of(const Request& request) const {
    return classifications_[request.demand.clients];
  }
  const config::Tier& tier_of(const Request& request) const {
    return tiers_[request.demand.clients][request.demand.tenant];
  }
  bool is_shadow() const { return upstream_.overload.mode == config::Mode::shadow; }
  void follow_servers(TimePoint now);
  overload::Verdict decide(Request& request, TimePoint now);
  static void answer_from_store(Request& request, bool degraded);
  static void answer_by_fallback(Request& request);
  overload::AtHand at_hand(const Request& request, TimePoint now) const;
  // The answer in place of its refusal.
  overload::DegradedAnswer answer_for_refusal(const Request& request, TimePoint now) const;
  void prefer_free_answer(const Request& request, overload::Verdict& verdict, TimePoint now);
  void degrade(Request& request, overload::DegradedAnswer answer) const;
  dispatch::Terms terms_of(const Request& request, const overload::Verdict& verdict,
                           TimePoint now) const;
  dispatch::Terms spare_terms(RouteId route) const;
  Admission refuse(Request& request, Duration retry_after, TimePoint now);
  Admission refuse(Request& request, Reason reason, Milliseconds least, TimePoint now);
  Duration book_return(const Request& request, Reason reason, Milliseconds least, TimePoint now);
  void forward(Request& request, TimePoint now);
  void leave_flight(Request& request, TimePoint now);
  Admission haunt(Request& request, const dispatch::Terms& terms, TimePoint now);
  void leave_shadow(Request& request, TimePoint now);
  void record_result(const Request& request, bool failed);
  void learn_times(const Request& request, TimePoint now);
  Milliseconds retry_after(const Request& request);

  // The return times of refused requests.
  struct Returns {
    overload::RetryBooking booking;
    std::uint64_t refused = 0;  // take_refused()
  };
  // Values learned about routes.
  struct RouteTimes {
    dispatch::RouteCost cost;
    dispatch::RouteLatency latency;
    dispatch::QuietLatency quiet;
  };
  // Ages of requests in flight; reused by each sweep.
  struct Ages {
    std::vector<Duration> absolute;
    std::vector<double> relative;
  };

  const Scenario& scenario_;
  const config::Upstream& upstream_;
  ServersModel* const servers_;  // null: a single one
  Random random_;
  dispatch::Scheduler scheduler_;
  dispatch::ShadowGate shadow_;
  overload::Controller controller_;
  overload::Budgets budgets_;
  Returns returns_;
  overload::TenantBudgets tenant_budgets_;
  std::vector<std::vector<config::Tier>> tiers_;  // by clients and tenant
  overload::SignalShard signals_;
  overload::TenantShard tenants_;
  RouteTimes times_;
  StoreModel store_;
  std::vector<Classification> classifications_;  // by clients
  std::vector<std::uint32_t> max_queue_;
  std::vector<Request*> in_flight_;      // sent to the backend
  dispatch::Waiter* granted_ = nullptr;  // by the last end(), for next()
  Ages ages_;
};

}  // namespace spillway::simulate
