// How long a request would hold its slot, estimated while more requests than slots are at the
// upstream, so that the observed times are longer.
//
// Two means per route. Quiet: of requests sent while there were at most as many as slots. Crowded:
// of the others, each multiplied by slots / requests: at the same throughput latency is
// proportional to the number of requests (Little's law). The quiet one is right if the upstream has
// room beyond the slots; the crowded one counts if it is larger, since the upstream has then become
// slower or has fewer slots than that, or if it is based on more requests. The times vary around
// the mean as the last quiet ones did.
//
// Both remember about a thousand requests. At a load of 1.2 times the capacity a sixth is refused;
// a service time that is 3 % too short makes that a seventh. And crowds form where a few requests
// in a row took long, so that a short memory would be too slow by just that. If the last ones
// clearly differ, the upstream has changed, and the earlier ones are forgotten.
//
// Pure; nothing allocates after construction.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace spillway::dispatch {

class ServiceEstimate {
 public:
  // RouteIds are below `routes`.
  explicit ServiceEstimate(std::size_t routes) : quiet_(routes), crowded_(routes) {}

  // `requests`: the number at the upstream when it was sent, including itself.
  void record(RouteId route, Duration latency, std::uint32_t requests, std::uint32_t slots) {
    const double taken = std::max(to_seconds(latency), 0.0);
    if (requests > slots) {
      crowded_[index(route)].add(taken * slots / requests);
      quiet_since_crowd_ = 0;
      return;
    }
    ++quiet_since_crowd_;
    Mean& mean = quiet_[index(route)];
    mean.add(taken);
    all_quiet_.add(taken);
    if (mean.value <= 0) return;
    double& oldest = shape_[samples_++ % shape_.size()];
    shape_sum_ += taken / mean.value - oldest;
    oldest = taken / mean.value;
  }

  // An estimate for the next request; nullopt: nothing is known yet.
  std::optional<Duration> next(RouteId route) {
    const Mean& quiet = quiet_[index(route)].samples > 0 ? quiet_[index(route)] : all_quiet_;
    const Mean& crowded = crowded_[index(route)];
    // Times of a crowd are outdated after a while without one.
    const bool knows_crowded = crowded.samples > 0 && quiet_since_crowd_ < kCrowdMemory;
    if (quiet.samples == 0 && !knows_crowded) return std::nullopt;
    double seconds = quiet.value;
    if (knows_crowded && prefers(crowded, quiet)) seconds = crowded.value;
    if (samples_ >= shape_.size() && shape_sum_ > 0)
      seconds *= shape_[drawn_++ % shape_.size()] * double(shape_.size()) / shape_sum_;
    return from_seconds(seconds);
  }

 private:
  static constexpr std::uint32_t kMemory = 4096, kLately = 256, kCrowdMemory = 64;
  static constexpr double kClearly = 1.25;

  struct Mean {
    double value = 0;  // seconds
    std::uint32_t samples = 0;
    double lately = 0;

    void add(double sample) {
      samples = std::min(samples + 1, kMemory);
      value += (sample - value) / samples;
      lately += (sample - lately) / std::min(samples, kLately);
      if (lately <= kClearly * value && value <= kClearly * lately) return;
      value = lately;
      samples = std::min(samples, kLately);
    }
  };

  // Twice the standard deviation of a service time, relative to its mean; a guess.
  static constexpr double kSpread = 1.2;

  // The crowded mean is larger; or the two do not differ clearly, and it has more samples.
  static bool prefers(const Mean& crowded, const Mean& quiet) {
    const double each = 1.0 / std::max(quiet.samples, 1u) + 1.0 / std::max(crowded.samples, 1u);
    const double noise = kSpread * std::sqrt(each) * quiet.value;
    if (std::abs(crowded.value - quiet.value) > noise) return crowded.value > quiet.value;
    return crowded.samples > quiet.samples;
  }

  std::vector<Mean> quiet_, crowded_;  // by route
  Mean all_quiet_;
  std::array<double, 509> shape_{};  // quiet times, relative to their mean
  double shape_sum_ = 0;
  std::uint64_t samples_ = 0;  // quiet ones
  std::uint64_t drawn_ = 0;
  std::uint32_t quiet_since_crowd_ = 0;
};

}  // namespace spillway::dispatch
