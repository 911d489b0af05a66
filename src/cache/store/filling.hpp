// A response being filled, to be stored. Its memory counts from the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.hpp"
#include "cache/store/cache_shard.hpp"
#include "cache/store/stored_response.hpp"

namespace spillway::cache {

// If destroyed before commit(), it stores nothing. The cache outlives it. Movable.
class Filling {
 public:
  // Adds the next bytes of the body. False if the response exceeds max_entry_bytes or the announced
  // length, or if there is no room for it: then all further calls fail.
  bool append(std::string_view content);

  // Another response recently found no room because of the responses that are being filled.
  bool is_wanted_back(TimePoint now) const { return response_ && shard_->is_filling_full(now); }

  // The response is complete. Returns what the store now holds for its key: this response, or one
  // requested later that may be given to the same clients. Null if nothing was stored: it is
  // shorter than announced, there is no room, or it was requested before its URI was invalidated or
  // before a purge.
  StoredPtr commit(TimePoint now);

 private:
  friend class ResponseCache;

  struct Limits {
    std::optional<std::uint64_t> length;  // of the content, as announced
    std::size_t max_bytes = 0;            // of the entry
  };
  // The vary note at a variant's primary key; size 0: it is not a variant.
  struct Primary {
    std::size_t key_size = 0;
    std::uint64_t hash = 0;
  };

  // `unstorable_hash`: to be marked if the content turns out to be too large.
  Filling(CacheShard& shard, const ResponseParts& parts, const Limits& limits, Primary primary,
          std::uint64_t unstorable_hash, TimePoint now);
  bool is_good() const { return response_ != nullptr; }
  bool give_up();
  bool put_vary_note(TimePoint now);

  CacheShard* shard_;
  FillingPtr response_;  // null: given up, moved from or committed
  Limits limits_;
  Primary primary_;
  std::uint64_t unstorable_hash_;
  std::size_t head_bytes_ = 0;  // of the entry without its content
  TimePoint began_at_;
};

}  // namespace spillway::cache
