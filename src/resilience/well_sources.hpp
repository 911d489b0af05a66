// The clients and paths that a server answered well in the last minute or two. While its circuit is
// half-open they go before strangers: a failure of a source that succeeded before is the server's,
// that of any other may be the request's.
//
// Two Bloom filters ("Space/time trade-offs in hash coding", CACM 1970) for each kind, the older of
// which is dropped once a minute: 8 KiB. With a thousand entries of a kind one stranger in 70 is
// mistaken for known. One owner.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "resilience/failure_row.hpp"

namespace spillway::resilience {

class WellSources {
 public:
  void add(const FailureSource& source, TimePoint now) {
    if (now - began_ >= kAge) {
      older_ = now - began_ < 2 * kAge ? newer_ : Generation{};
      newer_ = {};
      began_ = now;
    }
    is_empty_ = false;
    newer_.clients.add(source.client);
    newer_.paths.add(source.path);
  }

  // No source was ever added.
  bool empty() const { return is_empty_; }

  // Whether its client or its path is among them.
  bool has(const FailureSource& source) const {
    return newer_.clients.has(source.client) || older_.clients.has(source.client) ||
           newer_.paths.has(source.path) || older_.paths.has(source.path);
  }

 private:
  static constexpr Duration kAge = std::chrono::minutes(1);

  class Filter {
   public:
    void add(std::uint64_t hash) {
      bits_.set(first(hash));
      bits_.set(second(hash));
    }
    bool has(std::uint64_t hash) const {
      return bits_.test(first(hash)) && bits_.test(second(hash));
    }

   private:
    static constexpr std::size_t kBits = 16384;

    // Clients may be numbers rather than hashes: see FailingSources.
    static std::size_t first(std::uint64_t hash) { return hash * 0x9e3779b97f4a7c15 >> 50; }
    static std::size_t second(std::uint64_t hash) { return hash * 0xc2b2ae3d27d4eb4f >> 50; }
    static_assert(kBits == 1 << (64 - 50));

    std::bitset<kBits> bits_;
  };
  struct Generation {
    Filter clients, paths;
  };

  Generation newer_, older_;
  TimePoint began_{};
  bool is_empty_ = true;
};

}  // namespace spillway::resilience
