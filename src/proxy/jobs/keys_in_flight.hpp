// The Idempotency-Keys of the requests that are in hand, of all workers: what the store does not
// know yet, or never will.
//
// Where other proxies share the store, a request that is answered live has its key there, too
// (store::KnowsKey). When it ends, the store is told; only keys that no request here has by then,
// since what has one tells of it itself. What the store was not asked for is not kept to be told:
// so keys that are let go do not pile up while it is away.
//
// A request that is answered live has its key alone. Any number of requests may be written down
// with one key at a time, since the store tells them apart. An entry is part of the request that
// holds it, so there are no more of them than requests, and nothing is allocated.
//
// Thread-safe: the entries of a shard are under its mutex. A KeyInFlight is used by one thread at a
// time, and the table outlives it.
#pragma once

#include <array>
#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "jobs/job.hpp"

namespace spillway::proxy {

class KeysInFlight;

enum class KeyUse : std::uint8_t {
  live,         // forwarded now: excludes every other one
  written_down  // on its way to the store
};

// Held until its end.
class KeyInFlight : public boost::intrusive::list_base_hook<> {
 public:
  KeyInFlight() = default;
  KeyInFlight(KeyInFlight&& other) noexcept;
  KeyInFlight& operator=(KeyInFlight&&) = delete;
  ~KeyInFlight() { release(); }

  // False: another request has the key, and this one holds none.
  bool take(KeysInFlight& keys, const jobs::Digest& scope, KeyUse use);
  // The store is asked to take it, too, and is told when this one ends.
  void share();
  void release();
  bool is_held() const { return keys_ != nullptr; }

 private:
  friend class KeysInFlight;

  KeysInFlight* keys_ = nullptr;  // null: it holds none
  jobs::Digest scope_{};
  KeyUse use_ = KeyUse::live;
  bool is_shared_ = false;  // written under the lock of its shard
};

class KeysInFlight {
 public:
  // `tell`: thread-safe; wakes the thread with the store for what was let go.
  explicit KeysInFlight(std::function<void()> tell = {}) : tell_(std::move(tell)) {}
  KeysInFlight(const KeysInFlight&) = delete;
  KeysInFlight& operator=(const KeysInFlight&) = delete;

  // --- Of the thread with the store:
  // Others are on it. Before, nothing is told.
  void share() { is_shared_.store(true, std::memory_order_relaxed); }
  // The store may have the key for a request that has ended.
  void let_go(const jobs::Digest& scope);
  // The keys that were let go, and that no live request shares now. Called once it is known which
  // questions go to the store next: a later one for such a key goes there behind this answer.
  std::vector<jobs::Digest> take_free();
  bool has_shared(const jobs::Digest& scope);
  // Thread-safe.
  bool has_let_go() const { return let_go_count_.load() > 0; }

 private:
  friend class KeyInFlight;

  struct Shard {
    std::mutex mutex;
    boost::intrusive::list<KeyInFlight, boost::intrusive::constant_time_size<false>> held;
  };

  // Digests are of a SHA-256: any byte of them is as good as another.
  Shard& shard_of(const jobs::Digest& scope) { return shards_[scope[0] % kShards]; }

  static constexpr std::size_t kShards = 256;
  std::array<Shard, kShards> shards_;
  std::function<void()> tell_;
  std::atomic<bool> is_shared_{false};
  std::mutex let_go_mutex_;  // of this:
  std::vector<jobs::Digest> let_go_;
  std::atomic<std::size_t> let_go_count_{0};  // of these
};

}  // namespace spillway::proxy
