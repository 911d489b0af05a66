// Whether the failed responses of a server come from a few clients or paths while others are served
// well: one client that asks for something that fails says nothing about the server.
//
// Clients and paths are counted in 64 buckets each, by their hash, in two halves of a window:
// between half of the window and all of it counts. Fixed memory (4 KiB), one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "resilience/failure_row.hpp"

namespace spillway::resilience {

class FailingSources {
 public:
  static constexpr std::size_t kBuckets = 64;
  static constexpr std::size_t kMostLeftOut = 4;

  struct Requests {
    std::uint32_t all = 0;
    std::uint32_t failed = 0;

    double rate() const { return all > 0 ? double(failed) / double(all) : 0; }
  };

  explicit FailingSources(Duration window);

  // `source`: null if the failure is the server's own (no connection).
  void record(const FailureSource* source, bool failed, TimePoint now);
  void clear();

  // The requests of all sources except those, at most four clients or at most four paths, without
  // which the failure rate is lowest. If k sources are left out
  // * the others have made at least `enough` requests in the window;
  // * at most 1 / (k + 1) of the rate is left: with more it may be chance, since of ten paths that
  //   fail alike some are always the worst.
  // nullopt: no source stands out.
  std::optional<Requests> of_others(std::uint32_t enough, TimePoint now);

 private:
  using Kind = std::array<Requests, kBuckets>;
  struct Half {
    Requests everyone;
    Kind clients, paths;
  };

  void advance(TimePoint now);
  Half sum() const;

  Duration half_;
  std::int64_t number_ = 0;  // of the current half, since the clock's epoch
  std::array<Half, 2> halves_{};
};

}  // namespace spillway::resilience
