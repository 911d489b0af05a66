// What lies in the store: an answer, or a note about a key. One block of memory that begins with
// this header; the text of its key follows.
//
// A record is linked from the time it is put into the store until it is evicted, replaced or
// purged, and lives until then and as long as somebody reads it. One in a segment (record_log.hpp)
// may be moved to another, that is: copied, and the copy linked in its place. One of its own run of
// pages stays where it is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/time.hpp"
#include "cache/rules/cache_key.hpp"
#include "cache/store/freed_runs.hpp"

namespace spillway::cache {

class CacheShard;
struct Slot;

enum class RecordKind : std::uint8_t {
  answer,
  names,  // that answers vary by; at the primary key in place of an answer
  // Lately an answer to this key could not be stored: that of anybody's request, or of one that is
  // one person's.
  unstorable,
  unstorable_for_one,
};

class Record {
 public:
  // When its request was sent; a note is of no time.
  TimePoint requested_at() const { return requested_at_; }
  KeyView key() const { return {{text(), key_size_}, hash_, uri_hash_}; }

  // The rest is the store's own business.

  Record(RecordKind kind, const KeyView& key, std::size_t bytes);
  Record& operator=(const Record&) = delete;

  // A note, in a block of at least note_bytes(key, body).
  static Record* build_note(char* block, RecordKind kind, const KeyView& key,
                            std::string_view body);
  static std::size_t note_bytes(const KeyView& key, std::string_view body) {
    return sizeof(Record) + key.text.size() + body.size();
  }
  std::string_view note() const {
    return {text() + key_size_, bytes_ - sizeof(Record) - key_size_};
  }

  // A record of the same contents, in a block of at least bytes(), read by nobody.
  Record* copy_to(char* block) const;

  void hold() const { references_.fetch_add(1, std::memory_order_relaxed); }
  // Of the last reader, and of the store when it is linked no more. What can be freed by it is
  // added.
  void let_go(FreedRuns& freed) const;
  bool is_read() const { return references_.load(std::memory_order_relaxed) > 1; }

  // Of memory outside of the segments that goes when it goes; is it read by another?
  std::size_t outside_bytes() const;
  bool is_outside_read() const;

  std::size_t bytes() const { return bytes_; }
  void set_bytes(std::size_t bytes) { bytes_ = bytes; }

  RecordKind kind;
  bool has_run = false;        // else it is in a segment
  bool in_main = false;        // the queue it is linked from
  std::uint8_t frequency = 0;  // of late, up to 3
  Slot* slot = nullptr;        // where it is linked from
  Record* chain = nullptr;     // in the index
  CacheShard* shard = nullptr;
  TimePoint useless_after = kNever;

 protected:
  // Copies count their own readers and are linked on their own.
  Record(const Record& other);

  const char* text() const;

  mutable std::atomic<std::uint32_t> references_{1};
  std::uint32_t key_size_;
  std::size_t bytes_;  // of the block, or of the run
  std::uint64_t hash_;
  std::uint64_t uri_hash_;
  TimePoint requested_at_ = TimePoint::max();
};

}  // namespace spillway::cache
