// The control thread: one io_context that runs
// * the control tick: every `tick_ms`, each upstream's controller evaluates the signals that the
//   workers recorded; a changed admission plan is published to the workers;
// * after it the calls of visitors in waiting rooms, and the events for their webhooks;
// * the active health checks (HealthChecks).
// Nothing that runs here may block, or ticks would be late.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "observe/log/log.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/net/heartbeat.hpp"
#include "proxy/server/health_checks.hpp"
#include "proxy/server/webhooks.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

class Control {
 public:
  Control(std::shared_ptr<Generation> generation, std::vector<std::unique_ptr<Worker>>& workers,
          observe::Log& log, JobQueue* jobs, std::uint64_t seed);
  ~Control();  // stops
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  void start();
  void stop();

  // Beats at every tick.
  const Heartbeat& heartbeat() const { return heartbeat_; }

  // Thread-safe. Switches ticks, health checks and workers to `generation`. The controller of each
  // upstream continues from its predecessor of the same name. `on_worker` is called on each
  // worker's thread once new requests there use `generation`.
  void replace(std::shared_ptr<Generation> generation, std::function<void()> on_worker);

 private:
  struct Ticker {  // the tick of one upstream
    Ticker(std::shared_ptr<Generation> of, UpstreamId upstream_id, boost::asio::io_context& io);

    Upstream& upstream() const { return generation->upstreams[index(id)]; }
    // The results of each of several servers; and, once the load was read, which are in rotation.
    overload::InRotation read_servers();

    std::shared_ptr<Generation> generation;
    UpstreamId id;
    boost::asio::steady_timer timer;
    Gate::Load load;
    std::vector<std::uint32_t> max_queue;
    std::vector<const overload::SignalShard*> shards;
    std::vector<const overload::TenantShard*> tenants;
    std::vector<overload::ServerTick> servers;  // empty for a single server
    std::vector<RouteId> waiting_rooms;         // the upstream's own routes that have one
    std::uint32_t refused = 0;                  // Upstream::refused at the last tick
  };
  using TickerPtr = std::shared_ptr<Ticker>;

  // The workers' event loops: the worst lag, in seconds, and the share of time that this worker's
  // thread runs, or that all run, per core.
  struct Loops {
    double lag;
    double use;
  };

  void adopt(const std::shared_ptr<Generation>& generation);
  void start_timers();
  void arm(const TickerPtr& ticker);
  void limit(Upstream& upstream, std::uint32_t slots, TimePoint now);
  static void share(Upstream& upstream);
  Loops read_loops();
  void tick(Ticker& ticker, TimePoint now);
  void tell(const Upstream& upstream, const overload::Tick& tick) const;
  void call_visitors(Ticker& ticker, TimePoint now) const;

  std::vector<std::unique_ptr<Worker>>& workers_;
  observe::Log& log_;
  const Webhooks webhooks_;
  boost::asio::io_context io_{1};
  Heartbeat heartbeat_;
  std::vector<TickerPtr> tickers_;  // by UpstreamId
  std::vector<double> lags_;        // from read_loops(), in seconds, by worker
  Random random_;                   // for jitter
  std::shared_ptr<HealthChecks> health_checks_;
  std::thread thread_;
};

}  // namespace spillway::proxy
