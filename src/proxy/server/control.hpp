// The control thread: every tick it lets each upstream's controller judge what the workers saw, and
// publishes the admission plan when that changed. It does nothing else, so that nothing can delay
// it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "observe/log.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/net/heartbeat.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

class Control {
 public:
  Control(std::shared_ptr<Generation> generation, std::vector<std::unique_ptr<Worker>>& workers,
          observe::Log& log);
  ~Control();  // stops
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  void start();
  void stop();

  // Of its loop, at every tick.
  const Heartbeat& heartbeat() const { return heartbeat_; }

  // Any thread: judges the upstreams of that generation from now on, each from where the one of its
  // name was, and has every worker begin its requests with it. `on_worker` is called by each worker
  // that does.
  void replace(std::shared_ptr<Generation> generation, std::function<void()> on_worker);

 private:
  struct Watched {  // one upstream
    Watched(std::shared_ptr<Generation> of, UpstreamId upstream_id, boost::asio::io_context& io);

    Upstream& upstream() const { return generation->upstreams[index(id)]; }

    std::shared_ptr<Generation> generation;
    UpstreamId id;
    boost::asio::steady_timer timer;
    Gate::Load load;
    std::vector<std::uint32_t> max_queue;
    std::vector<const overload::SignalShard*> shards;
    std::vector<const overload::TenantShard*> tenants;
  };
  using WatchedPtr = std::shared_ptr<Watched>;

  void watch(const std::shared_ptr<Generation>& generation);
  void arm(const WatchedPtr& watched);
  void tick(Watched& watched, TimePoint now);

  std::vector<std::unique_ptr<Worker>>& workers_;
  observe::Log& log_;
  boost::asio::io_context io_{1};
  Heartbeat heartbeat_;
  std::vector<WatchedPtr> watched_;  // by UpstreamId
  std::thread thread_;
};

}  // namespace spillway::proxy
