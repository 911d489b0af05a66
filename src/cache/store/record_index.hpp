// Linked records by their keys: a table of chains whose size is fixed at construction, so that
// nobody ever waits for it to grow.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/store/record.hpp"

namespace spillway::cache {

class RecordIndex {
 public:
  explicit RecordIndex(std::size_t buckets)
      : buckets_(std::bit_ceil(std::max<std::size_t>(buckets, 1))) {}

  // An answer and the names that answers vary by take the same place; so does each kind of note.
  Record* find(const KeyView& key, RecordKind kind) const {
    for (Record* at = buckets_[bucket_of(key.hash)]; at != nullptr; at = at->chain) {
      const KeyView other = at->key();
      if (other.hash == key.hash && place(at->kind) == place(kind) && other.text == key.text) {
        return at;
      }
    }
    return nullptr;
  }
  void add(Record& record) {
    Record*& first = buckets_[bucket_of(record.key().hash)];
    record.chain = first;
    first = &record;
  }
  void remove(const Record& record) { *link_to(record) = record.chain; }
  void replace(const Record& record, Record& by) {
    by.chain = record.chain;
    *link_to(record) = &by;
  }

  std::size_t buckets() const { return buckets_.size(); }
  Record* first(std::size_t bucket) const { return buckets_[bucket]; }
  std::size_t bytes() const { return buckets_.capacity() * sizeof(Record*); }

 private:
  static RecordKind place(RecordKind kind) {
    return kind == RecordKind::names ? RecordKind::answer : kind;
  }
  std::size_t bucket_of(std::uint64_t hash) const { return hash & (buckets_.size() - 1); }
  Record** link_to(const Record& record) {
    Record** at = &buckets_[bucket_of(record.key().hash)];
    while (*at != &record) at = &(*at)->chain;
    return at;
  }

  std::vector<Record*> buckets_;
};

}  // namespace spillway::cache
