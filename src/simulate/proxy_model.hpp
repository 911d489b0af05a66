// Spillway itself before the modelled backend: the objects that the proxy asks, asked in the same
// order, on a virtual clock. One worker, one upstream.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "dispatch/route_cost.hpp"
#include "dispatch/scheduler.hpp"
#include "overload/budgets.hpp"
#include "overload/controller.hpp"
#include "overload/decide.hpp"
#include "overload/shard.hpp"
#include "overload/tenant_shard.hpp"
#include "simulate/request.hpp"
#include "simulate/scenario.hpp"

namespace spillway::simulate {

class ProxyModel {
 public:
  explicit ProxyModel(const Scenario& scenario);  // which must stay
  ProxyModel(const ProxyModel&) = delete;
  ProxyModel& operator=(const ProxyModel&) = delete;

  struct Admission {
    dispatch::Offer::Kind kind = dispatch::Offer::Kind::refused;
    Duration retry_after{0};     // of a refusal
    Request* evicted = nullptr;  // lost its place: waited in vain
  };
  // Decides, and asks the gate. A granted request is to be start()ed.
  Admission arrive(Request& request, TimePoint now);
  // It has a slot and is sent to the backend.
  void start(Request& request, TimePoint now);
  // The backend's answer is there, and its client, too.
  void answered(const Request& request, TimePoint now);
  // Its slot is free again: the backend has answered, or its client has left.
  void release(Request& request, TimePoint now);
  // Its client leaves: true if it was waiting at the gate.
  bool cancel(Request& request, TimePoint now);
  // Who has waited too long; nullptr when there is nobody more.
  Request* expire(TimePoint now);
  // Of a request that expired or was evicted.
  Duration waited_in_vain(Request& request);
  // Who is to be start()ed, after a release, a cancel or an expiry; nullptr when nobody more is.
  Request* next(TimePoint now);

  // What a worker's sweep publishes, every 50 ms.
  void sweep(TimePoint now);
  // Every tick of the configuration.
  std::optional<overload::Transition> tick(TimePoint now, std::optional<Duration> event_loop_lag);

  State state() const { return controller_.state(); }
  Reason reason() const { return controller_.reason(); }
  std::uint32_t queued() const { return scheduler_.queued(); }
  std::uint32_t queued(ClassId id) const { return scheduler_.queued(id); }

 private:
  struct Subject {  // what the classifier would say of a request
    RouteId route{};
    Duration deadline{};
  };

  const Subject& subject_of(const Request& request) const { return subjects_[request.clients]; }
  overload::Verdict decide(Request& request, TimePoint now);
  Duration retry_after(const Request& request);

  const Scenario& scenario_;
  const config::Upstream& upstream_;
  Random random_;
  dispatch::Scheduler scheduler_;
  overload::Controller controller_;
  overload::Budgets budgets_;
  overload::SignalShard signals_;
  overload::TenantShard tenants_;
  dispatch::RouteCost costs_;
  std::vector<Subject> subjects_;  // by clients
  std::vector<std::uint32_t> max_queue_;
  std::vector<Request*> in_flight_;      // those that hold a slot
  dispatch::Waiter* granted_ = nullptr;  // by the last release, for next()
  std::vector<Duration> ages_;
};

}  // namespace spillway::simulate
