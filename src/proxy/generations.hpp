// The configuration in effect, and those before it that running requests still keep to.
//
// Thread-safe. The last one to leave a former generation does not have to clear it away: that is
// done here, off the threads that serve.
#pragma once

#include <prometheus/metric_family.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/time.hpp"
#include "proxy/generation.hpp"

namespace spillway::proxy {

class Generations {
 public:
  // So many former ones may be in use; another reload has to wait until some are not.
  static constexpr std::size_t kMostFormer = 16;

  explicit Generations(std::shared_ptr<Generation> first);

  std::shared_ptr<Generation> current() const;
  TimePoint since() const;  // when it took effect
  void replace(std::shared_ptr<Generation> next);

  // Clears away the former ones that nobody keeps to any more, all but what they counted. Returns
  // how many are left.
  std::size_t collect();
  // What all former ones counted.
  std::vector<prometheus::MetricFamily> former_counts();

 private:
  void collect_locked();

  mutable std::mutex mutex_;
  std::shared_ptr<Generation> current_;
  TimePoint since_;
  std::vector<std::shared_ptr<Generation>> former_;  // still in use
  std::vector<prometheus::MetricFamily> counted_;    // by those that are gone
};

}  // namespace spillway::proxy
