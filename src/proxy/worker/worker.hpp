// One event loop on one thread, and everything that its requests use without synchronisation:
// connections, buffers, upstream pools, admission plans, counters, random numbers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "observe/count/worker_metrics.hpp"
#include "observe/log/log.hpp"
#include "proxy/call/abandoned_call.hpp"
#include "proxy/deferral/job_run.hpp"
#include "proxy/exchange/background_refresh.hpp"
#include "proxy/exchange/tunnel.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/generation/local_generation.hpp"
#include "proxy/http1/http1_session.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/net/heartbeat.hpp"
#include "proxy/request/owner/client_connection.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/request/owner/swept.hpp"
#include "proxy/request/owner/tunnel_permit.hpp"
#include "proxy/visitors/visitor_stream.hpp"
#include "proxy/worker/accept_resume.hpp"
#include "proxy/worker/sweep.hpp"

namespace spillway::proxy {

class Worker final : Owner {
 public:
  // Shared by all workers; outlives them.
  struct Shared {
    std::vector<std::unique_ptr<Worker>>& workers;
    observe::Log& log;
    TunnelPermits& tunnel_permits;
    TempSpace& temp_space;
    AcceptResume& accept_resume;
    JobQueue* jobs;  // null: there is no store for jobs
  };

  // Starts with `generation`, whose `metrics` has an entry for this worker.
  Worker(std::size_t number, const Shared& shared, std::shared_ptr<Generation> generation,
         std::uint64_t seed);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Serves until stop(); call it on the worker's own thread.
  void run();
  // After all workers have stopped: ends every session and upstream connection. Returns the number
  // that was in progress; an event stream counts as a tunnel:
  struct CutOff {
    std::size_t requests = 0;
    std::size_t tunnels = 0;
  };
  CutOff abandon();

  // --- Thread-safe:
  void stop();
  void begin_drain();
  // Requests that begin later use `generation`, whose upstreams have these plans.
  void replace(std::shared_ptr<Generation> generation, Plans plans, std::function<void()> done);
  // Ends the requests pinned to it, as if their clients had left or their deadlines had passed.
  void end_requests_of(const Generation& generation);
  // Replaces the plan of one upstream of that generation.
  void publish(const std::shared_ptr<Generation>& generation, UpstreamId upstream,
               std::shared_ptr<const overload::AdmissionPlan> plan);
  // Takes over an accepted connection.
  void adopt(int descriptor, const ClientInfo& client, traffic::AddressCount::Permit permit);
  // Makes an attempt of a job that is leased under `epoch`.
  void run_job(jobs::LeasedJob job, store::Epoch epoch);
  // The lease is lost: ends the upstream requests of all jobs.
  void abort_jobs();
  // Closes their upstream requests and gives them back; no more jobs begin. Calls `done` on the
  // worker's thread.
  void give_back_jobs(std::function<void()> done);
  std::uint32_t connections() const { return connections_.load(); }
  std::size_t number() const { return number_; }
  EventLoop& loop() { return loop_; }
  observe::WorkerGauges& gauges() const { return *gauges_; }
  // Beats every 10 ms.
  const Heartbeat& heartbeat() const { return sweep_.heartbeat(); }

  // --- On the worker's thread:
  LocalGeneration& newest_generation() override { return *newest_; }
  // This worker's part of that generation; null once it has been destroyed.
  LocalGeneration* find(const Generation& generation);
  observe::Log& log() { return shared_.log; }
  AcceptResume& accept_resume() { return shared_.accept_resume; }

 private:
  // Owner:
  void connection_opened() override;
  void connection_idle(ClientConnection& client) override;
  void connection_active(ClientConnection& client) override;
  void connection_closed(bool gave_way) override;
  bool needs_room() override { return shared_.accept_resume.needs_room(); }
  bool give_way(ClientConnection& client) override;
  void give_way_no_more(ClientConnection& client) override;
  bool ends_with_response(ClientConnection& client, bool has_next) override {
    return sweep_.ends_with_response(client, has_next);
  }
  void give_back_memory() override;
  void begin(Owned& object) override;
  void end(Owned& object) override;
  void close_idle_elsewhere(const Generation& generation, UpstreamId upstream,
                            Parking& asker) override;

  Http1Session& take_session();
  void keep(Http1Session& session);
  void close_idle_at(std::size_t hop, const Generation& generation, UpstreamId upstream,
                     Parking& asker);

  static constexpr std::size_t kSpareSessions = 1024;

  const std::size_t number_;
  Shared shared_;
  std::shared_ptr<observe::WorkerGauges> gauges_;
  std::atomic<std::uint32_t> connections_{0};
  EventLoop loop_;  // destroying it releases the last connections
  Services services_;
  LocalGenerationPtr newest_;
  SweptLists swept_;
  std::vector<std::unique_ptr<Http1Session>> spare_sessions_;
  LowWater least_spare_sessions_;
  std::size_t freed_ = 0;  // bytes not yet returned to the system
  TimePoint gives_back_from_{};
  const http::HeadLimits head_limits_;
  Sweep sweep_;
};

}  // namespace spillway::proxy
