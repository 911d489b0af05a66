#include "proxy/control.hpp"

#include <algorithm>
#include <utility>

namespace spillway::proxy {

Control::Control(std::shared_ptr<Generation> generation,
                 std::vector<std::unique_ptr<Worker>>& workers, observe::Log& log)
    : generation_(std::move(generation)), workers_(workers), log_(log) {
  std::deque<Upstream>& upstreams = generation_->upstreams;
  const TimePoint now = Clock::now();
  for (std::size_t u = 0; u < upstreams.size(); ++u) {
    Watched& watched =
        watched_.emplace_back(UpstreamId(static_cast<std::uint16_t>(u)), upstreams[u].config, io_);
    watched.since = now;
    watched.published_plan = upstreams[u].controller.plan();
    for (const auto& traffic_class : generation_->config.classes) {
      watched.max_queue.push_back(traffic_class.max_queue);
    }
    for (const auto& shard : upstreams[u].shards) watched.shards.push_back(shard.get());
    for (const auto& shard : upstreams[u].tenant_shards) watched.tenants.push_back(shard.get());
  }
}

Control::~Control() { stop(); }

void Control::start() {
  const TimePoint now = Clock::now();
  for (Watched& watched : watched_) {
    watched.timer.expires_at(now);
    arm(watched);
  }
  thread_ = std::thread([this] { io_.run(); });
}

void Control::stop() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

void Control::arm(Watched& watched) {
  const TimePoint now = Clock::now();
  watched.timer.expires_at(std::max(watched.timer.expiry() + watched.tick, now));
  watched.timer.async_wait([this, &watched](const boost::system::error_code& stopped) {
    if (stopped) return;
    heartbeat_.beat();
    tick(watched, Clock::now());
    arm(watched);
  });
}

void Control::tick(Watched& watched, TimePoint now) {
  Upstream& upstream = generation_->upstreams[index(watched.id)];
  upstream.gate.read_load(watched.load, now);
  Duration lag{0};
  for (const auto& worker : workers_) lag = std::max(lag, worker->gauges().event_loop_lag());
  const overload::Tick judged = upstream.controller.tick(
      {.shards = watched.shards,
       .busy_slot_seconds = watched.load.busy_slot_seconds,
       .concurrency = static_cast<double>(upstream.config.dispatch.concurrency),
       .queued = watched.load.queued,
       .max_queue = watched.max_queue,
       .event_loop_lag = to_seconds(lag),
       .tenants = watched.tenants},
      now);
  {
    const std::lock_guard lock(watched.mutex);
    watched.signals = upstream.controller.signals();
    watched.published_state = upstream.controller.state();
    watched.published_reason = upstream.controller.reason();
    watched.published_plan = upstream.controller.plan();
    if (judged.transition) {
      watched.since = now;
      const auto known =
          std::find_if(watched.transitions.begin(), watched.transitions.end(), [&](const auto& t) {
            return t.to == judged.transition->to && t.reason == judged.transition->reason;
          });
      if (known == watched.transitions.end()) {
        watched.transitions.push_back({judged.transition->to, judged.transition->reason, 1});
      } else {
        ++known->count;
      }
    }
  }
  if (judged.transition) {
    log_.transition(upstream.config.name, judged.transition->from, judged.transition->to,
                    judged.transition->reason, upstream.controller.signals());
  }
  if (judged.plan == nullptr) return;
  for (const auto& worker : workers_) worker->publish(generation_, watched.id, judged.plan);
}

void Control::read_snapshot(std::vector<observe::UpstreamSnapshot>& upstreams) {
  const TimePoint now = Clock::now();
  for (std::size_t u = 0; u < watched_.size(); ++u) {
    Watched& watched = watched_[u];
    const std::lock_guard lock(watched.mutex);
    upstreams[u].state = watched.published_state;
    upstreams[u].reason = watched.published_reason;
    upstreams[u].in_state = now - watched.since;
    upstreams[u].signals = watched.signals;
    upstreams[u].transitions = watched.transitions;
    for (std::size_t c = 0; c < generation_->config.classes.size(); ++c) {
      const ClassId id{static_cast<std::uint8_t>(c)};
      const overload::EffectiveRule& rule = watched.published_plan->class_rule(id);
      upstreams[u].classes[c].rule = rule.rule;
      if (rule.rule.budget)
        upstreams[u].classes[c].budget_tokens =
            generation_->upstreams[u].budgets.available(rule, now);
      if (watched.published_plan->tenants() == nullptr) continue;
      for (const overload::Excess& excess : watched.published_plan->tenants()->of(id).list()) {
        ++upstreams[u].classes[c].above_share;
        upstreams[u].tenants_above_share.push_back(
            {id, generation_->upstreams[u].tenant_names.find(excess.tenant), excess.chance});
      }
    }
  }
}

}  // namespace spillway::proxy
