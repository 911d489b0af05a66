// The backend's work in a cell, and how much of it was wasted: for clients already gone.
#pragma once

#include <vector>

#include "base/time.hpp"
#include "bench/load/awaited.hpp"
#include "bench/load/backend.hpp"

namespace spillway::bench {

// Lives on the backend's thread until that has ended.
class WorkTally {
 public:
  // Work that is finished from `from` to `until` counts, whenever it was asked for.
  WorkTally(TimePoint from, TimePoint until, const load::Awaited& awaited)
      : from_(from), until_(until), awaited_(awaited) {}

  // Finished now. Work for a request without a number does not count.
  void add(const load::Work& work, TimePoint now);

  double wasted_ratio() const;  // of the time that slots were to be held; 0 without any
  double stretch() const;       // time held / time to be held: what the machine adds; 1 without any
  Duration mean_service() const;  // 0 without any
  Duration late_p99() const;      // work that ended later than it was to

 private:
  TimePoint from_;
  TimePoint until_;
  const load::Awaited& awaited_;
  double service_ = 0;  // seconds
  double wasted_ = 0;
  double held_ = 0;
  std::vector<Duration> late_;
};

}  // namespace spillway::bench
