#include "proxy/worker/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace spillway::proxy {

namespace {
// During a drain idle connections stay open for this long: a request that is already on its way is
// then answered, with `Connection: close`, and not reset.
constexpr Milliseconds kDrainGrace{1000};
// While clients wait to be accepted, at most one in this many connections gives way per pass.
constexpr std::int64_t kOneInSoMany = 64;
// A connection is about to end for another client, but if its response takes longer than this, one
// more may end.
constexpr Milliseconds kSlowToEnd{1000};
constexpr std::size_t kPassesInABurst = 4;
// For this long, only connections on which no other request has come end with their next
// response.
constexpr Milliseconds kSparesPipelined{1000};
// For this long, a connection that has had no response counts as recently let in. Longer waits,
// such as those of a long poll, do not keep others out.
constexpr Milliseconds kOnTrial{10'000};
constexpr std::uint32_t kSweepsASecond = 20;

bool is_on_trial(const ClientConnection& client, TimePoint now) {
  return !client.is_served() && now - client.accepted_at() < kOnTrial;
}

// CPU time of this thread.
Duration time_on_core() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Sweep::Sweep(Services& services, SweptLists& lists)
    : services_(services), lists_(lists), timer_(services.loop, [this] { on_timer(); }) {}

void Sweep::start() {
  due_ = Clock::now();
  next_sweep_ = due_ + kSweepPeriod;
  arm();
}

void Sweep::arm() {
  due_ += overload::LoopLag::kPeriod;
  timer_.set(due_);
}

void Sweep::on_timer() {
  const TimePoint now = Clock::now();
  heartbeat_.beat();
  lag_.record(now - due_, services_.loop.oldest_wait(now), now);
  // After a stall, the missed firings are skipped.
  if (now - due_ > overload::LoopLag::kPeriod) due_ = now;
  for (LocalGeneration& local : lists_.generations) {
    for (Upstream& upstream : local.shared()->upstreams) upstream.gate.expire(now);
    count_ghosts(local);
  }
  if (now >= next_sweep_) {
    next_sweep_ = now + kSweepPeriod;
    sweep(now);
  } else if (services_.pausing > 0) {
    wake_late(now);
  } else if (services_.slot_watch.is_on(now)) {
    watch_slots(now);
  }
  arm();
}

// Shadow mode: counts what the gates decided about requests since the last pass. A request that is
// still in progress itself records that it would have been refused.
void Sweep::count_ghosts(LocalGeneration& local) {
  for (std::size_t n = 0; n < local.shared()->upstreams.size(); ++n) {
    const auto id = static_cast<UpstreamId>(n);
    local.upstream(id).gate.take_shadow_events(ghosts_);
    for (const auto& ghost : ghosts_) {
      local.signals(id).record_wait(ghost.waited);
      if (ghost.reason == Reason::none) {
        local.signals(id).record_admitted();
        local.tenants(id).record_admitted(ghost.traffic_class,
                                          local.route_cost.estimate(ghost.route));
      } else if (!ghost.has_request) {
        const bool is_evicted = ghost.reason == Reason::evicted;
        local.metrics.shadowed(ghost.traffic_class,
                               is_evicted ? Outcome::evicted : Outcome::expired, ghost.reason);
      }
    }
  }
}

void Sweep::sweep(TimePoint now) {
  use_.record(time_on_core(), now);
  services_.gauges.set_event_loop_use(use_.value());
  services_.gauges.set_event_loop_lag(lag_.value(now).value_or(Duration{0}));
  wake_late(now);
  wake_abandoned();
  break_tunnels();
  publish_ages(now);
  withdraw_promises(now);
  std::size_t giving_way = most_giving_way();
  close_idle(now, giving_way);
  end_silent(now, giving_way);
  take_turns(now, giving_way);
  services_.pipes.close_unused();
  services_.wall_clock.refresh();
  if (++sweeps_ % kSweepsASecond == 0) services_.owner.give_back_memory();
}

// Copies the lists: waking an object may end it, but no other object.
void Sweep::gather() {
  swept_.clear();
  for (Swept& session : lists_.sessions) swept_.push_back(&session);
  for (Swept& refresh : lists_.refreshes) swept_.push_back(&refresh);
  for (Swept& job : lists_.jobs) swept_.push_back(&job);
  for (Swept& call : lists_.abandoned) swept_.push_back(&call);
  for (Swept& stream : lists_.visitor_streams) swept_.push_back(&stream);
}

void Sweep::end_requests_of(const Generation& generation) {
  gather();
  std::erase_if(swept_, [&](const Swept* swept) { return !swept->keeps_to(generation); });
  for (Swept* swept : swept_) swept->end_early();
  // Requests that the upstream may still be working on have left an abandoned call, which also
  // keeps to the generation.
  swept_.clear();
  for (Swept& call : lists_.abandoned)
    if (call.keeps_to(generation)) swept_.push_back(&call);
  for (Swept* swept : swept_) swept->end_early();
}

// A copy: a job that is ended may leave the list.
std::vector<JobRun*> Sweep::jobs() const {
  std::vector<JobRun*> jobs;
  for (JobRun& job : lists_.jobs) jobs.push_back(&job);
  return jobs;
}

void Sweep::abort_jobs() {
  for (JobRun* const job : jobs()) job->lose_lease();
}

void Sweep::give_back_jobs(bool all) {
  for (JobRun* const job : jobs())
    if (all || !job->has_begun()) job->end_early();
}

void Sweep::wake_late(TimePoint now) {
  gather();
  for (Swept* swept : swept_) swept->wake_if_late(now);
  tunnels_.clear();
  for (Tunnel& tunnel : lists_.tunnels) tunnels_.push_back(&tunnel);
  for (Tunnel* tunnel : tunnels_) tunnel->wake_if_late(now);
}

// Checks the clients that slots wait for, while other requests wait for these slots.
void Sweep::watch_slots(TimePoint now) {
  swept_.clear();
  for (Http1Session& session : lists_.sessions)
    if (session.mark_slot()) swept_.push_back(&session);
  for (Swept* session : swept_) session->wake_if_late(now);
}

// One poll(2) over all clients that wait for a response. POLLRDHUP is reported even after unread
// pipelined bytes, where MSG_PEEK would not see it.
void Sweep::wake_abandoned() {
  watched_.clear();
  polled_.clear();
  for (Swept& session : lists_.sessions) {
    const int descriptor = session.watched_client();
    if (descriptor < 0) continue;
    watched_.push_back(&session);
    polled_.push_back({descriptor, POLLRDHUP, 0});
  }
  if (polled_.empty() || ::poll(polled_.data(), polled_.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < polled_.size(); ++i) {
    if (polled_[i].revents != 0) watched_[i]->client_left();
  }
}

// A tunnel sees a reset when it reads. One poll(2) covers tunnels that do not read from a side now.
void Sweep::break_tunnels() {
  tunnels_.clear();
  polled_.clear();
  for (Tunnel& tunnel : lists_.tunnels) {
    if (!tunnel.may_break_unseen()) continue;
    tunnels_.push_back(&tunnel);
    polled_.push_back({tunnel.client_descriptor(), 0, 0});  // POLLERR is always reported
    polled_.push_back({tunnel.upstream_descriptor(), 0, 0});
  }
  if (polled_.empty() || ::poll(polled_.data(), polled_.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < tunnels_.size(); ++i) {
    if (((polled_[2 * i].revents | polled_[2 * i + 1].revents) & POLLERR) != 0)
      tunnels_[i]->broken();
  }
}

void Sweep::publish_ages(TimePoint now) {
  awaited_.clear();
  gather();
  std::int64_t awaiting_client = 0;
  for (Swept* swept : swept_) {
    if (const auto head = swept->awaited_head()) awaited_.push_back(*head);
    if (swept->mark_slot()) ++awaiting_client;
  }
  observe::Gauge& gauge = services_.gauges.slots_awaiting_client;
  gauge.add(awaiting_client - gauge.value());
  for (LocalGeneration& local : lists_.generations) {
    for (std::size_t u = 0; u < local.config().upstreams.size(); ++u) {
      const auto upstream = UpstreamId(static_cast<std::uint16_t>(u));
      ages_.clear();
      relative_ages_.clear();
      const auto its = std::partition(awaited_.begin(), awaited_.end(), [&](const auto& one) {
        return one.generation != &local || one.upstream != upstream;
      });
      for (auto one = its; one != awaited_.end(); ++one) {
        ages_.push_back(now - one->since);
        if (const auto times = local.quiet_latency.relative(one->route, ages_.back()))
          relative_ages_.push_back(*times);
      }
      awaited_.erase(its, awaited_.end());
      local.signals(upstream).publish_ages(ages_, relative_ages_);
      local.tenants(upstream).publish(now);
    }
  }
}

// For connections that should have ended for a waiting client, but whose responses take long.
void Sweep::withdraw_promises(TimePoint now) {
  for (Http1Session& session : lists_.sessions) {
    ClientConnection* const client = session.connection();
    if (client != nullptr && now - client->gives_way_since() >= kSlowToEnd)
      services_.owner.give_way_no_more(*client);
  }
}

// How many connections may give way in this pass.
std::size_t Sweep::most_giving_way() const {
  if (!services_.owner.needs_room()) return 0;
  return static_cast<std::size_t>(1 + services_.gauges.client_connections.value() / kOneInSoMany);
}

// `giving_way`: how many may give way; afterwards, how many more may.
void Sweep::close_idle(TimePoint now, std::size_t& giving_way) {
  const Milliseconds idle_timeout =
      services_.owner.newest_generation().config().limits.idle_timeout;
  // Least recently used first: stops at the first one to keep. A connection with a request that
  // waits for its turn is not idle.
  for (auto next = lists_.idle_clients.begin(); next != lists_.idle_clients.end();) {
    auto& client = static_cast<ClientConnection&>(*next++);
    if (client.has_event()) continue;
    const bool drained =
        services_.draining && now - std::max(client.idle_since(), drain_began_) >= kDrainGrace;
    const Duration idle_for = now - client.idle_since();
    if (!drained && idle_for < idle_timeout) {
      if (giving_way == 0 || idle_for < kLongestClientSilence || !services_.owner.give_way(client))
        break;
      --giving_way;
    }
    client.IdleHook::unlink();
    client.close();
  }
  for (LocalGeneration& local : lists_.generations) {
    for (UpstreamPool& pool : local.pools()) pool.close_idle_since(now - idle_timeout);
  }
}

// Ends silent sessions: those whose clients lose least, of these the ones that have been silent
// longest. Skips those that are already about to end for another client, and linger.
void Sweep::end_silent(TimePoint now, std::size_t& giving_way) {
  if (giving_way == 0) return;
  silent_.clear();
  for (Http1Session& session : lists_.sessions) {
    const ClientConnection* const client = session.connection();
    if (client != nullptr && client->gives_way_since() != kNever) continue;
    if (const Silence silence = session.silence(now); silence.gives_way(now))
      silent_.emplace_back(silence, &session);
  }
  if (silent_.size() > giving_way) {
    const auto end = silent_.begin() + static_cast<std::ptrdiff_t>(giving_way);
    std::nth_element(silent_.begin(), end, silent_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    silent_.erase(end, silent_.end());
  }
  for (const auto& [silence, session] : silent_) {
    if (!services_.owner.give_way(*session->connection())) return;
    --giving_way;
    session->give_way(silence.at);
  }
}

// Too few are idle or silent: other connections end with their next response, in the order in which
// they respond, one for each waiting client. If more clients ask than there are places, a new
// connection passes on its place with its first response, so that a newcomer waits for a few of
// these and not for a client that keeps its connection between requests.
//
// New connections may never get a response, since they send no request, or get it late, from a slow
// route. Served connections make room for no more of these at a time than for a burst, so that a
// flood of them takes no more places, even if each of them gets a slot.
void Sweep::take_turns(TimePoint now, std::size_t giving_way) {
  if (giving_way == 0 || !services_.owner.needs_room()) {
    turns_ = {};
    return;
  }
  std::size_t on_trial = 0;
  for (const IdleHook& idle : lists_.idle_clients)
    if (is_on_trial(static_cast<const ClientConnection&>(idle), now)) ++on_trial;
  for (const Http1Session& session : lists_.sessions) {
    const ClientConnection* const client = session.connection();
    if (client == nullptr) continue;
    const bool is_leaving = client->gives_way_since() != kNever;  // another one takes its place
    if (is_leaving || is_on_trial(*client, now)) ++on_trial;
  }
  const std::size_t burst = kPassesInABurst * most_giving_way();
  turns_ = {burst - std::min(burst, on_trial), std::min(turns_.too_few_since, now)};
}

bool Sweep::ends_with_response(ClientConnection& client, bool has_next) {
  const TimePoint now = services_.now();
  const bool is_on_trial = proxy::is_on_trial(client, now);
  if (turns_.may_leave == 0 && !is_on_trial) return false;
  // A client that pipelines has to send its next request again (RFC 9112 section 9.6). So it is
  // spared while other connections are enough, but not longer: it may always have a next request.
  const bool spares_pipelined = now - turns_.too_few_since < kSparesPipelined;
  if (spares_pipelined && (has_next || client.has_input())) return false;
  if (!services_.owner.give_way(client)) return false;
  if (!is_on_trial) --turns_.may_leave;  // otherwise the newcomer takes its place on trial
  return true;
}

}  // namespace spillway::proxy
