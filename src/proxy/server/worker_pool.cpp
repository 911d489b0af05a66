#include "proxy/server/worker_pool.hpp"

#include <pthread.h>

#include <latch>
#include <string>
#include <utility>

#include "proxy/server/random_seed.hpp"

namespace spillway::proxy {

WorkerPool::WorkerPool(const std::shared_ptr<Generation>& generation, observe::Log& log,
                       JobQueue* jobs)
    : tunnel_permits_(SipKey{random_seed(), random_seed()}),
      temp_space_(SipKey{random_seed(), random_seed()}) {
  for (std::size_t n = 0; n < generation->metrics.size(); ++n) {
    workers_.push_back(std::make_unique<Worker>(
        n, Worker::Shared{workers_, log, tunnel_permits_, temp_space_, accept_resume_, jobs},
        generation, random_seed()));
  }
}

std::uint32_t WorkerPool::connections() const {
  std::uint32_t sum = 0;
  for (const auto& worker : workers_) sum += worker->connections();
  return sum;
}

void WorkerPool::start() {
  for (const auto& worker : workers_) {
    threads_.emplace_back([&worker = *worker] {
      const std::string name = "worker " + std::to_string(worker.number());  // shown by top -H
      ::pthread_setname_np(::pthread_self(), name.c_str());
      worker.run();
    });
  }
}

void WorkerPool::give_back_jobs() {
  for_each(
      [](Worker& worker, std::function<void()> done) { worker.give_back_jobs(std::move(done)); });
}

void WorkerPool::catch_up() {
  for_each([](Worker& worker, std::function<void()> done) { worker.loop().post(std::move(done)); });
}

void WorkerPool::for_each(const std::function<void(Worker&, std::function<void()>)>& act) {
  if (threads_.size() != workers_.size()) return;  // some workers do not run
  const auto left = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(workers_.size()));
  for (const auto& worker : workers_) act(*worker, [left] { left->count_down(); });
  left->wait();
}

void WorkerPool::stop() {
  for (const auto& worker : workers_) worker->stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace spillway::proxy
