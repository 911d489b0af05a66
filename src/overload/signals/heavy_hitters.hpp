// The tenants with the most demand, in fixed memory: the space-saving sketch (Metwally, Agrawal, El
// Abbadi, "Efficient computation of frequent and top-k elements in data streams", ICDT 2005).
//
// It keeps `capacity` counters. A tenant without one takes over the smallest, whose count it
// inherits as its error. For every counted tenant
//     count - error <= true weight <= count,
// a tenant without a counter has at most the smallest count (0 while counters are free), and every
// tenant above total() / capacity has one. Recording costs O(log capacity) and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"

namespace spillway::overload {

// Weights below 1e-9 become 0: an idle counter would otherwise decay into denormal numbers, on
// which arithmetic is slow, and stay there.
constexpr double decayed(double weight, double factor) {
  const double left = weight * factor;
  return left > 1e-9 || left < -1e-9 ? left : 0;
}

class HeavyHitters {
 public:
  struct Counted {
    TenantId tenant{};
    double count = 0;
    double error = 0;
    float share = 1;  // as recorded last

    double certain() const { return count - error; }
  };

  explicit HeavyHitters(std::size_t capacity);  // 1 to 65535, clamped

  // weight > 0. `share` is only stored: the tenant's weight in fair sharing.
  void record(TenantId tenant, double weight = 1, float share = 1);
  // Multiplies every count by `factor`, in (0, 1], so that older requests count less.
  void decay(double factor);

  std::span<const Counted> counted() const { return counted_; }  // in no particular order
  double total() const { return total_; }
  std::size_t capacity() const { return capacity_; }

 private:
  using Counter = std::uint16_t;  // index in counted_
  static constexpr Counter kNone = 0xffff;

  struct Ranked {
    double count;  // a copy of the counter's, so that the heap is read without indirection
    Counter counter;
  };

  std::size_t home_of(TenantId tenant) const {
    return (static_cast<std::uint64_t>(tenant) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  std::size_t slot_of(TenantId tenant) const;  // its slot, or the free one it would get
  void forget(TenantId tenant);
  void sift_up(std::size_t at);
  void sift_down(std::size_t at, Ranked one);
  void put(std::size_t at, Ranked one);

  std::size_t capacity_;
  double total_ = 0;
  std::vector<Counted> counted_;
  std::vector<Ranked> heap_;               // smallest count first
  std::vector<std::uint16_t> heap_index_;  // of each counter
  std::vector<Counter> slots_;             // open addressing, at most a quarter full
  int shift_;
};

}  // namespace spillway::overload
