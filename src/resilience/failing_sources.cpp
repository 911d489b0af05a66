#include "resilience/failing_sources.hpp"

#include <algorithm>

namespace spillway::resilience {
namespace {

using Requests = FailingSources::Requests;

void add(Requests& to, bool failed) {
  ++to.all;
  if (failed) ++to.failed;
}

Requests plus(const Requests& a, const Requests& b) { return {a.all + b.all, a.failed + b.failed}; }

Requests minus(const Requests& a, const Requests& b) {
  return {a.all - b.all, a.failed - b.failed};
}

std::size_t bucket_of(std::uint64_t hash) {
  // Client ids are numbers, not hashes: a multiplication spreads them (Knuth, The Art of Computer
  // Programming, volume 3, section 6.4).
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
  return (hash * kGolden) >> 58;
}
static_assert(FailingSources::kBuckets == 1 << (64 - 58));

// For one kind: the best omission of at most four buckets.
std::optional<Requests> without_the_worst(std::array<Requests, FailingSources::kBuckets> buckets,
                                          const Requests& everyone, std::uint32_t enough) {
  std::optional<Requests> best;
  Requests others = everyone;
  for (std::size_t left_out = 1; left_out <= FailingSources::kMostLeftOut; ++left_out) {
    Requests& worst =
        *std::max_element(buckets.begin(), buckets.end(),
                          [](const Requests& a, const Requests& b) { return a.failed < b.failed; });
    if (worst.failed == 0 || others.all - worst.all < enough) break;
    others = minus(others, worst);
    worst = {};
    if (others.rate() * double(left_out + 1) <= everyone.rate()) best = others;
  }
  return best;
}

}  // namespace

FailingSources::FailingSources(Duration window) : half_(std::max(window / 2, Duration(1))) {}

void FailingSources::record(const FailureSource* source, bool failed, TimePoint now) {
  advance(now);
  Half& half = halves_[0];
  add(half.everyone, failed);
  if (source == nullptr) return;
  add(half.clients[bucket_of(source->client)], failed);
  add(half.paths[bucket_of(source->path)], failed);
}

void FailingSources::clear() { halves_ = {}; }

// A `now` earlier than a previous one counts as that one.
void FailingSources::advance(TimePoint now) {
  const std::int64_t number = now.time_since_epoch() / half_;
  if (number <= number_) return;
  halves_[1] = number == number_ + 1 ? halves_[0] : Half{};
  halves_[0] = {};
  number_ = number;
}

FailingSources::Half FailingSources::sum() const {
  Half sum = halves_[0];
  const Half& other = halves_[1];
  sum.everyone = plus(sum.everyone, other.everyone);
  for (std::size_t i = 0; i < kBuckets; ++i) {
    sum.clients[i] = plus(sum.clients[i], other.clients[i]);
    sum.paths[i] = plus(sum.paths[i], other.paths[i]);
  }
  return sum;
}

std::optional<Requests> FailingSources::of_others(std::uint32_t enough, TimePoint now) {
  advance(now);
  const Half all = sum();
  const auto without_clients = without_the_worst(all.clients, all.everyone, enough);
  const auto without_paths = without_the_worst(all.paths, all.everyone, enough);
  if (!without_clients || !without_paths) return without_clients ? without_clients : without_paths;
  return without_paths->rate() < without_clients->rate() ? without_paths : without_clients;
}

}  // namespace spillway::resilience
