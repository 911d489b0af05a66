// Spillway itself with a route whose requests are all deferred, in front of a backend that takes
// connections and never answers: so one job is in hand and all others wait.
#pragma once

#include <memory>
#include <string>

#include "bench/jobs/queue.hpp"

namespace spillway::job_bench {

struct Programs {
  std::string spillway = "build/bench/spillway";
  std::string load = "bench/cost/load.lua";  // what wrk sends
};

class Proxy {
 public:
  // Waits until it takes connections. Throws std::runtime_error if it does not.
  Proxy(const Programs& programs, const std::string& store_url);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  // Asks it once. The time from its start until that was answered 202. Throws std::runtime_error if
  // it was not within a minute.
  double first_answer_ms();
  // The memory that it has in RAM now.
  std::size_t memory_kib() const;

  // 202s to POSTs of wrk over so many connections, and the commits meanwhile as the proxy counts
  // them. Whole seconds, at least one. Throws std::runtime_error if anything else is answered, or
  // if the proxy does not say that it wrote down as many jobs as there were 202s.
  Figures accept(std::size_t connections, std::chrono::milliseconds time);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace spillway::job_bench
