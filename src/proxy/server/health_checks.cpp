#include "proxy/server/health_checks.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

namespace spillway::proxy {

namespace {
// poll(2) fails when the limit of open files was set below what is watched, or without memory.
constexpr Milliseconds kAfterError{100};
}  // namespace

HealthChecks::HealthChecks(std::shared_ptr<Generation> generation,
                           std::vector<std::unique_ptr<Worker>>& workers, observe::Log& log,
                           std::uint64_t seed)
    : generation_(std::move(generation)),
      workers_(workers),
      log_(log),
      random_(seed),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  for (std::size_t u = 0; u < generation_->upstreams.size(); ++u) {
    const Upstream& upstream = generation_->upstreams[u];
    if (!upstream.config.health_check) continue;
    const config::HealthCheck& check = *upstream.config.health_check;
    for (std::size_t server = 0; server < upstream.endpoints.size(); ++server) {
      watched_.push_back({.upstream = UpstreamId(static_cast<std::uint16_t>(u)),
                          .server = server,
                          .interval = check.interval,
                          .probe = HealthProbe(check, upstream.endpoints[server])});
    }
  }
}

HealthChecks::~HealthChecks() {
  stop();
  ::close(wake_);
}

void HealthChecks::start() {
  if (watched_.empty()) return;
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "health checks");
    run();
  });
}

void HealthChecks::stop() {
  if (!thread_.joinable()) return;
  ::eventfd_write(wake_, 1);
  thread_.join();
}

void HealthChecks::run() {
  const TimePoint began = Clock::now();
  for (Watched& watched : watched_) {
    watched.due =
        began + std::chrono::duration_cast<Duration>(watched.interval * 0.1 * random_.uniform());
  }
  std::vector<pollfd> polled;
  std::vector<Watched*> running;
  for (;;) {
    const TimePoint now = Clock::now();
    const TimePoint next = keep_time(now);
    polled.assign(1, {wake_, POLLIN, 0});
    running.clear();
    for (Watched& watched : watched_) {
      if (!watched.probe.is_running()) continue;
      polled.push_back({watched.probe.descriptor(), watched.probe.events(), 0});
      running.push_back(&watched);
    }
    const auto wait = std::chrono::ceil<Milliseconds>(std::max(next - now, Duration{0}));
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(wait.count()));
    if (ready < 0 && errno != EINTR) std::this_thread::sleep_for(kAfterError);
    if (ready <= 0) continue;
    if (polled[0].revents != 0) return;
    for (std::size_t i = 0; i < running.size(); ++i) {
      if (polled[i + 1].revents == 0) continue;
      if (const auto result = running[i]->probe.on_ready()) conclude(*running[i], *result);
    }
  }
}

TimePoint HealthChecks::keep_time(TimePoint now) {
  TimePoint next = kNever;
  for (Watched& watched : watched_) {
    if (watched.probe.is_running() && watched.probe.deadline() <= now)
      conclude(watched, watched.probe.give_up());
    if (!watched.probe.is_running() && watched.due <= now) {
      watched.due = now + spread(watched.interval);
      if (const auto result = watched.probe.begin(now)) conclude(watched, *result);
    }
    next = std::min(next, watched.probe.is_running() ? watched.probe.deadline() : watched.due);
  }
  return next;
}

void HealthChecks::conclude(Watched& watched, HealthProbe::Result result) {
  Upstream& upstream = generation_->upstreams[index(watched.upstream)];
  if (result == HealthProbe::Result::success)
    upstream.reachable.store(true, std::memory_order_relaxed);
  if (!upstream.servers.checked(watched.server, result)) return;
  report(watched, result);
  if (result == HealthProbe::Result::success) return;
  for (const auto& worker : workers_) {
    worker->loop().post([generation = generation_, &worker = *worker, upstream = watched.upstream,
                         server = watched.server] {
      if (LocalGeneration* local = worker.find(*generation))
        local->pool(upstream).close_idle_to(server);
    });
  }
}

void HealthChecks::report(const Watched& watched, HealthProbe::Result result) {
  const Upstream& upstream = generation_->upstreams[index(watched.upstream)];
  log_.server_event(result == HealthProbe::Result::success
                        ? observe::ServerEvent::health_check_passed
                        : observe::ServerEvent::health_check_failed,
                    upstream.config.name, upstream.endpoints[watched.server].name, name(result));
}

// A tenth more or less.
Duration HealthChecks::spread(Milliseconds interval) {
  return std::chrono::duration_cast<Duration>(interval * (0.9 + 0.2 * random_.uniform()));
}

}  // namespace spillway::proxy
