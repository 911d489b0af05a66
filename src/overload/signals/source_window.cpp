#include "overload/signals/source_window.hpp"

#include <algorithm>
#include <utility>

namespace spillway::overload {
namespace {

// If several are left out, each has at least this many failures and this part (1 / n) of all: of
// twenty answers that fail by chance, the failures always come from few clients.
constexpr std::uint64_t kLeastFailures = 3;
constexpr std::uint64_t kLeastPart = 10;
// A further source leaves at most this much of the error rate.
constexpr double kMostLeft = 0.5;
// At least this part (1 / n) of all answers comes from other sources: a source with more is the
// upstream itself, or else a few cheap answers of others would hide that it fails.
constexpr std::uint64_t kPartOfOthers = 4;
// A client or tenant that asks for something that fails can send any number of requests. Beside a
// single one a smaller part is enough, if it comes from several others and would contain errors at
// the error rate of all. But not any part: all clients behind a load balancer may share its
// address, and then health checks from other machines would hide that the upstream fails.
constexpr std::uint64_t kPartBesideClient = 32;
constexpr std::size_t kSomeOthers = 3;
constexpr std::uint64_t kWouldFail = 10;
// Among sources that explain the same errors those of the first kind are reported, unless they have
// this many times the fewest requests: then they may only share a bucket.
constexpr std::uint64_t kNearly = 2;

bool is_of_clients(std::size_t kind) {
  return kind == static_cast<std::size_t>(SourceKind::client) ||
         kind == static_cast<std::size_t>(SourceKind::tenant);
}

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

SourceWindow::Totals SourceWindow::totals_of(std::size_t kind) const {
  Totals totals;
  for (const Count& count : sum_[kind]) {
    const std::uint64_t finished = std::uint64_t{count.succeeded} + count.failed;
    totals.failed += count.failed;
    totals.finished += finished;
    if (finished > 0) ++totals.sources;
  }
  return totals;
}

// Whether this many answers are enough to say that the others are healthy.
bool SourceWindow::are_judged(const Omission& without, const Totals& all, std::uint64_t left) {
  if (left >= all.finished / kPartOfOthers) return true;
  const bool is_single = is_of_clients(without.kind) && without.sources == 1;
  return is_single && all.sources > kSomeOthers && left >= all.finished / kPartBesideClient &&
         all.failed * left >= kWouldFail * all.finished;
}

// Adds the source whose omission lowers the error rate most, if the rest can still be judged.
bool SourceWindow::add_worst(Omission& so_far, const Totals& all, std::uint64_t enough) const {
  const auto end = so_far.buckets.begin() + static_cast<std::ptrdiff_t>(so_far.sources);
  std::optional<Omission> best;
  for (std::size_t bucket = 0; bucket < SourceCounts::kBuckets; ++bucket) {
    const Count& count = sum_[so_far.kind][bucket];
    if (count.failed == 0 || std::find(so_far.buckets.begin(), end, bucket) != end) continue;
    Omission with = so_far;
    with.buckets[with.sources++] = bucket;
    with.failed += count.failed;
    with.finished += std::uint64_t{count.succeeded} + count.failed;
    const std::uint64_t left = all.finished - with.finished;
    if (left < enough || !are_judged(with, all, left)) continue;
    with.others = double(all.failed - with.failed) / double(left);
    if (!best || with.others < best->others) best = with;
  }
  if (best) so_far = *best;
  return best.has_value();
}

// Leaves at most 1 / (k + 1) of the error rate, since with more it may be chance: of three routes
// that fail alike one is always the worst, and the choice of several is larger.
SourceWindow::Omission SourceWindow::worst_of(std::size_t kind, std::uint64_t enough) const {
  const Totals all = totals_of(kind);
  Omission result{.kind = kind}, so_far = result;
  double before = all.finished > 0 ? double(all.failed) / double(all.finished) : 0;
  const double rate = before;
  std::uint64_t fewest = UINT64_MAX;
  while (so_far.sources < LeftOut::kMost && add_worst(so_far, all, enough)) {
    if (so_far.sources > all.sources - so_far.sources) break;
    fewest = std::min<std::uint64_t>(fewest, sum_[kind][so_far.buckets[so_far.sources - 1]].failed);
    const bool has_few = fewest < kLeastFailures || fewest * kLeastPart < all.failed;
    if (so_far.sources > 1 && has_few) break;
    const bool is_enough = so_far.others * double(so_far.sources + 1) <= rate;
    if (is_enough && so_far.others <= kMostLeft * before) result = so_far;
    before = so_far.others;
  }
  return result;
}

std::optional<LeftOut> SourceWindow::worst(std::uint64_t enough,
                                           std::span<const SourceCounts* const> shards) const {
  Omission worst;
  for (std::size_t kind = 0; kind < kSourceKinds; ++kind) {
    const Omission one = worst_of(kind, enough);
    if (one.sources == 0) continue;
    const bool is_alike = worst.sources > 0 && one.others == worst.others;
    const bool is_smaller =
        is_alike && (one.sources < worst.sources ||
                     (one.sources == worst.sources && kNearly * one.finished < worst.finished));
    if (worst.sources == 0 || one.others < worst.others || is_smaller) worst = one;
  }
  if (worst.sources == 0) return std::nullopt;
  LeftOut result{.kind = static_cast<SourceKind>(worst.kind),
                 .sources = worst.sources,
                 .failed = static_cast<std::uint32_t>(worst.failed),
                 .finished = static_cast<std::uint32_t>(worst.finished),
                 .others = worst.others};
  for (std::size_t i = 0; i < worst.sources; ++i) {
    for (const SourceCounts* shard : shards) {
      if (result.name.view().empty()) result.name = shard->name_in(worst.kind, worst.buckets[i]);
    }
  }
  return result;
}

}  // namespace spillway::overload
