// An answer on its way into the store. Its memory counts from the beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/time.hpp"
#include "degrade/stored_response.hpp"

namespace spillway::degrade {

class CacheShard;

// Dropped before it is committed, nothing is stored. The cache outlives it.
class Filling {
 public:
  Filling(Filling&& other) noexcept { swap(other); }
  Filling& operator=(Filling other) noexcept {
    swap(other);
    return *this;
  }
  ~Filling();

  // The next bytes of the body. False when the answer is too big or there is no room for it: drop
  // the filling then, all of its calls fail from now on.
  bool append(std::string_view content);

  // The answer is complete. What the store holds for its key now: this answer, or one that was
  // asked for later and may be given to the same. Null when nothing was stored: it is shorter or
  // longer than announced, there is no room, or its URI was invalidated or a purge made since it
  // was asked for.
  StoredPtr commit(TimePoint now);

 private:
  friend class ResponseCache;
  Filling() = default;
  void swap(Filling& other) noexcept;
  bool make_room(std::size_t size);

  CacheShard* shard_ = nullptr;  // null: given up, moved from or committed
  char* block_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::size_t head_size_ = 0;
  std::optional<std::uint64_t> length_;
  StoredResponse* response_ = nullptr;
};

}  // namespace spillway::degrade
