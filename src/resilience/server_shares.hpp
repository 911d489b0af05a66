// Which share of an upstream's slots each of its servers has. One thread writes, any reads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spillway::resilience {

class ServerShares {
 public:
  static constexpr std::uint32_t kWhole = 1u << 20;

  explicit ServerShares(std::size_t servers) : ends_(servers) {}

  // All have the same, and the first ones what is left over (SlotParts).
  bool are_equal() const { return ends_.empty() || end(ends_.size() - 1) == 0; }
  // By server, each above 0. Where all are equal, so are the shares: cut out of the whole they
  // would take turns in being rounded up, as the slots grow.
  void set(std::span<const double> weights) {
    const bool is_equal = std::ranges::count(weights, weights.front()) == std::ssize(weights);
    double sum = 0, so_far = 0;
    for (const double weight : weights) sum += weight;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      so_far += weights[i];
      const auto its = static_cast<std::uint32_t>(std::lround(kWhole * so_far / sum));
      const std::uint32_t end = i + 1 < ends_.size() ? its : kWhole;
      ends_[i].store(is_equal ? 0 : end, std::memory_order_relaxed);
    }
  }
  // Of kWhole, where that of `server` ends.
  std::uint32_t end(std::size_t server) const {
    return ends_[server].load(std::memory_order_relaxed);
  }
  std::size_t servers() const { return ends_.size(); }

 private:
  std::vector<std::atomic<std::uint32_t>> ends_;
};

}  // namespace spillway::resilience
