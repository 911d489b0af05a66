// A hash table from (trie node, segment) to trie node, filled at start and looked up without
// allocating. Open addressing: a look-up touches one or two cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::traffic {

class SegmentTable {
 public:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  // The hash of a segment is computed once and used for several nodes.
  static std::uint64_t hash(std::string_view segment);

  std::uint32_t find(std::uint32_t node, std::string_view segment, std::uint64_t hash) const;
  std::uint32_t find(std::uint32_t node, std::string_view segment) const {
    return find(node, segment, hash(segment));
  }
  // The key must be absent.
  void insert(std::uint32_t node, std::string_view segment, std::uint32_t child);

  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint32_t node = 0;
    std::uint32_t child = kAbsent;  // kAbsent: a free slot
    std::uint32_t offset = 0;       // of the segment in texts_
    std::uint32_t length = 0;
  };

  std::size_t first_slot(std::uint32_t node, std::uint64_t hash) const;
  void grow();

  std::vector<Slot> slots_;  // its size is a power of two
  std::string texts_;
  std::size_t size_ = 0;
};

}  // namespace spillway::traffic
