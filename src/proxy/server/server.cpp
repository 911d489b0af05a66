#include "proxy/server/server.hpp"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "config/check/warnings.hpp"
#include "config/file/key_files.hpp"
#include "proxy/net/random_bytes.hpp"
#include "proxy/server/random_seed.hpp"
#include "proxy/server/server_parts.hpp"

namespace spillway::proxy {

namespace {

// Signs visitors' tokens until PlaceKeeper has a key that is kept.
HmacKey random_key() {
  HmacKey key;
  if (!fill_randomly(key)) throw std::runtime_error("no random numbers from the system");
  return key;
}

std::size_t worker_count(const config::Config& config) {
  if (config.workers != 0) return config.workers;
  return std::max(1u, std::thread::hardware_concurrency());
}

ProcessContext new_process_context(std::size_t workers) {
  ProcessContext process{random_seed(),
                         {random_seed(), random_seed()},
                         {},
                         std::make_shared<VisitorContext>(waiting::TokenKeys(random_key()),
                                                          SipKey{random_seed(), random_seed()})};
  for (std::size_t n = 0; n < workers; ++n)
    process.workers.push_back(std::make_shared<observe::WorkerGauges>());
  return process;
}

// Without one of its keys the configuration is not valid.
ReadConfiguration with_keys(ReadConfiguration read) {
  if (read.config) config::read_key_files(*read.config, read.problems);
  if (!read.problems.empty()) read.config.reset();
  return read;
}

ReadConfiguration resolved(config::Config config) {
  ReadConfiguration read = with_keys(resolve_servers(std::move(config)));
  if (!read.config) throw BadConfiguration(std::move(read.problems));
  return read;
}

}  // namespace

Server::Parts::Parts(ReadConfiguration first, config::LoadConfig load)
    : process(new_process_context(worker_count(*first.config))),
      generations(std::make_shared<Generation>(std::move(*first.config), std::move(first.endpoints),
                                               process)),
      log(generations.current()->config.log),
      places(process.visitors, [this](const store::Failure& failure) { tell_of_rooms(failure); }),
      shared_rooms(process.visitors,
                   [this](const store::Failure& failure) { tell_of_rooms(failure); }),
      jobs(make_jobs(generations.current()->config)),
      workers(generations.current(), log, jobs.get()),
      reloader([load = std::move(load)] { return with_keys(read_configuration(load)); },
               [this](ReadConfiguration wanted) { return reload(std::move(wanted)); },
               [this] { return generations.collect() == 0; }) {
  const std::shared_ptr<Generation> generation = generations.current();
  const config::Config& config = generation->config;
  control.emplace(generation, workers.all(), log, jobs.get(), random_seed());
  listener.emplace(config.listen, max_client_connections(config), workers.all());
  admin.emplace(config.admin, pages());
}

std::vector<const Heartbeat*> Server::Parts::heartbeats() {
  std::vector<const Heartbeat*> all{&control->heartbeat()};
  for (const auto& worker : workers.all()) all.push_back(&worker->heartbeat());
  return all;
}

std::string Server::Parts::listening_status() const {
  const std::shared_ptr<Generation> generation = generations.current();
  const config::Config& settings = generation->config;
  return "serving on " + settings.listen.address + " port " + std::to_string(listener->port()) +
         ", admin on " + settings.admin.address + " port " +
         std::to_string(admin->port() != 0 ? admin->port() : settings.admin.port);
}

void Server::Parts::warn_of(const config::Config& config) {
  for (const config::Problem& each : config::warnings(config))
    log.message(observe::Level::warn, each.path + ": " + each.message);
}

bool Server::Parts::start_admin() {
  if (!admin->start_unless_drained()) return false;
  if (listening) log.listening("admin", generations.current()->config.admin.address, admin->port());
  return true;
}

Server::Server(config::Config config, config::LoadConfig load)
    : parts_(std::make_unique<Parts>(resolved(std::move(config)), std::move(load))) {}

Server::~Server() { stop(); }

void Server::start() {
  Parts& parts = *parts_;
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a temporary file beyond RLIMIT_FSIZE
  parts.warn_of(parts.generations.current()->config);
  parts.start_jobs();
  if (auto problem = parts.keep_places(*parts.generations.current()))
    throw BadConfiguration({std::move(*problem)});
  if (!parts.start_admin()) {
    parts.log.message(observe::Level::warn,
                      "a Spillway that drains has the admin port: the admin listener starts when "
                      "that has ended");
  }
  parts.control->start();
  parts.reloader.start();
  parts.listener->start();
  parts.listening = true;
  parts.workers.start();
  parts.log.started(SPILLWAY_VERSION, parts.workers.size());
  const std::shared_ptr<Generation> generation = parts.generations.current();
  parts.log.listening("proxy", generation->config.listen.address, port());
  if (admin_port() != 0)
    parts.log.listening("admin", generation->config.admin.address, admin_port());
}

std::uint16_t Server::port() const { return parts_->listener->port(); }
std::uint16_t Server::admin_port() const { return parts_->admin->port(); }

void Server::begin_drain_delay(Milliseconds delay) {
  Parts& parts = *parts_;
  observe::Phase before = observe::Phase::serving;
  if (!parts.phase.compare_exchange_strong(before, observe::Phase::drain_delay)) return;
  parts.log.drain_delay(parts.workers.connections(), delay);
}

void Server::begin_drain() {
  Parts& parts = *parts_;
  if (parts.phase.exchange(observe::Phase::draining) == observe::Phase::draining) return;
  parts.log.lose_none();
  parts.log.draining(parts.workers.connections(),
                     parts.generations.current()->config.limits.drain_timeout);
  parts.workers.first().loop().post([&parts] {
    parts.listener->stop();
    if (parts.jobs) parts.jobs->stop_pulling();
    for (const auto& worker : parts.workers.all()) worker->begin_drain();
    parts.listening = false;
  });
}

bool Server::drained() const {
  const Parts& parts = *parts_;
  const bool has_jobs = parts.jobs && parts.jobs->in_hand() > 0;
  return !parts.listening && parts.workers.connections() == 0 && !has_jobs;
}

void Server::stop() {
  Parts& parts = *parts_;
  parts.log.lose_none();
  parts.reloader.stop();  // first, because activating a configuration waits for the workers
  if (parts.jobs) {
    // Before the store is told: after that another proxy may begin these jobs.
    parts.workers.give_back_jobs();
    // While workers run: they log the end of each job.
    parts.jobs->stop();
    parts.workers.catch_up();
  }
  parts.workers.stop();
  parts.control->stop();
  parts.admin->stop();
  parts.places.stop();
  parts.shared_rooms.stop();
  parts.gone_rooms.reset();
  for (const auto& worker : parts.workers.all()) {
    const Worker::CutOff of_worker = worker->abandon();
    parts.cut_off.requests += of_worker.requests;
    parts.cut_off.tunnels += of_worker.tunnels;
  }
}

}  // namespace spillway::proxy
