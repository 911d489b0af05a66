// Single flight: of those who want the same answer one asks the upstream, the others wait for it.
//
// A flight begins with its leader and ends when it is landed, or handed over to nobody. Flights go
// by a keyed hash of what is asked for; should two hashes ever be the same, the followers of the
// other flight find nothing in the store and ask for themselves. Any thread; nothing is allocated
// unless there are more flights at once than ever before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace spillway::cache {

// What became of a follower.
enum class Landing : std::uint8_t {
  none,     // it waits, or left
  stored,   // the answer, or a newer one, is in the store
  nothing,  // it is not: ask for yourself
  refused,  // who led was not let through to the upstream
  failed,   // the upstream failed: something older may do in its place
  leads,    // it leads the flight now
};

// A waiting request: a member of what waits. Lives until it has left, or what land() or hand_over()
// returned has been delivered to it. Not to be read by others meanwhile.
struct Follower {
  Landing landing = Landing::none;
  Follower* next = nullptr;  // in what land() returns

 private:
  friend class Flights;
  Follower* previous_ = nullptr;
  std::uint64_t hash_ = 0;
  bool waits_ = false;
};

class Flights {
 public:
  enum class Role : std::uint8_t { leader, follower };

  Flights();
  Flights(const Flights&) = delete;
  Flights& operator=(const Flights&) = delete;

  // The first leads and must land() or hand_over() once; the others wait, in order.
  Role join(std::uint64_t hash, Follower& follower);
  // Leads, if there is no such flight yet: for one that nobody may wait in the place of.
  bool try_lead(std::uint64_t hash);
  // Ends the flight: stored, nothing, refused or failed. Its followers in order, marked so: to be
  // delivered each to its thread. Null: none.
  Follower* land(std::uint64_t hash, Landing how);
  // Makes the follower that waited longest the leader; it is to be delivered. Null: nobody waits,
  // and the flight has ended.
  Follower* hand_over(std::uint64_t hash);
  // True when it waited and does not any more. False when it did not wait: never joined, led, or it
  // has been landed or handed over already and its delivery is on its way.
  bool leave(Follower& follower);

  std::size_t bytes() const;

 private:
  struct Flight {
    std::uint64_t hash = 0;
    Follower* first = nullptr;
    Follower* last = nullptr;
    Flight* next = nullptr;  // in its bucket, or among those that are free
  };
  struct alignas(64) Shard {
    static constexpr std::size_t kBuckets = 32;
    static constexpr std::size_t kAtOnce = 16;

    Flight** find(std::uint64_t hash);
    void begin(std::uint64_t hash);
    void end(Flight** at);

    mutable std::mutex mutex;
    std::array<Flight*, kBuckets> buckets{};
    Flight* free = nullptr;
    std::vector<std::unique_ptr<Flight[]>> blocks;  // kAtOnce flights each
  };
  static constexpr std::size_t kShards = 8;

  Shard& shard_of(std::uint64_t hash) { return shards_[hash % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace spillway::cache
