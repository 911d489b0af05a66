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
#include "proxy/generation/generation.hpp"

namespace spillway::proxy {

class Generations {
 public:
  // So many former ones may be in use.
  static constexpr std::size_t kMostFormer = 16;

  explicit Generations(std::shared_ptr<Generation> first);

  std::shared_ptr<Generation> current() const;
  TimePoint since() const;  // when it took effect
  void replace(std::shared_ptr<Generation> next);

  // Clears away the former ones that nobody keeps to any more, all but what they counted. Returns
  // how many are left.
  std::size_t collect();
  // The one replaced first of those still in use; null: there is none, or it was replaced later
  // than that. Only to be compared with.
  const Generation* oldest(TimePoint replaced_before) const;
  // What all others counted, which may be newer by now than `but`.
  std::vector<prometheus::MetricFamily> counts_of_others(const Generation& but);

 private:
  void collect_locked();

  mutable std::mutex mutex_;
  std::shared_ptr<Generation> current_;
  TimePoint since_;
  struct Former {
    std::shared_ptr<Generation> generation;
    TimePoint replaced_at;
  };
  std::vector<Former> former_;                     // still in use, the oldest first
  std::vector<prometheus::MetricFamily> counted_;  // by those that are gone
};

}  // namespace spillway::proxy
