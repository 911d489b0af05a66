#include "proxy/server.hpp"

#include <pthread.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "config/effective.hpp"
#include "config/reload.hpp"
#include "observe/log.hpp"
#include "observe/metric_collector.hpp"
#include "observe/state_report.hpp"
#include "proxy/admin.hpp"
#include "proxy/control.hpp"
#include "proxy/descriptor_limit.hpp"
#include "proxy/generations.hpp"
#include "proxy/health_checks.hpp"
#include "proxy/listener.hpp"
#include "proxy/reloader.hpp"
#include "proxy/service_manager.hpp"
#include "proxy/snapshot.hpp"
#include "proxy/worker.hpp"

namespace spillway::proxy {

namespace {

// Per server, while /readyz looks for one that is back.
constexpr Milliseconds kProbeTimeout{100};

std::size_t worker_count(const config::Config& config) {
  if (config.workers != 0) return config.workers;
  return std::max(1u, std::thread::hardware_concurrency());
}

std::uint64_t random_seed() {
  std::random_device entropy;
  return (std::uint64_t{entropy()} << 32) | entropy();
}

Lineage new_lineage(std::size_t workers) {
  Lineage lineage{random_seed(), {random_seed(), random_seed()}, {}};
  for (std::size_t n = 0; n < workers; ++n)
    lineage.workers.push_back(std::make_shared<observe::WorkerGauges>());
  return lineage;
}

std::vector<const observe::WorkerMetrics*> metrics_of(const Generation& generation) {
  std::vector<const observe::WorkerMetrics*> metrics;
  for (const auto& each : generation.metrics) metrics.push_back(each.get());
  return metrics;
}

observe::BuildInfo build_info() { return {SPILLWAY_VERSION, SPILLWAY_COMPILER}; }

}  // namespace

struct Server::Parts {
  Parts(config::Config settings, LoadConfig load_again)
      : lineage(new_lineage(worker_count(settings))),
        generations(std::make_shared<Generation>(std::move(settings), lineage)),
        load(std::move(load_again)),
        log(generations.current()->config.log),
        reloader([this] { return reload(); }, [this] { return generations.collect() == 0; }) {
    const std::shared_ptr<Generation> generation = generations.current();
    const config::Config& config = generation->config;
    for (std::size_t n = 0; n < lineage.workers.size(); ++n) {
      workers.push_back(
          std::make_unique<Worker>(n, Worker::Shared{workers, log}, generation, random_seed()));
    }
    control.emplace(generation, workers, log);
    check_health_of(generation);
    listener.emplace(config.listen, most_connections(config), workers);
    admin.emplace(config.admin, pages());
  }

  // No longer of the one before.
  void check_health_of(const std::shared_ptr<Generation>& generation) {
    health_checks.reset();
    health_checks = std::make_unique<HealthChecks>(generation, workers, log, random_seed());
  }

  std::uint32_t most_connections(const config::Config& config) {
    const std::uint32_t most = affordable_connections(config, workers.size());
    if (most < config.limits.connections) {
      log.message(observe::Level::warn, "the limit of open files leaves room for " +
                                            std::to_string(most) +
                                            " client connections, fewer than limits.connections");
    }
    return most;
  }

  observe::Snapshot snapshot(Generation& generation, bool with_dead_letters) {
    observe::Snapshot snapshot;
    snapshot.taken_at = std::chrono::system_clock::now();
    snapshot.uptime = Clock::now() - started;
    snapshot.draining = draining.load();
    snapshot.log_dropped = log.dropped();
    {
      const std::lock_guard lock(reloads_mutex);
      snapshot.reloads = reloads;
    }
    snapshot.reloads.generation = generation.number;
    snapshot.reloads.in_effect = Clock::now() - generations.since();
    snapshot.reloads.former = generations.collect();
    read_upstreams(generation, with_dead_letters, snapshot);
    generation.answers.read_snapshot(snapshot.caches);
    return snapshot;
  }

  std::string not_ready() {
    if (draining.load()) return "draining";
    const std::shared_ptr<Generation> generation = generations.current();
    for (Upstream& upstream : generation->upstreams) {
      if (upstream.is_live()) return {};
    }
    // Only requests find out that an upstream is back, and who is not ready is sent none: ask.
    for (Upstream& upstream : generation->upstreams) {
      if (!upstream.connections.try_open()) continue;
      for (const Endpoint& endpoint : upstream.endpoints) {
        if (!accepts_connections(endpoint, kProbeTimeout)) continue;
        upstream.reachable = true;
        break;
      }
      upstream.connections.closed();
      if (upstream.is_live()) return {};
    }
    return "no live upstream";
  }

  std::string metrics_page() {
    const std::shared_ptr<Generation> generation = generations.current();
    const observe::MetricCollector collector(
        generation->config, metrics_of(*generation),
        [this, &generation] { return snapshot(*generation, false); }, build_info(),
        [this] { return generations.former_counts(); });
    return observe::to_text(collector);
  }

  std::string state_page() {
    const std::shared_ptr<Generation> generation = generations.current();
    return observe::state_report(generation->config, metrics_of(*generation),
                                 snapshot(*generation, true), build_info())
        .dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  AdminSource pages() {
    return {.metrics = [this] { return metrics_page(); },
            .state = [this] { return state_page(); },
            .config = [this] { return config::effective(generations.current()->config).dump(2); },
            .not_ready = [this] { return not_ready(); },
            .purge = [this](const PurgeRequest& what) { return purge(what); },
            .reload = [this](Reloader::Done done) { reloader.request(std::move(done)); }};
  }

  PurgeResult purge(const PurgeRequest& what) {
    PurgeResult result = generations.current()->answers.purge(what, Clock::now());
    if (result.unknown.empty()) {
      log.message(observe::Level::info,
                  "purged " + std::to_string(result.purged) + " stored answers");
    }
    return result;
  }

  std::vector<const Heartbeat*> heartbeats() const {
    std::vector<const Heartbeat*> all{&control->heartbeat()};
    for (const auto& worker : workers) all.push_back(&worker->heartbeat);
    return all;
  }

  std::string where() const {
    const std::shared_ptr<Generation> generation = generations.current();
    const config::Config& settings = generation->config;
    return "serving on " + settings.listen.address + " port " + std::to_string(listener->port()) +
           ", admin on " + settings.admin.address + " port " + std::to_string(admin->port());
  }

  // On the reloader's thread.
  ReloadResult reload() {
    ReloadResult result;
    result.problems = try_reload();
    result.generation = generations.current()->number;
    for (const config::Problem& each : result.problems) log.reload_failed(each.path, each.message);
    if (result.problems.empty()) log.reloaded(result.generation);
    const std::lock_guard lock(reloads_mutex);
    ++(result.problems.empty() ? reloads.done : reloads.failed);
    reloads.problems.clear();
    for (const config::Problem& each : result.problems)
      reloads.problems.push_back(each.path + ": " + each.message);
    return result;
  }

  // Nothing has changed when it returns a problem.
  config::Problems try_reload() {
    if (draining.load()) return {{"$", "draining: the configuration stays as it is"}};
    if (!load) return {{"$", "there is no file to read again"}};
    if (generations.collect() >= Generations::kMostFormer) {
      return {{"$", "running requests still keep to " + std::to_string(Generations::kMostFormer) +
                        " earlier configurations: try again when some of them have ended"}};
    }
    const std::shared_ptr<Generation> former = generations.current();
    config::LoadResult loaded = load();
    if (!loaded.config) return loaded.problems;
    if (auto problems = config::needs_restart(former->config, *loaded.config); !problems.empty())
      return problems;
    try {
      put_into_effect(std::make_shared<Generation>(std::move(*loaded.config), lineage, &*former));
    } catch (const std::exception& error) {
      return {{"$", error.what()}};
    }
    return {};
  }

  // Returns once every worker begins its requests with it.
  void put_into_effect(const std::shared_ptr<Generation>& next) {
    generations.replace(next);
    log.set_level(next->config.log);
    asio::post(workers.front()->io(), [this, most = most_connections(next->config)] {
      listener->set_most_connections(most);
    });
    const auto left = std::make_shared<std::atomic<std::size_t>>(workers.size());
    control->replace(next, [left] {
      if (left->fetch_sub(1) == 1) left->notify_all();
    });
    for (std::size_t now = left->load(); now != 0; now = left->load()) left->wait(now);
    check_health_of(next);
    health_checks->start();
  }

  std::uint32_t connections() const {
    std::uint32_t sum = 0;
    for (const auto& worker : workers) sum += worker->connections();
    return sum;
  }

  const Lineage lineage;
  Generations generations;
  const LoadConfig load;
  observe::Log log;
  std::vector<std::unique_ptr<Worker>> workers;
  std::optional<Control> control;
  std::unique_ptr<HealthChecks> health_checks;
  std::optional<Listener> listener;
  std::optional<AdminServer> admin;
  std::vector<std::thread> threads;
  TimePoint started = Clock::now();
  std::atomic<bool> draining{false};
  std::atomic<bool> listening{false};
  std::mutex reloads_mutex;
  observe::Reloads reloads;
  Reloader reloader;  // its thread uses all of the above
};

Server::Server(config::Config config, LoadConfig load)
    : parts_(std::make_unique<Parts>(std::move(config), std::move(load))) {}

Server::~Server() { stop(); }

void Server::start() {
  Parts& parts = *parts_;
  std::signal(SIGPIPE, SIG_IGN);
  parts.admin->start();
  parts.control->start();
  parts.health_checks->start();
  parts.listener->start();
  parts.listening = true;
  for (const auto& worker : parts.workers) {
    parts.threads.emplace_back([&worker = *worker] {
      const std::string name = "worker " + std::to_string(worker.number());  // as top -H shows it
      ::pthread_setname_np(::pthread_self(), name.c_str());
      worker.run();
    });
  }
  parts.log.started(SPILLWAY_VERSION, parts.workers.size());
  const std::shared_ptr<Generation> generation = parts.generations.current();
  parts.log.listening("proxy", generation->config.listen.address, port());
  parts.log.listening("admin", generation->config.admin.address, admin_port());
}

std::uint16_t Server::port() const { return parts_->listener->port(); }
std::uint16_t Server::admin_port() const { return parts_->admin->port(); }

void Server::begin_drain() {
  Parts& parts = *parts_;
  if (parts.draining.exchange(true)) return;
  parts.log.draining(parts.connections(), parts.generations.current()->config.limits.drain_timeout);
  asio::post(parts.workers.front()->io(), [&parts] {
    parts.listener->stop();
    for (const auto& worker : parts.workers) worker->begin_drain();
    parts.listening = false;
  });
}

bool Server::drained() const { return !parts_->listening && parts_->connections() == 0; }

void Server::stop() {
  Parts& parts = *parts_;
  parts.reloader.stop();  // while there are workers to take up what it puts into effect
  for (const auto& worker : parts.workers) worker->stop();
  for (std::thread& thread : parts.threads) thread.join();
  parts.threads.clear();
  parts.control->stop();
  parts.health_checks->stop();
  parts.admin->stop();
  for (const auto& worker : parts.workers) worker->abandon();
}

int Server::serve_until_signalled() {
  asio::io_context io{1};
  asio::signal_set signals(io, SIGTERM, SIGINT, SIGHUP);
  asio::steady_timer timer(io);
  ServiceManager service_manager(io);
  TimePoint drain_until = kNever;

  const std::function<void()> watch_drain = [&] {
    if (drained() || Clock::now() >= drain_until) {
      if (!drained()) parts_->log.message(observe::Level::warn, "drain timeout: closing the rest");
      io.stop();
      return;
    }
    timer.expires_after(Milliseconds{10});
    timer.async_wait([&](const boost::system::error_code&) { watch_drain(); });
  };
  const std::function<void()> wait = [&] {
    signals.async_wait([&](const boost::system::error_code&, int signal) {
      if (signal == SIGINT || (signal == SIGTERM && drain_until != kNever)) {
        service_manager.stopping("ending at once");
        io.stop();
        return;
      }
      if (signal == SIGHUP) {
        service_manager.reloading(Clock::now());
        parts_->reloader.request([&](const ReloadResult&) {
          asio::post(io, [&] { service_manager.ready(parts_->where()); });
        });
      } else {
        service_manager.stopping("finishing what runs");
        drain_until = Clock::now() + parts_->generations.current()->config.limits.drain_timeout;
        begin_drain();
        watch_drain();
      }
      wait();
    });
  };
  wait();
  start();
  service_manager.ready(parts_->where());
  service_manager.feed_watchdog(parts_->heartbeats());
  io.run();
  stop();
  parts_->log.stopped(Clock::now() - parts_->started);
  return 0;
}

}  // namespace spillway::proxy
