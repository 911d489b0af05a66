// One attempt of a job: waits for the rate of its route and at its upstream's gate, sends the
// stored request, keeps the answer, and reports the result to the store. No client waits for it.
//
// It takes slots that no live request wants, and waits for one until the job's time to live is
// over; for at most two seconds if another proxy may have a slot for it, or if it keeps other jobs
// from beginning (PoisonGuard). With `class` in its route's `defer` it first competes with live
// requests of that class, for as long as those wait, and then waits for a second. The attempt ends
// shortly before the lease of its proxy: its upstream request is ended, and another proxy may make
// the next attempt. A retry takes from the upstream's retry budget.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <string>

#include "jobs/begin_rate.hpp"
#include "jobs/life.hpp"
#include "jobs/route_capacity.hpp"
#include "proxy/cache/cache_lookup.hpp"
#include "proxy/call/upstream_call.hpp"
#include "proxy/jobs/store_call.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/admission/admission.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/client_info.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/request/owner/swept.hpp"

namespace spillway::proxy {

class JobRun final : public Swept {
 public:
  // `route`: its route in the newest generation; nullopt: that has no route of this name.
  JobRun(Services& services, jobs::LeasedJob job, store::Epoch epoch, std::optional<RouteId> route);
  ~JobRun() = default;

  // Returns the object to the worker at the end.
  Detached run();
  // Owned:
  OwnedKind kind() const override { return OwnedKind::job; }
  // Its lease is lost: the attempt ends, and another proxy may make the next one.
  void lose_lease() { abort(Abort::lease_lost); }
  bool has_begun() const { return stage_ != Stage::waiting; }

  // Swept:
  void wake_if_late(TimePoint now) override;
  int watched_client() override { return -1; }
  void client_left() override {}
  std::optional<AwaitedHead> awaited_head() const override;
  bool keeps_to(const Generation& generation) const override;
  // The job is given back and its upstream request closed; an attempt is counted only if the
  // request was sent. In that case the job is dead if it must not be sent again.
  void end_early() override { abort(Abort::given_back); }
  void abandon() override { frame_.destroy(); }

 private:
  enum class Abort : std::uint8_t { none, given_back, lease_lost };
  enum class Stage : std::uint8_t { waiting, at_upstream, over };
  // Pauses that its upstream has asked for: before the next attempt (Retry-After), and with a 503
  // one for the route, until that has been reported.
  struct Asked {
    std::optional<std::chrono::milliseconds> retry_after;
    std::optional<Duration> pause_of_route;
  };
  // How the attempt ended, as reported to the store.
  struct End {
    jobs::Progress progress;
    std::optional<jobs::StoredAnswer> answer;
    std::optional<Duration> pauses_route;
    std::optional<jobs::NoSlot> no_slot;
    jobs::Cause cause = jobs::Cause::none;  // none: no attempt was made
    std::uint16_t status = 0;
    std::string_view detail;
  };

  Task<End> attempt();
  Task<End> at_upstream();
  std::optional<End> retry_by_head(const jobs::StoredAnswer& answer);
  void end_call(const End& end, bool is_read);
  // How it gets a token and a slot: job_turn.cpp.
  Task<std::optional<End>> take_turn();
  void return_turn();
  jobs::BeginRate& begin_rate() const;
  Task<bool> wait_for_rate();
  Task<std::optional<jobs::NoSlot>> take_slot();
  Task<bool> compete_for_slot();
  bool may_wait_for_spare_slot() const;
  bool is_expired() const;
  void begin();
  void abort(Abort why);
  bool is_lease_ending(TimePoint now) const;
  bool may_retry();
  void book_retry(const End& end);
  End put_off();
  End give_back(std::optional<Duration> pauses_route = std::nullopt);
  End without_slot(jobs::NoSlot how);
  End expire() const;
  End withdrawn(jobs::Cause by);
  End taken_away() const;
  End interrupted() const;
  bool is_whole();
  End unreadable();
  // `abort`: why it failed, if the upstream was not the reason.
  End after(const std::optional<Fault>& fault, Abort abort,
            std::optional<jobs::StoredAnswer> answer);
  jobs::Cause cause_of(const Fault& fault) const;
  Task<> settle(End end);
  void log(const jobs::Progress& progress, jobs::Cause cause, std::uint16_t status) const;
  // The attempt follows one that failed at the upstream, not because its proxy ended.
  bool is_retry() const {
    return job_.progress.attempts > 0 && job_.progress.cause != jobs::Cause::proxy_ended;
  }
  const config::Defer& defer() const { return *request_.config().routes[index(route_)].defer; }

  Services& services_;
  std::coroutine_handle<> frame_;
  Parking parking_;
  const jobs::LeasedJob job_;
  const store::Epoch epoch_;
  http::RequestHead head_;  // parsed from the stored head
  const ClientInfo client_;
  RequestContext request_;
  const RouteId route_;
  cache::CacheKey key_;
  Admission admission_;
  CacheLookup lookup_;
  UpstreamCall call_;
  std::string written_;  // the head as sent in this attempt
  jobs::WallTime began_{};
  Asked asked_;
  bool is_configured_ = false;
  bool is_readable_ = false;
  Stage stage_ = Stage::waiting;
  Abort abort_ = Abort::none;
};

}  // namespace spillway::proxy
