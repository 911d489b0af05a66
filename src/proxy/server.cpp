#include "proxy/server.hpp"

#include <pthread.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdint>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "config/effective.hpp"
#include "observe/log.hpp"
#include "observe/metric_collector.hpp"
#include "observe/state_report.hpp"
#include "proxy/admin.hpp"
#include "proxy/control.hpp"
#include "proxy/descriptor_limit.hpp"
#include "proxy/generation.hpp"
#include "proxy/health_checks.hpp"
#include "proxy/listener.hpp"
#include "proxy/service_manager.hpp"
#include "proxy/upstream.hpp"
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

// Their texts are copied only for who shows them: workers wait meanwhile.
void read_dead_letters(const DeadLetterBox& box, bool with_letters,
                       observe::UpstreamSnapshot& snapshot, TimePoint now) {
  box.look([&](const dispatch::DeadLetters& letters) {
    snapshot.dead_letters_total = letters.total();
    if (!with_letters) return;
    for (std::size_t i = letters.size(); i-- > 0;) {
      const dispatch::DeadLetter letter = letters[i];
      snapshot.dead_letters.push_back({.age = now - letter.at,
                                       .reason = letter.reason,
                                       .traffic_class = letter.traffic_class,
                                       .route = letter.route,
                                       .waited = letter.waited,
                                       .method = std::string(letter.method),
                                       .path = std::string(letter.path),
                                       .request_id = std::string(letter.request_id),
                                       .tenant = std::string(letter.tenant)});
    }
  });
}

observe::BuildInfo build_info() { return {SPILLWAY_VERSION, SPILLWAY_COMPILER}; }

}  // namespace

struct Server::Parts {
  explicit Parts(config::Config settings)
      : lineage(new_lineage(worker_count(settings))),
        generation(std::make_shared<Generation>(std::move(settings), lineage)),
        log(config().log) {
    const std::size_t workers_wanted = lineage.workers.size();
    for (std::size_t n = 0; n < workers_wanted; ++n) {
      workers.push_back(
          std::make_unique<Worker>(n, Worker::Shared{workers, log}, generation, random_seed()));
    }
    control.emplace(generation, workers, log);
    health_checks.emplace(generation, workers, log, random_seed());
    const std::uint32_t connections_most = affordable_connections(config(), workers_wanted);
    if (connections_most < config().limits.connections) {
      log.message(observe::Level::warn, "the limit of open files leaves room for " +
                                            std::to_string(connections_most) +
                                            " client connections, fewer than limits.connections");
    }
    listener.emplace(config().listen, connections_most, workers);
    admin.emplace(config().admin, pages());
    for (const auto& each : generation->metrics) metrics.push_back(each.get());
    collector.emplace(
        config(), metrics, [this] { return snapshot(false); }, build_info());
  }

  const config::Config& config() const { return generation->config; }

  observe::Snapshot snapshot(bool with_dead_letters) {
    observe::Snapshot snapshot;
    snapshot.taken_at = std::chrono::system_clock::now();
    snapshot.uptime = Clock::now() - started;
    snapshot.draining = draining.load();
    snapshot.log_dropped = log.dropped();
    std::deque<Upstream>& upstreams = generation->upstreams;
    snapshot.upstreams.resize(upstreams.size());
    for (std::size_t u = 0; u < upstreams.size(); ++u) {
      const TimePoint now = Clock::now();
      upstreams[u].gate.read_snapshot(snapshot.upstreams[u], now);
      snapshot.upstreams[u].open_circuits = upstreams[u].open_circuits.load();
      upstreams[u].servers.read_snapshot(snapshot.upstreams[u]);
      read_dead_letters(upstreams[u].dead_letters, with_dead_letters, snapshot.upstreams[u], now);
    }
    control->read_snapshot(snapshot.upstreams);
    generation->answers.read_snapshot(snapshot.caches);
    return snapshot;
  }

  std::string not_ready() {
    if (draining.load()) return "draining";
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

  AdminSource pages() {
    return {.metrics = [this] { return observe::to_text(*collector); },
            .state =
                [this] {
                  return observe::state_report(config(), metrics, snapshot(true), build_info())
                      .dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
                },
            .config = [this] { return config::effective(config()).dump(2); },
            .not_ready = [this] { return not_ready(); },
            .purge = [this](const PurgeRequest& what) { return purge(what); }};
  }

  PurgeResult purge(const PurgeRequest& what) {
    PurgeResult result = generation->answers.purge(what, Clock::now());
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
    const config::Config& settings = config();
    return "serving on " + settings.listen.address + " port " + std::to_string(listener->port()) +
           ", admin on " + settings.admin.address + " port " + std::to_string(admin->port());
  }

  std::uint32_t connections() const {
    std::uint32_t sum = 0;
    for (const auto& worker : workers) sum += worker->connections();
    return sum;
  }

  const Lineage lineage;
  std::shared_ptr<Generation> generation;
  observe::Log log;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<const observe::WorkerMetrics*> metrics;
  std::optional<observe::MetricCollector> collector;
  std::optional<Control> control;
  std::optional<HealthChecks> health_checks;
  std::optional<Listener> listener;
  std::optional<AdminServer> admin;
  std::vector<std::thread> threads;
  TimePoint started = Clock::now();
  std::atomic<bool> draining{false};
  std::atomic<bool> listening{false};
};

Server::Server(config::Config config) : parts_(std::make_unique<Parts>(std::move(config))) {}

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
  parts.log.listening("proxy", parts.config().listen.address, port());
  parts.log.listening("admin", parts.config().admin.address, admin_port());
}

std::uint16_t Server::port() const { return parts_->listener->port(); }
std::uint16_t Server::admin_port() const { return parts_->admin->port(); }

void Server::begin_drain() {
  Parts& parts = *parts_;
  if (parts.draining.exchange(true)) return;
  parts.log.draining(parts.connections(), parts.config().limits.drain_timeout);
  asio::post(parts.workers.front()->io(), [&parts] {
    parts.listener->stop();
    for (const auto& worker : parts.workers) worker->begin_drain();
    parts.listening = false;
  });
}

bool Server::drained() const { return !parts_->listening && parts_->connections() == 0; }

void Server::stop() {
  Parts& parts = *parts_;
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
        parts_->log.reload_ignored();
      } else {
        service_manager.stopping("finishing what runs");
        drain_until = Clock::now() + parts_->config().limits.drain_timeout;
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
