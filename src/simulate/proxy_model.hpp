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

  enum class Entry : std::uint8_t {
    start,    // has a slot: start() it
    forward,  // shadow mode: has none, and goes to the backend all the same
    wait,
    refused,
    answered,  // with what its route has prepared
  };
  struct Admission {
    Entry entry = Entry::refused;
    Duration retry_after{0};     // of a refusal
    Request* evicted = nullptr;  // lost its place: waited in vain
  };
  // Decides, and asks the gate.
  Admission arrive(Request& request, TimePoint now);
  // It has a slot and is sent to the backend.
  void start(Request& request, TimePoint now);
  // The backend's answer is there, and its client, too.
  void answered(const Request& request, TimePoint now);
  // It is over: the backend has answered, or its client has left. Nothing the second time.
  void end(Request& request, TimePoint now);
  // Its client leaves: true if it was waiting at the gate.
  bool cancel(Request& request, TimePoint now);
  // Who has waited too long; nullptr when there is nobody more.
  Request* expire(TimePoint now);
  // Of a request that expired or was evicted.
  Duration waited_in_vain(Request& request);
  // Who is to be start()ed, after an end, a cancel or an expiry; nullptr when nobody more is.
  Request* next(TimePoint now);

  // What a worker's sweep publishes, every 50 ms.
  void sweep(TimePoint now);
  // Every tick of the configuration.
  std::optional<overload::Transition> tick(TimePoint now, std::optional<Duration> event_loop_lag);

  State state() const { return controller_.state(); }
  Reason reason() const { return controller_.reason(); }
  // Who really waits.
  std::uint32_t queued() const { return is_shadow() ? 0 : scheduler_.queued(); }
  std::uint32_t queued(ClassId id) const { return is_shadow() ? 0 : scheduler_.queued(id); }

 private:
  struct Subject {  // what the classifier would say of a request
    RouteId route{};
    Duration deadline{};
  };

  const Subject& subject_of(const Request& request) const { return subjects_[request.clients]; }
  bool is_shadow() const { return upstream_.overload.mode == config::Mode::shadow; }
  overload::Verdict decide(Request& request, TimePoint now);
  bool has_fallback(const Request& request) const;
  Admission refuse(Request& request, Duration retry_after, TimePoint now);
  void forward(Request& request, TimePoint now);
  void settle_ghost(Request& request, TimePoint now);
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
  std::vector<Request*> in_flight_;      // sent to the backend
  dispatch::Waiter* granted_ = nullptr;  // by the last end(), for next()
  std::vector<Duration> ages_;
};

}  // namespace spillway::simulate
