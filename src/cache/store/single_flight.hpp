// Single flight: of concurrent requests for the same response one, the leader, asks the upstream;
// the others, its followers, wait for it.
//
// A flight begins with its leader and ends when it is landed, or handed over without followers. It
// is identified by a keyed hash; if two keys collide, the followers with the other key find nothing
// in the store and ask the upstream themselves. Thread-safe. Allocates only when there are more
// flights at once than ever before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/withdrawal.hpp"

namespace spillway::cache {

// The end of a flight, for a follower.
enum class Landing : std::uint8_t {
  none,     // not landed, or the follower left
  stored,   // the response, or a newer one, is in the store
  nothing,  // not stored: ask the upstream
  refused,  // the leader was not admitted to the upstream
  failed,   // the upstream failed: a stale response may replace it
  leads,    // this follower is the leader now
};

// A waiting request; intrusive. Must live until it has left or has been delivered from the result
// of land() or hand_over(); only after that may others read it.
struct Follower {
  Landing landing = Landing::none;
  Follower* next = nullptr;  // in the result of land()

 private:
  friend class SingleFlight;
  Follower* previous_ = nullptr;
  std::uint64_t hash_ = 0;
  bool waits_ = false;
};

class SingleFlight {
 public:
  enum class Role : std::uint8_t { leader, follower };

  SingleFlight();
  SingleFlight(const SingleFlight&) = delete;
  SingleFlight& operator=(const SingleFlight&) = delete;

  // The first to join leads and must call land() or hand_over() once; the others wait, in order.
  Role join(std::uint64_t hash, Follower& follower);
  // Becomes leader if there is no such flight; never a follower.
  bool try_lead(std::uint64_t hash);
  // Ends the flight: stored, nothing, refused or failed. Returns its followers in order, each to be
  // delivered to its thread; null if there are none.
  Follower* land(std::uint64_t hash, Landing how);
  // Makes the follower that has waited longest the leader and returns it, to be delivered. Null
  // without followers: the flight has ended.
  Follower* hand_over(std::uint64_t hash);
  // Too late also for a follower that does not wait: it never joined, or it leads.
  Withdrawal leave(Follower& follower);

  std::size_t bytes() const;

 private:
  struct Flight {
    std::uint64_t hash = 0;
    Follower* first = nullptr;
    Follower* last = nullptr;
    Flight* next = nullptr;  // in its bucket, or in the free list
  };
  struct alignas(64) Shard {
    static constexpr std::size_t kBuckets = 32;
    static constexpr std::size_t kFlightsPerBlock = 16;

    Flight** find(std::uint64_t hash);
    void begin(std::uint64_t hash);
    void end(Flight** at);

    mutable std::mutex mutex;
    std::array<Flight*, kBuckets> buckets{};
    Flight* free = nullptr;
    std::vector<std::unique_ptr<Flight[]>> blocks;
  };
  static constexpr std::size_t kShards = 8;

  Shard& shard_of(std::uint64_t hash) { return shards_[hash % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace spillway::cache
