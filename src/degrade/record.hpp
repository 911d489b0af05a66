// What lies in the store: an answer, or a note about a key. One block of memory that begins with
// this header, followed by the text of its key.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/time.hpp"

namespace spillway::degrade {

class CacheShard;

class Record {
 public:
  enum class Kind : std::uint8_t {
    answer,
    names,  // that answers vary by; at the primary key in place of an answer
    // Lately an answer to this key could not be stored: that of anybody's request, or of one that
    // is one person's.
    unstorable,
    unstorable_for_one,
  };

  Record() = default;
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  Kind kind() const { return kind_; }
  std::size_t key_size() const { return key_size_; }
  // When its request was sent.
  TimePoint requested_at() const { return requested_at_; }

 protected:
  friend class CacheShard;
  friend class ResponseBuilder;
  friend class ResponseCache;
  friend class StoredPtr;

  void hold() const { references_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() const;

  mutable std::atomic<std::uint32_t> references_{1};
  std::uint32_t key_size_ = 0;
  Kind kind_ = Kind::answer;
  std::uint64_t hash_ = 0;
  std::uint64_t uri_hash_ = 0;
  std::size_t bytes_ = 0;  // of the block
  CacheShard* shard_ = nullptr;
  TimePoint requested_at_{};
};

}  // namespace spillway::degrade
