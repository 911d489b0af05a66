// The control thread: every tick it lets each upstream's controller judge what the workers saw, and
// publishes the admission plan when that changed. It does nothing else, so that nothing can delay
// it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "observe/log.hpp"
#include "observe/snapshot.hpp"
#include "overload/controller.hpp"
#include "proxy/generation.hpp"
#include "proxy/heartbeat.hpp"
#include "proxy/upstream.hpp"
#include "proxy/worker.hpp"

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

  // Any thread: fills in states, signals and transitions, in the order of the configuration.
  void read_snapshot(std::vector<observe::UpstreamSnapshot>& upstreams);
  // Of its loop, at every tick.
  const Heartbeat& heartbeat() const { return heartbeat_; }

 private:
  struct Watched {  // one upstream
    Watched(UpstreamId upstream_id, const config::Upstream& upstream, boost::asio::io_context& io)
        : id(upstream_id), timer(io), tick(upstream.overload.tick) {}

    UpstreamId id;
    boost::asio::steady_timer timer;
    Milliseconds tick;
    Gate::Load load;
    std::vector<std::uint32_t> max_queue;
    std::vector<const overload::SignalShard*> shards;
    std::vector<const overload::TenantShard*> tenants;

    std::mutex mutex;  // guards what scrapes read
    overload::State published_state{};
    Reason published_reason = Reason::none;
    std::shared_ptr<const overload::AdmissionPlan> published_plan;
    TimePoint since{};
    overload::OverloadSignals signals;
    std::vector<observe::TransitionCount> transitions;
  };

  void arm(Watched& watched);
  void tick(Watched& watched, TimePoint now);

  std::shared_ptr<Generation> generation_;
  std::vector<std::unique_ptr<Worker>>& workers_;
  observe::Log& log_;
  boost::asio::io_context io_{1};
  std::deque<Watched> watched_;
  Heartbeat heartbeat_;
  std::thread thread_;
};

}  // namespace spillway::proxy
