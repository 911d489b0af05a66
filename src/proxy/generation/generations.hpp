// The current generation, and the former ones that running requests still pin. Thread-safe.
//
// Former generations are destroyed by collect(), so that no worker pays for it.
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
  // Limit of former generations in use.
  static constexpr std::size_t kMaxFormer = 16;

  explicit Generations(std::shared_ptr<Generation> first);

  std::shared_ptr<Generation> current() const;
  TimePoint since() const;  // when the current one took effect
  void replace(std::shared_ptr<Generation> next);

  // Destroys former generations that are no longer pinned, keeping their metric counts. Returns the
  // number of those left.
  std::size_t collect();
  // The oldest former generation still in use; null if there is none or it was replaced later than
  // `replaced_before`. For comparison only: it may be destroyed at any time.
  const Generation* oldest(TimePoint replaced_before) const;
  // The summed metric counts of all generations, past and present, except this one.
  std::vector<prometheus::MetricFamily> counts_except(const Generation& generation);

 private:
  void collect_locked();

  mutable std::mutex mutex_;
  std::shared_ptr<Generation> current_;
  TimePoint since_;
  struct Former {
    std::shared_ptr<Generation> generation;
    TimePoint replaced_at;
  };
  std::vector<Former> former_;                     // still in use, oldest first
  std::vector<prometheus::MetricFamily> counted_;  // by destroyed generations
};

}  // namespace spillway::proxy
