// An answer on its way into the store. Its memory counts from the beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/time.hpp"
#include "cache/store/cache_shard.hpp"
#include "cache/store/stored_response.hpp"

namespace spillway::cache {

struct ResponseParts;

// Dropped before it is committed, nothing is stored. The cache outlives it.
class Filling {
 public:
  Filling(Filling&& other) noexcept { swap(other); }
  Filling& operator=(Filling other) noexcept {
    swap(other);
    return *this;
  }
  ~Filling();

  // The next bytes of the body. False when the answer is too big or longer than announced, or when
  // there is no room for it: drop the filling then, all of its calls fail from now on.
  bool append(std::string_view content);

  // The answer is complete. What the store holds for its key now: this answer, or one that was
  // asked for later and may be given to the same. Null when nothing was stored: it is shorter than
  // announced, there is no room, or its URI was invalidated or a purge made since it was asked for.
  StoredPtr commit(TimePoint now);

 private:
  friend class ResponseCache;

  struct Limits {
    std::optional<std::uint64_t> length;  // of the content, as announced
    std::size_t max_bytes = 0;            // of the entry
  };

  Filling() = default;
  // Without a shard when there is no room.
  Filling(CacheShard& shard, const ResponseParts& parts, const Limits& limits, TimePoint now);
  bool is_good() const { return shard_ != nullptr; }
  bool is_too_big() const {
    return head_bytes_ > limits_.max_bytes ||
           limits_.length.value_or(0) > limits_.max_bytes - head_bytes_;
  }
  void set_personal(bool personal) { personal_ = personal; }
  void share_content(const StoredResponse& of);
  // The key's first part when it is a variant's: answers to it vary by names.
  void set_primary(std::size_t size, std::uint64_t hash) {
    primary_size_ = size;
    primary_hash_ = hash;
  }
  void swap(Filling& other) noexcept;
  bool grow(std::size_t bytes);
  bool give_up();
  StoredResponse& response() { return *reinterpret_cast<StoredResponse*>(block_.memory); }

  CacheShard* shard_ = nullptr;  // null: given up, moved from or committed
  Block block_;
  Limits limits_;
  TimePoint now_{};
  std::size_t head_bytes_ = 0;
  std::size_t size_ = 0;  // with the head
  std::size_t primary_size_ = 0;
  std::uint64_t primary_hash_ = 0;
  bool personal_ = false;  // made for a request that is one person's
};

}  // namespace spillway::cache
