// Whether an upstream's errors are those of one source: the client, path, tenant or route without
// whose requests the least of them is left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "overload/answer_source.hpp"

namespace spillway::overload {

// A source without whose requests at most half of the error rate is left.
struct LeftOut {
  SourceKind kind{};
  SourceName name;             // of a member of its bucket; empty: not known
  std::uint32_t failed = 0;    // of its requests in the window
  std::uint32_t finished = 0;  //
  double others = 0;           // failed / finished of all others, [0, 1]
};

// The counts of all workers in slices, as SignalWindow has them.
class SourceWindow {
 public:
  explicit SourceWindow(std::size_t slices) : slices_(slices) {}

  // The growth since the last call is a slice of the window. The first call only reads.
  void close_slice(std::span<const SourceCounts* const> shards);

  // Of all kinds the source whose omission lowers the error rate most; of those that lower it alike
  // that of the first kind, or of one with less than half of its requests. A kind is judged only
  // where the others have at least `enough` answers in the window, and a quarter of all. nullopt:
  // no source stands out.
  std::optional<LeftOut> worst(std::uint64_t enough,
                               std::span<const SourceCounts* const> shards) const;

 private:
  struct Count {
    std::uint32_t succeeded = 0, failed = 0;
  };
  using Counts = std::array<std::array<Count, SourceCounts::kBuckets>, kSourceKinds>;
  struct Worst {
    std::size_t kind, bucket;
    Count count;
    double others;
  };

  std::optional<Worst> worst_of(std::size_t kind, std::uint64_t enough) const;

  std::vector<Counts> slices_;  // circular
  std::size_t oldest_ = 0;
  Counts sum_{};   // of the slices
  Counts seen_{};  // the shards' sums when the present slice began
  bool has_begun_ = false;
};

}  // namespace spillway::overload
