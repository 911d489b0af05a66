// A part of a route's store, with its own lock, memory and order of eviction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time.hpp"
#include "degrade/purge.hpp"
#include "degrade/record.hpp"
#include "degrade/stored_response.hpp"

namespace spillway::degrade {

struct KeyView {
  std::string_view text;
  std::uint64_t hash = 0;
  std::uint64_t uri_hash = 0;
};

class CacheShard {
 public:
  explicit CacheShard(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  ~CacheShard();

  StoredPtr find(const KeyView& key, std::string& names, TimePoint now);
  bool has_note(const KeyView& key, Record::Kind kind, TimePoint now);
  bool put_note(const KeyView& key, Record::Kind kind, std::string_view body, TimePoint until);

  char* take(std::size_t bytes);
  void give_back(char* block, std::size_t bytes);

  StoredPtr insert(StoredResponse* response, TimePoint now);
  void remove(const KeyView& key);
  void invalidate(std::uint64_t uri, TimePoint now);
  void begin_purge(TimePoint now);
  std::size_t purge(const Purge& what);

  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  std::uint64_t entries = 0, stores = 0, evictions = 0, invalidations = 0;

 private:
  friend class Record;
  using Index = std::unordered_multimap<std::uint64_t, Record*>;
  Index::iterator look(const KeyView& key, bool (*wanted)(Record::Kind));
  void unlink(Index::iterator at);

  std::mutex mutex_;
  std::size_t max_bytes_;
  std::atomic<std::size_t> bytes_{0};
  Index index_;
  std::unordered_map<std::uint64_t, TimePoint> stamps_;
  TimePoint purged_at_ = TimePoint::min();
};

}  // namespace spillway::degrade
