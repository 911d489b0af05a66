#include "proxy/deferral/job_run.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "http/message/framing.hpp"
#include "http/message/method.hpp"
#include "jobs/retry_after.hpp"
#include "jobs/stored_request.hpp"
#include "proxy/cache/cache_invalidation.hpp"
#include "proxy/call/background_response.hpp"
#include "proxy/deferral/store_question.hpp"
#include "proxy/jobs/job_queue.hpp"
#include "proxy/visitors/pass_proof.hpp"

namespace spillway::proxy {

namespace {

constexpr Duration kRouteIsGone = std::chrono::seconds(30);
// How long to wait for the body of a refusal, to reuse its connection: nearly all come at once.
constexpr Duration kRefusalsBody = std::chrono::milliseconds(100);

RouteId first_route() { return RouteId{0}; }

// The status of a response shows that the job is not done.
bool says_undone(jobs::Cause by_status) {
  return by_status == jobs::Cause::refused || by_status == jobs::Cause::failed;
}

}  // namespace

JobRun::JobRun(Services& services, jobs::LeasedJob job, store::Epoch epoch,
               std::optional<RouteId> route)
    : services_(services),
      job_(std::move(job)),
      epoch_(epoch),
      request_(RequestContext::Kind::job, services.owner.newest_generation(), head_, client_,
               services.now()),
      route_(route.value_or(first_route())),
      admission_(services, request_, parking_),
      lookup_(services, request_, key_),
      call_(services, request_, parking_, admission_, lookup_, nullptr, nullptr),
      is_configured_(route.has_value()) {
  request_.is_classified = true;
  request_.classification.route = route_;
  request_.classification.tenant = {config::TenantKey::trusted_header, job_.lane.tenant,
                                    job_.tenant_name};
  const config::Route& its = request_.config().routes[index(route_)];
  request_.classification.upstream = its.upstream;
  request_.classification.deadline = kNever;  // no client waits
  request_.classification.traffic_class = its.defer && its.defer->traffic_class
                                              ? *its.defer->traffic_class
                                              : request_.config().lowest_class();
  is_configured_ = is_configured_ && its.defer.has_value();
  is_readable_ = is_whole();
}

// Whether the stored head is valid and the stored body has the length that it announces. With a
// shorter body the upstream would take the next request on the connection for the rest of it.
bool JobRun::is_whole() {
  if (http::parse_request(job_.head, head_) != http::Error::none ||
      http::request_framing(head_) != http::Error::none)
    return false;
  const bool has_length = head_.framing.kind == http::Framing::Kind::length;
  return job_.body.size() == (has_length ? head_.framing.length : 0);
}

Detached JobRun::run() {
  frame_ = co_await OwnFrame{};
  log(job_.progress, jobs::Cause::none, 0);
  End end = co_await attempt();
  if (std::exchange(stage_, Stage::over) == Stage::at_upstream) {
    services_.jobs->counts().end();
    if (defer().rate) begin_rate().end();
    request_.upstream().running_jobs.end(jobs::rank_of(defer()));
  } else if (const auto by = services_.jobs->withdrawals().close(job_.id)) {
    end = withdrawn(*by);
  }
  co_await settle(std::move(end));
  services_.owner.end(*this);
}

Task<JobRun::End> JobRun::attempt() {
  if (!is_configured_) co_return give_back(kRouteIsGone);
  if (!is_readable_) co_return unreadable();
  if (services_.draining || is_lease_ending(Clock::now())) co_return give_back();
  if (const std::optional<Fault> fault = call_.circuits_fault())
    co_return give_back(fault->retry_after);
  std::optional<End> not_yet = co_await take_turn();
  if (not_yet) co_return std::move(*not_yet);
  if (const auto by = services_.jobs->withdrawals().close(job_.id)) {
    return_turn();
    co_return withdrawn(*by);
  }
  if (is_retry() && !may_retry()) co_return put_off();
  begin();
  End end = co_await at_upstream();
  co_return end;
}

// A refusal that another attempt will follow is complete with its head: the job waits, and its
// route pauses, from then on.
//
// Otherwise the upstream may still work on a request that timed out, or whose answer stalled. While
// that holds its slot the job counts as running: neither another job beyond `concurrency`, nor the
// next one of its order, nor its own next attempt begins. An answer that comes in this time is the
// job's result. The end of such a wait is not the reason why the attempt failed.
Task<JobRun::End> JobRun::at_upstream() {
  std::optional<Fault> broken = co_await call_.ask();
  Abort why = abort_;
  if (broken && defer().rate && !call_.was_sent()) begin_rate().give_back();
  if (broken) {
    const bool is_late = co_await call_.answers_late();
    if (is_late) broken.reset();
  }
  std::optional<jobs::StoredAnswer> answer;
  if (!broken) {
    invalidate_changed(request_, call_.response());
    answer.emplace();
    answer->status = static_cast<std::uint16_t>(call_.response().status);
    answer->fields = jobs::stored_fields(call_.response());
    asked_.retry_after =
        jobs::parse_retry_after(call_.response().fields, std::chrono::system_clock::now());
    if (answer->status == 503) asked_.pause_of_route = asked_.retry_after;
    std::optional<End> by_head = retry_by_head(*answer);
    if (by_head) {
      const bool is_read =
          co_await read_rest_until(parking_, request_, call_, services_.now() + kRefusalsBody);
      end_call(*by_head, is_read);
      co_return std::move(*by_head);
    }
    const std::uint64_t most = defer().max_result_bytes;
    const OnContent keep = [&](std::string_view content) {
      answer->is_cut = answer->is_cut || answer->body.size() + content.size() > most;
      if (answer->is_cut) answer->body.clear();
      if (!answer->is_cut) answer->body += content;
      return Wanted::more;
    };
    const BackgroundRead read = co_await read_in_background(parking_, request_, call_, keep);
    if (read.status == BackgroundRead::Status::failed) {
      why = abort_;
      const bool is_late = co_await read_late_rest(services_, parking_, request_, call_, keep);
      if (!is_late) broken = read.fault;
    }
  }
  End end = after(broken, why, std::move(answer));
  end_call(end, !broken);
  co_return end;
}

// nullopt: its body is wanted too. The pause of its route does not wait for the body.
std::optional<JobRun::End> JobRun::retry_by_head(const jobs::StoredAnswer& answer) {
  if (!says_undone(jobs::cause_of(answer.status))) return std::nullopt;
  End end = after(std::nullopt, Abort::none, answer);
  if (!jobs::has_ended(end.progress.state)) return end;
  if (const auto pause = std::exchange(asked_.pause_of_route, std::nullopt))
    services_.jobs->refused(job_.lane.route, *pause);
  return std::nullopt;
}

void JobRun::end_call(const End& end, bool is_read) {
  if (is_retry()) book_retry(end);
  if (is_read) {
    call_.finish();
  } else {
    call_.abandon();
  }
}

void JobRun::begin() {
  stage_ = Stage::at_upstream;
  began_ = services_.jobs->wall_now();
  services_.jobs->counts().begin();
  if (defer().rate) begin_rate().begin();
  request_.upstream().running_jobs.begin(jobs::rank_of(defer()));
  services_.jobs->job_started();
  request_.due = services_.now() + defer().lease.value_or(config::kAttemptLease);
  jobs::head_for_attempt(job_.head, job_.id, jobs::next_delivery(job_.progress), written_);
  prove_pass_in(written_, request_, services_.wall_clock.now());
  call_.send_written({.head = written_,
                      .body = job_.body,
                      .is_retry = is_retry(),
                      .may_be_late = defer().lease.has_value()});
}

// Independent of any wait of the thread with the store.
bool JobRun::is_lease_ending(TimePoint now) const { return services_.jobs->lease().is_ending(now); }

// Takes from the budget of live requests' retries, but not from the part reserved for those.
bool JobRun::may_retry() {
  resilience::RetryBudget& budget =
      request_.generation->retry_budget(request_.classification.upstream);
  const bool may = budget.try_background_retry(services_.now());
  request_.metrics().retry(request_.classification.upstream,
                           may ? observe::RetryResult::sent : observe::RetryResult::no_budget);
  return may;
}

// A request that the upstream completed, or never got, adds nothing to the upstream's trouble.
void JobRun::book_retry(const End& end) {
  using jobs::Cause;
  const bool is_done = end.cause == Cause::answered || end.cause == Cause::rejected;
  if (is_done || !call_.was_sent())
    request_.generation->retry_budget(request_.classification.upstream).give_back(services_.now());
}

// Pauses as after a failed attempt, so that jobs put off do not all come back at once.
JobRun::End JobRun::put_off() {
  return_turn();
  End end;
  end.progress = jobs::put_off(job_.progress, jobs::policy_of(defer()), services_.jobs->wall_now(),
                               services_.random);
  return end;
}

bool JobRun::is_expired() const { return services_.jobs->wall_now() >= job_.expires; }

JobRun::End JobRun::give_back(std::optional<Duration> pauses_route) {
  call_.drop();
  End end;
  end.progress = jobs::given_back(job_.progress, services_.jobs->wall_now());
  end.pauses_route = pauses_route;
  return end;
}

JobRun::End JobRun::without_slot(jobs::NoSlot how) {
  End end = give_back();
  if (abort_ == Abort::none) end.no_slot = how;
  return end;
}

// As if the job had expired in the store.
JobRun::End JobRun::expire() const {
  End end;
  const jobs::WallTime now = services_.jobs->wall_now();
  end.progress = *jobs::expired(jobs::given_back(job_.progress, now), now);
  return end;
}

// No byte of it was or will be sent: as if it had been cancelled in the store.
JobRun::End JobRun::withdrawn(jobs::Cause by) {
  End end;
  const jobs::WallTime now = services_.jobs->wall_now();
  end.progress = *jobs::cancelled(jobs::given_back(job_.progress, now), by, now);
  return end;
}

// It was sent, and then closed because another proxy may send it from now on.
JobRun::End JobRun::taken_away() const {
  End end;
  end.cause = jobs::Cause::proxy_ended;
  end.detail = "Its proxy lost its lease, and closed it before it was answered.";
  end.progress = jobs::taken_away(job_.progress, services_.jobs->wall_now());
  return end;
}

// It was sent, and closed before its answer came.
JobRun::End JobRun::interrupted() const {
  End end;
  end.cause = jobs::Cause::proxy_ended;
  end.detail = "Its proxy closed it, to end or be reconfigured, before it was answered.";
  end.progress = jobs::interrupted(job_.progress, http::is_idempotent(head_.method),
                                   jobs::policy_of(defer()), services_.jobs->wall_now());
  if (jobs::has_ended(end.progress.state)) end.cause = jobs::Cause::unanswered;
  return end;
}

// The stored data is no request, or was sealed with another key: it can never be sent.
JobRun::End JobRun::unreadable() {
  End end;
  end.cause = jobs::Cause::route_gone;
  end.detail = "What was stored of the request cannot be read.";
  end.progress = jobs::after_attempt(job_.progress, {.cause = end.cause}, {}, job_.expires,
                                     services_.jobs->wall_now(), services_.random);
  return end;
}

jobs::Cause JobRun::cause_of(const Fault& fault) const {
  if (!call_.was_sent()) return jobs::Cause::never_sent;
  return fault.reason == Reason::upstream_invalid ? jobs::Cause::invalid_answer
                                                  : jobs::Cause::unanswered;
}

JobRun::End JobRun::after(const std::optional<Fault>& fault, Abort abort,
                          std::optional<jobs::StoredAnswer> answer) {
  if (fault && abort != Abort::none) {
    if (!call_.was_sent()) return give_back();
    return abort == Abort::lease_lost ? taken_away() : interrupted();
  }
  if (fault && !call_.was_sent() && fault->reason == Reason::circuit_open)
    return give_back(fault->retry_after);
  jobs::AttemptEnd how;
  how.is_idempotent = http::is_idempotent(head_.method);
  End end;
  using jobs::Cause;
  const Cause by_status = answer ? jobs::cause_of(answer->status) : Cause::none;
  if (fault) {
    how.cause = says_undone(by_status) ? by_status : cause_of(*fault);  // the head is enough
    end.detail = fault->cause.empty() ? fault->detail : fault->cause;
    if (how.cause == jobs::Cause::never_sent) end.pauses_route = Duration{0};
  } else {
    how.cause = by_status;
  }
  if (answer) end.status = answer->status;  // also if the answer has broken off
  if (how.cause == Cause::refused) how.retry_after = asked_.retry_after;
  end.cause = how.cause;
  end.progress = jobs::after_attempt(job_.progress, how, jobs::policy_of(defer()), job_.expires,
                                     services_.jobs->wall_now(), services_.random);
  if (!fault && jobs::has_ended(end.progress.state)) end.answer = std::move(answer);
  return end;
}

Task<> JobRun::settle(End end) {
  StoreCall call{store::Settle{.epoch = epoch_,
                               .id = job_.id,
                               .progress = end.progress,
                               .attempt = {},
                               .answer = std::move(end.answer)}};
  if (end.cause != jobs::Cause::none) {
    call.as<store::Settle>().attempt = jobs::Attempt{.number = end.progress.attempts,
                                                     .began = began_,
                                                     .ended = services_.jobs->wall_now(),
                                                     .cause = end.cause,
                                                     .status = end.status,
                                                     .detail = std::string(end.detail)};
  }
  call.pauses_route = end.pauses_route;
  call.refused_for = asked_.pause_of_route;
  call.no_slot = end.no_slot;
  // Refused only if the thread with the store has ended; then the job returns with the lease.
  const Execution execution = co_await execute(services_, parking_, call);
  if (execution != Execution::done || call.as<store::Settle>().is_lost) co_return;
  // There was no attempt: the job was withdrawn.
  const bool is_news = end.progress.cause != job_.progress.cause;
  const bool is_attempt = end.cause != jobs::Cause::none;
  log(end.progress, is_attempt || !is_news ? end.cause : end.progress.cause, end.status);
  observe::JobCounts& counts = services_.jobs->counts();
  switch (end.progress.state) {
    case jobs::JobState::succeeded: ++counts.succeeded; break;
    case jobs::JobState::dead: ++counts.dead[index(end.progress.cause)]; break;
    case jobs::JobState::expired: ++counts.expired; break;
    case jobs::JobState::cancelled: ++counts.cancelled; break;
    default:
      if (end.cause != jobs::Cause::none) ++counts.retried[index(end.cause)];
      break;
  }
}

void JobRun::log(const jobs::Progress& progress, jobs::Cause cause, std::uint16_t status) const {
  const std::string id = jobs::to_text(job_.id);
  services_.log.job({.id = std::string_view(id).substr(0, 16),
                     .route = job_.lane.route,
                     .tenant = job_.tenant_name,
                     .state = progress.state,
                     .cause = cause,
                     .attempts = progress.attempts,
                     .status = status});
}

// As if a client had left, which is held against no server. A result that it already has stands.
void JobRun::abort(Abort why) {
  if (stage_ == Stage::over) return;
  if (abort_ != Abort::lease_lost) abort_ = why;
  if (parking_.parked()) parking_.wake(Wake::client_gone);
}

// A job whose time is over stops waiting for a slot. An attempt that was to end while it was in a
// wait that cannot be interrupted is woken again.
void JobRun::wake_if_late(TimePoint now) {
  if (is_lease_ending(now)) return lose_lease();
  const bool is_unsent = stage_ == Stage::waiting;
  if (is_unsent && services_.jobs->withdrawals().has(job_.id)) return abort(Abort::given_back);
  if (abort_ != Abort::none) return abort(abort_);
  if (!parking_.parked()) return;
  if (parking_.deadline() <= now || (is_unsent && is_expired()) || call_.waits_in_vain())
    parking_.wake(Wake::timeout);
}

std::optional<Swept::AwaitedHead> JobRun::awaited_head() const {
  const std::optional<TimePoint> since = call_.head_awaited_since();
  if (!since) return std::nullopt;
  return AwaitedHead{request_.generation.get(), request_.classification.upstream, route_, *since};
}

bool JobRun::keeps_to(const Generation& generation) const {
  return &request_.generation->generation() == &generation;
}

}  // namespace spillway::proxy
