// The sources of an upstream's answers, counted by a worker in fixed memory: for each client, path,
// tenant and route the number of successes and failures, in a hash table of 64 buckets for each
// kind. Sources that share a bucket are counted as one.
//
// One writer (the worker), any number of readers, no locks; counters only grow and may wrap.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/ids.hpp"
#include "overload/signals/shard_counter.hpp"

namespace spillway::overload {

// If several kinds explain the same errors, the one that comes first here is reported.
enum class SourceKind : std::uint8_t { client, path, tenant, route };
inline constexpr std::size_t kSourceKinds = 4;

constexpr std::string_view name(SourceKind kind) {
  constexpr std::array<std::string_view, kSourceKinds> names{"client", "path", "tenant", "route"};
  return names[static_cast<std::size_t>(kind)];
}

// A source's name for people to read, without heap memory; cut at 48 bytes.
class SourceName {
 public:
  static constexpr std::size_t kMost = 48;

  SourceName() = default;
  explicit SourceName(std::string_view name) : size_(std::min(name.size(), kMost)) {
    std::memcpy(text_.data(), name.data(), size_);
  }
  std::string_view view() const { return {text_.data(), size_}; }
  friend bool operator==(const SourceName&, const SourceName&) = default;

 private:
  std::array<char, kMost> text_{};
  std::size_t size_ = 0;
};

// The sources of one answer, by SourceKind.
struct AnswerSource {
  struct One {
    // Its low bits choose the bucket. An identity that a client can choose is hashed with a secret
    // key first, so that the client cannot aim at another one's bucket.
    std::uint64_t id = 0;
    std::string_view name;  // valid during the call only
  };
  std::array<One, kSourceKinds> by{};
  ClassId traffic_class{};

  One& operator[](SourceKind kind) { return by[static_cast<std::size_t>(kind)]; }
};

class SourceCounts {
 public:
  static constexpr std::size_t kBuckets = 64;
  static constexpr std::size_t bucket_of(std::uint64_t id) { return id % kBuckets; }

  void record(const AnswerSource& source, bool failed) {
    for (std::size_t kind = 0; kind < kSourceKinds; ++kind) {
      Bucket& bucket = buckets_[kind][bucket_of(source.by[kind].id)];
      (failed ? bucket.failed : bucket.succeeded).add();
    }
    if (failed) keep_names(source);
  }

  std::uint32_t succeeded(std::size_t kind, std::size_t bucket) const {
    return buckets_[kind][bucket].succeeded.get();
  }
  std::uint32_t failed(std::size_t kind, std::size_t bucket) const {
    return buckets_[kind][bucket].failed.get();
  }

  // The name of the source in that bucket whose request failed last; empty if the last failures
  // include none. May mix two names if a failure is recorded at the same moment.
  SourceName name_in(std::size_t kind, std::size_t bucket) const {
    const std::uint32_t newest = next_failure_.get() + kFailures - 1;
    for (std::uint32_t back = 0; back < kFailures; ++back) {
      const Failure& failure = failures_[kind][(newest - back) % kFailures];
      if (failure.bucket.get() != bucket + 1) continue;
      std::array<char, SourceName::kMost> text;
      for (std::size_t i = 0; i < failure.text.size(); ++i) {
        const std::uint64_t word = failure.text[i].load(std::memory_order_relaxed);
        std::memcpy(text.data() + 8 * i, &word, 8);
      }
      const auto end = std::find(text.begin(), text.end(), '\0');
      return SourceName({text.data(), static_cast<std::size_t>(end - text.begin())});
    }
    return {};
  }

 private:
  static constexpr std::size_t kFailures = 8;

  struct Bucket {
    ShardCounter succeeded, failed;
  };
  struct Failure {
    ShardCounter bucket;  // the bucket's index plus 1; 0: none
    std::array<std::atomic<std::uint64_t>, SourceName::kMost / 8> text{};
  };

  void keep_names(const AnswerSource& source) {
    for (std::size_t kind = 0; kind < kSourceKinds; ++kind) {
      Failure& failure = failures_[kind][next_failure_.get() % kFailures];
      std::array<char, SourceName::kMost> text{};
      const std::string_view name = source.by[kind].name.substr(0, text.size());
      std::memcpy(text.data(), name.data(), name.size());
      for (std::size_t i = 0; i < failure.text.size(); ++i) {
        std::uint64_t word;
        std::memcpy(&word, text.data() + 8 * i, 8);
        failure.text[i].store(word, std::memory_order_relaxed);
      }
      failure.bucket.set(static_cast<std::uint32_t>(bucket_of(source.by[kind].id)) + 1);
    }
    next_failure_.add();
  }

  std::array<std::array<Bucket, kBuckets>, kSourceKinds> buckets_;
  std::array<std::array<Failure, kFailures>, kSourceKinds> failures_;  // the most recent ones
  ShardCounter next_failure_;
};

}  // namespace spillway::overload
