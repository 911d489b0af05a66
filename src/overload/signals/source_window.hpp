// Whether an upstream's errors come from a few sources: the clients, paths, tenants or routes
// without whose requests the fewest errors are left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "overload/signals/answer_source.hpp"

namespace spillway::overload {

// Sources of one kind without which little of the error rate is left.
struct LeftOut {
  static constexpr std::size_t kMost = 4;

  SourceKind kind{};
  SourceName name;  // a member of the worst one's bucket; empty: not known
  std::size_t sources = 1;
  std::uint32_t failed = 0;    // of their requests in the window
  std::uint32_t finished = 0;  //
  double others = 0;           // failed / finished of all other sources, [0, 1]
};

// The counts of all workers in slices, as in SignalWindow.
class SourceWindow {
 public:
  explicit SourceWindow(std::size_t slices) : slices_(slices) {}

  // Adds the growth since the last call to the window as a slice. The first call only reads.
  void close_slice(std::span<const SourceCounts* const> shards);

  // Among all kinds, the sources whose omission lowers the error rate most; among equals the
  // fewest sources, then those of the first kind, or of one with less than half of their
  // requests. If k sources are left out
  // * the others have at least `enough` answers in the window, and a quarter of all. Beside a
  //   single client or tenant one in 32 is enough, if there are three others, and ten of their
  //   answers would be errors at the error rate of all;
  // * the others are at least as many sources;
  // * at most 1 / (k + 1) of the error rate is left.
  // nullopt: no source stands out. At most 4 passes over the buckets of each kind.
  std::optional<LeftOut> worst(std::uint64_t enough,
                               std::span<const SourceCounts* const> shards) const;

 private:
  struct Count {
    std::uint32_t succeeded = 0, failed = 0;
  };
  using Counts = std::array<std::array<Count, SourceCounts::kBuckets>, kSourceKinds>;
  struct Omission {
    std::size_t kind = 0;
    std::array<std::size_t, LeftOut::kMost> buckets{};  // the worst first
    std::size_t sources = 0;
    std::uint64_t failed = 0, finished = 0;  // of these sources
    double others = 0;
  };
  struct Totals {
    std::uint64_t failed = 0, finished = 0;
    std::size_t sources = 0;
  };

  Totals totals_of(std::size_t kind) const;
  static bool are_judged(const Omission& without, const Totals& all, std::uint64_t left);
  bool add_worst(Omission& so_far, const Totals& all, std::uint64_t enough) const;
  Omission worst_of(std::size_t kind, std::uint64_t enough) const;

  std::vector<Counts> slices_;  // circular
  std::size_t oldest_ = 0;
  Counts sum_{};   // of the slices
  Counts seen_{};  // the shards' sums at the beginning of the current slice
  bool has_begun_ = false;
};

}  // namespace spillway::overload
