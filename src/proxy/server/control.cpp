#include "proxy/server/control.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace spillway::proxy {

Control::Watched::Watched(std::shared_ptr<Generation> of, UpstreamId upstream_id,
                          boost::asio::io_context& io)
    : generation(std::move(of)), id(upstream_id), timer(io) {
  for (const auto& traffic_class : generation->config.classes)
    max_queue.push_back(traffic_class.max_queue);
  for (const auto& shard : upstream().shards) shards.push_back(shard.get());
  for (const auto& shard : upstream().tenant_shards) tenants.push_back(shard.get());
}

Control::Control(std::shared_ptr<Generation> generation,
                 std::vector<std::unique_ptr<Worker>>& workers, observe::Log& log)
    : workers_(workers), log_(log) {
  watch(generation);
}

Control::~Control() { stop(); }

void Control::watch(const std::shared_ptr<Generation>& generation) {
  watched_.clear();
  for (std::size_t u = 0; u < generation->upstreams.size(); ++u) {
    const UpstreamId id{static_cast<std::uint16_t>(u)};
    watched_.push_back(std::make_shared<Watched>(generation, id, io_));
  }
}

void Control::start() {
  for (const WatchedPtr& watched : watched_) arm(watched);
  thread_ = std::thread([this] { io_.run(); });
}

void Control::stop() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

void Control::replace(std::shared_ptr<Generation> generation, std::function<void()> on_worker) {
  boost::asio::post(
      io_, [this, generation = std::move(generation), on_worker = std::move(on_worker)] {
        const TimePoint now = Clock::now();
        std::vector<std::shared_ptr<const overload::AdmissionPlan>> plans;
        for (Upstream& upstream : generation->upstreams) {
          for (const WatchedPtr& former : watched_) {
            if (former->upstream().config.name != upstream.config.name) continue;
            upstream.controller.continue_from(former->upstream().controller, now);
            upstream.judgement.publish(upstream.controller, std::nullopt, now);
          }
          plans.push_back(upstream.controller.plan());
        }
        for (const auto& worker : workers_) worker->replace(generation, plans, on_worker);
        watch(generation);  // what is published from now on comes to the workers after that
        for (const WatchedPtr& watched : watched_) arm(watched);
      });
}

void Control::arm(const WatchedPtr& watched) {
  const TimePoint now = Clock::now();
  const Milliseconds tick_time = watched->upstream().config.overload.tick;
  watched->timer.expires_at(std::max(watched->timer.expiry() + tick_time, now));
  watched->timer.async_wait(
      [this, keep = std::weak_ptr(watched)](const boost::system::error_code& stopped) {
        const WatchedPtr still_watched = keep.lock();
        if (stopped || !still_watched) return;
        heartbeat_.beat();
        tick(*still_watched, Clock::now());
        arm(still_watched);
      });
}

void Control::tick(Watched& watched, TimePoint now) {
  Upstream& upstream = watched.upstream();
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
  upstream.judgement.publish(upstream.controller, judged.transition, now);
  if (judged.transition) {
    log_.transition(upstream.config.name, judged.transition->from, judged.transition->to,
                    judged.transition->reason, upstream.controller.signals());
  }
  if (judged.plan == nullptr) return;
  for (const auto& worker : workers_) worker->publish(watched.generation, watched.id, judged.plan);
}

}  // namespace spillway::proxy
