// Each server's share of an upstream's slots. One thread writes, any thread reads.
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

  // All have the same share, and the first ones get the remainder (SlotParts).
  bool are_equal() const { return ends_.empty() || end(ends_.size() - 1) == 0; }
  // By server, each above 0. Equal weights are stored as equal shares: cut out of the whole, they
  // would be rounded up in turns as the number of slots grows.
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
  // The end of the share of `server`, in units of 1 / kWhole.
  std::uint32_t end(std::size_t server) const {
    return ends_[server].load(std::memory_order_relaxed);
  }
  std::size_t servers() const { return ends_.size(); }

 private:
  std::vector<std::atomic<std::uint32_t>> ends_;
};

}  // namespace spillway::resilience
