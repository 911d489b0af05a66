#include "proxy/server/control.hpp"

#include <pthread.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <thread>
#include <utility>

namespace spillway::proxy {

namespace {

double cores() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

Control::Ticker::Ticker(std::shared_ptr<Generation> of, UpstreamId upstream_id,
                        boost::asio::io_context& io)
    : generation(std::move(of)), id(upstream_id), timer(io) {
  for (const auto& traffic_class : generation->config.classes)
    max_queue.push_back(traffic_class.max_queue);
  if (generation->config.upstreams[index(id)].servers.size() > 1)
    servers.resize(generation->config.upstreams[index(id)].servers.size());
  for (const auto& shard : upstream().shards) shards.push_back(shard.get());
  for (const auto& shard : upstream().tenant_shards) tenants.push_back(shard.get());
  for (std::uint32_t r = 0; r < generation->waiting_rooms.size(); ++r) {
    const bool is_its_own = generation->config.routes[r].upstream == id;
    if (is_its_own && generation->waiting_rooms[r]) waiting_rooms.push_back(RouteId(r));
  }
}

overload::InRotation Control::Ticker::read_servers() {
  const Servers& all = upstream().servers;
  const resilience::Rotation rotation = all.rotation();
  for (std::size_t i = 0; i < servers.size(); ++i) {
    servers[i] = {.succeeded = all.in_flight.succeeded(i),
                  .in_flight = all.in_flight[i],
                  .is_in = rotation.in.contains(i)};
  }
  const std::uint32_t slots = upstream().gate.limit_of_all();
  const std::uint32_t elsewhere = all.elsewhere(slots);
  return {.servers = rotation.all.size(),
          .in = rotation.servers_in(),
          .elsewhere = elsewhere,
          .part = overload::part_in_rotation(load.limit, elsewhere, slots)};
}

Control::Control(std::shared_ptr<Generation> generation,
                 std::vector<std::unique_ptr<Worker>>& workers, observe::Log& log, JobQueue* jobs,
                 std::uint64_t seed)
    : workers_(workers), log_(log), webhooks_(jobs), random_(seed) {
  adopt(generation);
}

Control::~Control() { stop(); }

void Control::adopt(const std::shared_ptr<Generation>& generation) {
  tickers_.clear();
  for (Upstream& upstream : generation->upstreams) {
    share(upstream);
    limit(upstream, upstream.controller.limit(), Clock::now());
  }
  for (std::size_t u = 0; u < generation->upstreams.size(); ++u) {
    const UpstreamId id{static_cast<std::uint16_t>(u)};
    tickers_.push_back(std::make_shared<Ticker>(generation, id, io_));
  }
  if (health_checks_) health_checks_->stop();
  health_checks_ = std::make_shared<HealthChecks>(generation, workers_, log_, random_);
}

void Control::start_timers() {
  for (const TickerPtr& ticker : tickers_) arm(ticker);
  health_checks_->start(io_);
}

void Control::start() {
  start_timers();
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "control");
    io_.run();
  });
}

void Control::stop() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

void Control::replace(std::shared_ptr<Generation> generation, std::function<void()> on_worker) {
  boost::asio::post(io_,
                    [this, generation = std::move(generation), on_worker = std::move(on_worker)] {
                      const TimePoint now = Clock::now();
                      for (Upstream& upstream : generation->upstreams) {
                        for (const TickerPtr& former : tickers_) {
                          if (former->upstream().config.name != upstream.config.name) continue;
                          upstream.controller.continue_from(former->upstream().controller, now);
                          upstream.returns.continue_from(former->upstream().returns);
                          upstream.overload_status.publish(upstream.controller, std::nullopt, now);
                        }
                      }
                      for (const auto& worker : workers_) {
                        Plans plans;
                        for (const Upstream& upstream : generation->upstreams)
                          plans.push_back(upstream.controller.plan_of(worker->number()));
                        worker->replace(generation, std::move(plans), on_worker);
                      }
                      // Only now: a plan must not reach a worker before its generation does.
                      adopt(generation);
                      start_timers();
                    });
}

void Control::arm(const TickerPtr& ticker) {
  const TimePoint now = Clock::now();
  const Milliseconds tick_time = ticker->upstream().config.overload.tick;
  ticker->timer.expires_at(std::max(ticker->timer.expiry() + tick_time, now));
  ticker->timer.async_wait(
      [this, weak = std::weak_ptr(ticker)](const boost::system::error_code& stopped) {
        const TickerPtr current = weak.lock();  // null: its generation was replaced
        if (stopped || !current) return;
        heartbeat_.beat();
        tick(*current, Clock::now());
        arm(current);
      });
}

// In shadow mode requests exceed the slots.
void Control::limit(Upstream& upstream, std::uint32_t slots, TimePoint now) {
  upstream.gate.limit_to(slots, now);
  if (upstream.config.overload.mode == config::Mode::shadow) return;
  const std::uint32_t spare = spare_connections(workers_.size(), upstream.endpoints.size());
  upstream.connections.follow(slots + spare, now);
}

// An automatic limit is divided by how much each server was seen to do with its part of it.
void Control::share(Upstream& upstream) {
  if (const auto weights = upstream.controller.server_weights(); !weights.empty())
    upstream.servers.share(weights);
}

Control::Loops Control::read_loops() {
  lags_.clear();
  double lag = 0, use = 0, all_use = 0;
  for (const auto& worker : workers_) {
    const observe::WorkerGauges& gauges = worker->gauges();
    lags_.push_back(to_seconds(gauges.event_loop_lag()));
    if (lags_.back() >= lag) use = gauges.event_loop_use();
    lag = std::max(lag, lags_.back());
    all_use += gauges.event_loop_use();
  }
  // If there are more workers than cores, none of them runs all the time.
  return {.lag = lag, .use = std::max(use, all_use / cores())};
}

void Control::tick(Ticker& ticker, TimePoint now) {
  Upstream& upstream = ticker.upstream();
  upstream.servers.up();  // notices servers that have returned
  upstream.gate.read_load(ticker.load, now);
  const overload::InRotation rotation = ticker.read_servers();
  const Loops loops = read_loops();
  const overload::Tick result =
      upstream.controller.tick({.shards = ticker.shards,
                                .busy_slot_seconds = ticker.load.busy_slot_seconds,
                                .shared_slot_seconds = ticker.load.shared_slot_seconds,
                                .reserved = static_cast<double>(ticker.load.reserved),
                                .concurrency = static_cast<double>(ticker.load.limit),
                                .awaiting_client = ticker.load.awaiting_client,
                                .behind_others = ticker.load.behind_others,
                                .queued = ticker.load.queued,
                                .max_queue = ticker.max_queue,
                                .event_loop_lag = loops.lag,
                                .event_loop_lags = lags_,
                                .event_loop_use = loops.use,
                                .started = ticker.load.started,
                                .predicted_wait = ticker.load.predicted_wait,
                                .tenants = ticker.tenants,
                                .has_refused = upstream.budgets.take_has_refused(),
                                .wall = std::chrono::system_clock::now().time_since_epoch(),
                                .rotation = rotation,
                                .servers = ticker.servers},
                               now);
  share(upstream);
  limit(upstream, result.limit, now);
  upstream.returns.measure(
      overload::shown_capacity(upstream.controller.signals(), ticker.load.mean_hold), now);
  upstream.overload_status.publish(upstream.controller, result.transition, now);
  tell(upstream, result);
  call_visitors(ticker, now);
  if (result.plan == nullptr) return;
  for (const auto& worker : workers_)
    worker->publish(ticker.generation, ticker.id, upstream.controller.plan_of(worker->number()));
}

// Logs what has begun or ended with this tick.
void Control::tell(const Upstream& upstream, const overload::Tick& tick) const {
  const std::string& name = upstream.config.name;
  const overload::OverloadSignals& signals = upstream.controller.signals();
  using AtMax = overload::LimitAtMax::Change;
  if (tick.found_futile) log_.shedding_does_not_help(name, signals);
  if (tick.source_began) log_.errors_of_one_source(name, signals);
  if (tick.source_ended) log_.errors_of_one_source_ended(name, signals);
  if (tick.at_max == AtMax::began)
    log_.limit_at_max(name, upstream.config.dispatch.concurrency, signals);
  if (tick.at_max == AtMax::ended) log_.limit_at_max_ended(name, signals);
  if (tick.transition) {
    log_.transition(name, tick.transition->from, tick.transition->to, tick.transition->reason,
                    signals);
  }
}

// Calls visitors into their waiting rooms' routes, as fast as the upstream can take them.
void Control::call_visitors(Ticker& ticker, TimePoint now) const {
  std::size_t queued = 0;
  for (const std::size_t of_class : ticker.load.queued) queued += of_class;
  const std::uint32_t refused = ticker.upstream().refused.load(std::memory_order_relaxed);
  const std::uint32_t refused_before = std::exchange(ticker.refused, refused);
  const waiting::EntryPace::Health health{.state = ticker.upstream().controller.state(),
                                          .is_refusing = refused != refused_before,
                                          .are_waiting = queued > 0};
  for (const RouteId route : ticker.waiting_rooms) {
    const config::Route& settings = ticker.generation->config.routes[index(route)];
    ticker.generation->waiting_rooms[index(route)]->tick(*settings.waiting_room, health, now);
    webhooks_.tell(*ticker.generation, route);
  }
}

}  // namespace spillway::proxy
