// All workers, each on its own thread, and the limits that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "observe/log/log.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/jobs/job_queue.hpp"
#include "proxy/net/temp_file.hpp"
#include "proxy/request/owner/tunnel_permit.hpp"
#include "proxy/worker/accept_resume.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

class WorkerPool {
 public:
  using Workers = std::vector<std::unique_ptr<Worker>>;

  // One worker for each entry of the generation's `metrics`. `jobs`: null, or outlives the pool.
  WorkerPool(const std::shared_ptr<Generation>& generation, observe::Log& log, JobQueue* jobs);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  Workers& all() { return workers_; }
  Worker& first() { return *workers_.front(); }
  // The worker for a job: each in turn. On the store's thread.
  Worker& next() { return *workers_[turn_++ % workers_.size()]; }
  std::size_t size() const { return workers_.size(); }
  std::uint32_t connections() const;
  void set_most_temp_files(std::uint32_t most) { temp_space_.set_most_files(most); }
  void set_most_tunnels(std::uint32_t most) { tunnel_permits_.set_most(most); }

  void start();
  // Returns once no job has a request open at an upstream.
  void give_back_jobs();
  // Returns once they have handled everything that was delivered to them before.
  void catch_up();
  // Returns once no thread runs any more.
  void stop();

 private:
  // Returns once every worker has called the function that it got.
  void for_each(const std::function<void(Worker&, std::function<void()>)>& act);

  TunnelPermits tunnel_permits_;
  TempSpace temp_space_;
  AcceptResume accept_resume_;
  std::size_t turn_ = 0;
  Workers workers_;
  std::vector<std::thread> threads_;
};

}  // namespace spillway::proxy
