// The Idempotency-Keys of requests in progress, over all workers: keys that the store does not have
// yet, or never will.
//
// If other proxies share the store, a request that is answered live has its key there too
// (store::KnowsKey). When it ends, the key is released in the store, unless another request here
// has the key by then, which will release it itself. Keys that the store was not asked for need no
// release, so released keys do not pile up while the store is away.
//
// A request that is answered live holds its key exclusively. Any number of requests may be on their
// way to the store with one key, since the store tells them apart. An entry is part of the request
// that holds it, so there are no more entries than requests, and nothing is allocated.
//
// Thread-safe: the entries of a shard are guarded by its mutex. A KeyInFlight is used by one thread
// at a time, and the table outlives it.
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
  live,         // forwarded now: excludes all others
  written_down  // on its way to the store
};

// Holds a key until it is destroyed.
class KeyInFlight : public boost::intrusive::list_base_hook<> {
 public:
  KeyInFlight() = default;
  KeyInFlight(KeyInFlight&& other) noexcept;
  KeyInFlight& operator=(KeyInFlight&&) = delete;
  ~KeyInFlight() { release(); }

  // False: another request holds the key, and this one holds none.
  bool take(KeysInFlight& keys, const jobs::Digest& scope, KeyUse use);
  // The store is asked to hold the key too, and is told when this one ends.
  void share();
  void release();
  bool is_held() const { return keys_ != nullptr; }

 private:
  friend class KeysInFlight;

  KeysInFlight* keys_ = nullptr;  // null: it holds no key
  jobs::Digest scope_{};
  KeyUse use_ = KeyUse::live;
  bool is_shared_ = false;  // written under the lock of its shard
};

class KeysInFlight {
 public:
  // `tell`: thread-safe; wakes the thread with the store to release keys.
  explicit KeysInFlight(std::function<void()> tell = {}) : tell_(std::move(tell)) {}
  KeysInFlight(const KeysInFlight&) = delete;
  KeysInFlight& operator=(const KeysInFlight&) = delete;

  // --- For the thread with the store:
  // Other proxies use the store too. Before this call no keys are released there.
  void share() { is_shared_.store(true, std::memory_order_relaxed); }
  // The store may hold the key for a request that has ended.
  void let_go(const jobs::Digest& scope);
  // The released keys that no live request shares now. Called once it is known which questions go
  // to the store next: a later question for such a key goes there after the release.
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

  // Digests are SHA-256: any byte is as good as another.
  Shard& shard_of(const jobs::Digest& scope) { return shards_[scope[0] % kShards]; }

  static constexpr std::size_t kShards = 256;
  std::array<Shard, kShards> shards_;
  std::function<void()> tell_;
  std::atomic<bool> is_shared_{false};
  std::mutex let_go_mutex_;  // guards:
  std::vector<jobs::Digest> let_go_;
  std::atomic<std::size_t> let_go_count_{0};  // size of let_go_
};

}  // namespace spillway::proxy
