#include "proxy/server/server.hpp"

#include <pthread.h>

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <thread>

#include "proxy/server/server_parts.hpp"
#include "proxy/server/supervisor.hpp"

namespace spillway::proxy {

namespace asio = boost::asio;

namespace {

std::size_t worker_count(const config::Config& config) {
  if (config.workers != 0) return config.workers;
  return std::max(1u, std::thread::hardware_concurrency());
}

Lineage new_lineage(std::size_t workers) {
  Lineage lineage{random_seed(), {random_seed(), random_seed()}, {}};
  for (std::size_t n = 0; n < workers; ++n)
    lineage.workers.push_back(std::make_shared<observe::WorkerGauges>());
  return lineage;
}

ReadConfiguration looked_up(config::Config config) {
  ReadConfiguration read = look_up_servers(std::move(config));
  if (!read.config) throw BadConfiguration(std::move(read.problems));
  return read;
}

// One line for the operator: what came of a reload, and what is served anyway.
std::string status_after(const ReloadResult& result, const std::string& where) {
  if (result.problems.empty()) return where;
  const config::Problem& first = result.problems.front();
  const std::size_t more = result.problems.size() - 1;
  return "reload refused: " + first.path + ": " + first.message +
         (more == 0 ? "" : " (and " + std::to_string(more) + " more)") + "; as before " + where;
}

}  // namespace

std::uint64_t random_seed() {
  std::random_device entropy;
  return (std::uint64_t{entropy()} << 32) | entropy();
}

Server::Parts::Parts(ReadConfiguration first, LoadConfig load)
    : lineage(new_lineage(worker_count(*first.config))),
      generations(std::make_shared<Generation>(std::move(*first.config), std::move(first.endpoints),
                                               lineage)),
      log(generations.current()->config.log),
      reloader([load = std::move(load)] { return read_configuration(load); },
               [this](ReadConfiguration wanted) { return reload(std::move(wanted)); },
               [this] { return generations.collect() == 0; }) {
  const std::shared_ptr<Generation> generation = generations.current();
  const config::Config& config = generation->config;
  for (std::size_t n = 0; n < lineage.workers.size(); ++n) {
    workers.push_back(std::make_unique<Worker>(n, Worker::Shared{workers, log, tunnel_places, room},
                                               generation, random_seed()));
  }
  control.emplace(generation, workers, log, random_seed());
  listener.emplace(config.listen, most_connections(config), workers);
  admin.emplace(config.admin, pages());
}

std::uint32_t Server::Parts::connections() const {
  std::uint32_t sum = 0;
  for (const auto& worker : workers) sum += worker->connections();
  return sum;
}

std::vector<const Heartbeat*> Server::Parts::heartbeats() const {
  std::vector<const Heartbeat*> all{&control->heartbeat()};
  for (const auto& worker : workers) all.push_back(&worker->heartbeat());
  return all;
}

std::string Server::Parts::where() const {
  const std::shared_ptr<Generation> generation = generations.current();
  const config::Config& settings = generation->config;
  return "serving on " + settings.listen.address + " port " + std::to_string(listener->port()) +
         ", admin on " + settings.admin.address + " port " + std::to_string(admin->port());
}

Server::Server(config::Config config, LoadConfig load)
    : parts_(std::make_unique<Parts>(looked_up(std::move(config)), std::move(load))) {}

Server::~Server() { stop(); }

void Server::start() {
  Parts& parts = *parts_;
  std::signal(SIGPIPE, SIG_IGN);
  parts.admin->start();
  parts.control->start();
  parts.reloader.start();
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
  parts.workers.front()->loop().post([&parts] {
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
  parts.admin->stop();
  for (const auto& worker : parts.workers) worker->abandon();
}

int Server::serve_until_signalled() {
  asio::io_context io{1};
  asio::signal_set signals(io, SIGTERM, SIGINT, SIGHUP);
  asio::steady_timer timer(io);
  Supervisor supervisor(io);
  TimePoint drain_until = kNever;
  int reloading = 0;
  std::string status;

  parts_->on_reload = [&](const ReloadResult& result) {
    asio::post(io, [&, now = status_after(result, parts_->where())] {
      status = now;
      // Whoever sent SIGHUP is told with the end of the reload; POST /reload has no other.
      if (reloading == 0 && drain_until == kNever) supervisor.status(status);
    });
  };

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
        supervisor.stopping("ending at once");
        io.stop();
        return;
      }
      const bool draining = drain_until != kNever;
      if (signal == SIGHUP && !draining) {
        supervisor.reloading(Clock::now());
        ++reloading;
        parts_->reloader.request([&](const ReloadResult&) {
          asio::post(io, [&] {
            // Not while another is under way, nor after it was told that we end.
            if (--reloading == 0 && drain_until == kNever) supervisor.ready(status);
          });
        });
      } else if (signal == SIGHUP) {
        parts_->log.reload_failed("$", "draining: the configuration stays as it is");
      } else {
        supervisor.stopping("finishing what runs");
        drain_until = Clock::now() + parts_->generations.current()->config.limits.drain_timeout;
        begin_drain();
        watch_drain();
      }
      wait();
    });
  };
  wait();
  start();
  status = parts_->where();
  supervisor.ready(status);
  supervisor.feed_watchdog(parts_->heartbeats());
  io.run();
  stop();
  parts_->log.stopped(Clock::now() - parts_->started);
  return 0;
}

}  // namespace spillway::proxy
