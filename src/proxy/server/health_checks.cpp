#include "proxy/server/health_checks.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <utility>

namespace spillway::proxy {

namespace asio = boost::asio;

HealthChecks::HealthChecks(std::shared_ptr<Generation> generation,
                           std::vector<std::unique_ptr<Worker>>& workers, observe::Log& log,
                           Random& random)
    : generation_(std::move(generation)), workers_(workers), log_(log), random_(random) {}

void HealthChecks::start(asio::io_context& io) {
  // The handler owns this object, and with it the signals, until its coroutine ends.
  const auto on_end = [self = shared_from_this()](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  };
  for (std::size_t u = 0; u < generation_->upstreams.size(); ++u) {
    const Upstream& upstream = generation_->upstreams[u];
    if (!upstream.config.health_check) continue;
    for (std::size_t server = 0; server < upstream.endpoints.size(); ++server) {
      asio::co_spawn(io, check(UpstreamId(static_cast<std::uint16_t>(u)), server),
                     asio::bind_cancellation_slot(cancel_.emplace_back().slot(), on_end));
    }
  }
}

void HealthChecks::stop() {
  stopped_ = true;
  for (auto& signal : cancel_) signal.emit(asio::cancellation_type::terminal);
}

asio::awaitable<void> HealthChecks::check(UpstreamId upstream, std::size_t server) {
  co_await asio::this_coro::throw_if_cancelled(false);  // `stopped_` ends the loop instead
  const Endpoint& endpoint = generation_->upstreams[index(upstream)].endpoints[server];
  const config::HealthCheck& settings =
      *generation_->upstreams[index(upstream)].config.health_check;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  const Duration first = settings.interval;
  TimePoint due =
      Clock::now() + std::chrono::duration_cast<Duration>(first * 0.1 * random_.uniform());
  while (!stopped_) {
    timer.expires_at(due);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (stopped_) break;
    due = Clock::now() + jittered(settings.interval);
    const std::size_t address =
        generation_->upstreams[index(upstream)].servers.address_in_use(server);
    Probed probed = co_await probe_health(settings, endpoint, address);
    if (!stopped_) record(upstream, server, address, std::move(probed));
  }
}

void HealthChecks::record(UpstreamId id, std::size_t server, std::size_t first, Probed probed) {
  Upstream& upstream = generation_->upstreams[index(id)];
  const observe::HealthCheckReport report = std::move(probed.report);
  if (probed.is_connected) {
    upstream.servers.use_address(server, probed.address);
  } else if (report.reason == observe::HealthCheckReason::timeout) {
    upstream.servers.leave_address(server, first, probed.address,
                                   upstream.endpoints[server].addresses.size());
  }
  const bool passed = report.reason == observe::HealthCheckReason::success;
  if (passed) upstream.reachable.store(true, std::memory_order_relaxed);
  const bool was_known = upstream.servers.health(server) != resilience::HealthState::unknown;
  if (!upstream.servers.record_check(server, report)) return;
  if (passed && !was_known) return;  // it has never failed
  log_.server_event(passed ? observe::ServerEvent::health_check_passed
                           : observe::ServerEvent::health_check_failed,
                    upstream.config.name, upstream.endpoints[server].name, name(report.reason),
                    report.detail);
  if (!passed) close_idle_connections(id, server);
}

void HealthChecks::close_idle_connections(UpstreamId upstream, std::size_t server) {
  for (const auto& worker : workers_) {
    worker->loop().post([generation = generation_, &worker = *worker, upstream, server] {
      if (LocalGeneration* local = worker.find(*generation))
        local->pool(upstream).close_idle_to(server);
    });
  }
}

Duration HealthChecks::jittered(Milliseconds interval) {
  return std::chrono::duration_cast<Duration>(interval * (0.9 + 0.2 * random_.uniform()));
}

}  // namespace spillway::proxy
