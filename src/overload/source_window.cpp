#include "overload/source_window.hpp"

#include <algorithm>
#include <utility>

namespace spillway::overload {
namespace {

// Of the error rate that may be left without it. With more it may be chance that its requests fail
// more often: of three routes that fail alike one is always the worst.
constexpr double kMostLeft = 0.5;
// Of all answers, those of others are this part at least: what has more is the upstream, or a few
// cheap answers of others would hide that it fails.
constexpr std::uint64_t kPartOfOthers = 4;
// Of sources that explain the same errors the first kind is named unless its requests are so many
// times the fewest: it may share a bucket.
constexpr std::uint64_t kNearly = 2;

}  // namespace

void SourceWindow::close_slice(std::span<const SourceCounts* const> shards) {
  Counts& slice = slices_[oldest_];
  for (std::size_t kind = 0; kind < kSourceKinds; ++kind) {
    for (std::size_t bucket = 0; bucket < SourceCounts::kBuckets; ++bucket) {
      Count now;
      for (const SourceCounts* shard : shards) {
        now.succeeded += shard->succeeded(kind, bucket);
        now.failed += shard->failed(kind, bucket);
      }
      const Count before = std::exchange(seen_[kind][bucket], now);
      if (!has_begun_) continue;
      const Count grown{now.succeeded - before.succeeded, now.failed - before.failed};
      Count& sum = sum_[kind][bucket];
      const Count gone = std::exchange(slice[kind][bucket], grown);
      sum.succeeded += grown.succeeded - gone.succeeded;
      sum.failed += grown.failed - gone.failed;
    }
  }
  if (std::exchange(has_begun_, true)) oldest_ = (oldest_ + 1) % slices_.size();
}

std::optional<SourceWindow::Worst> SourceWindow::worst_of(std::size_t kind,
                                                          std::uint64_t enough) const {
  std::uint64_t failed = 0, finished = 0;
  for (const Count& count : sum_[kind]) {
    failed += count.failed;
    finished += std::uint64_t{count.succeeded} + count.failed;
  }
  std::optional<Worst> worst;
  for (std::size_t bucket = 0; bucket < SourceCounts::kBuckets; ++bucket) {
    const Count& count = sum_[kind][bucket];
    const std::uint64_t own = std::uint64_t{count.succeeded} + count.failed;
    const std::uint64_t others_have = finished - own;
    if (count.failed == 0 || others_have < std::max(enough, finished / kPartOfOthers)) continue;
    const double others = double(failed - count.failed) / double(others_have);
    if (others * double(finished) > kMostLeft * double(failed)) continue;
    if (!worst || others < worst->others) worst = Worst{kind, bucket, count, others};
  }
  return worst;
}

std::optional<LeftOut> SourceWindow::worst(std::uint64_t enough,
                                           std::span<const SourceCounts* const> shards) const {
  const auto requests = [](const Worst& one) {
    return std::uint64_t{one.count.succeeded} + one.count.failed;
  };
  std::optional<Worst> worst;
  for (std::size_t kind = 0; kind < kSourceKinds; ++kind) {
    const std::optional<Worst> one = worst_of(kind, enough);
    if (!one) continue;
    const bool is_smaller =
        worst && one->others == worst->others && kNearly * requests(*one) < requests(*worst);
    if (!worst || one->others < worst->others || is_smaller) worst = one;
  }
  if (!worst) return std::nullopt;
  LeftOut result{.kind = static_cast<SourceKind>(worst->kind),
                 .failed = worst->count.failed,
                 .finished = static_cast<std::uint32_t>(requests(*worst)),
                 .others = worst->others};
  for (const SourceCounts* shard : shards) {
    if (result.name.view().empty()) result.name = shard->name_in(worst->kind, worst->bucket);
  }
  return result;
}

}  // namespace spillway::overload
