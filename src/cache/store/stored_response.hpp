// A complete response as the store keeps it: one heap block that holds this header, the key, the
// reason phrase, the field lines and the body, in this order.
//
// Immutable once stored; any thread may read it while holding a StoredPtr. The block is freed, and
// no longer counts against max_bytes, once the store and the last reader have released it.
#pragma once

#include <atomic>
#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/unordered_set_hook.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/time.hpp"
#include "cache/rules/cache_key.hpp"
#include "cache/rules/validity.hpp"
#include "http/field/field_list.hpp"

namespace spillway::cache {

class CacheShard;

// A reader's reference. The cache outlives all of them.
using StoredPtr = boost::intrusive_ptr<const class StoredResponse>;

// Contents of a new response; views.
struct ResponseParts {
  KeyView key;
  unsigned status = 0;
  std::string_view reason_phrase;
  const http::FieldList& fields;
  std::string_view date;  // for a Date field if `fields` has none; empty: none is added
  const Validity& validity;
  bool open = false;
  TimePoint requested_at{};
  TimePoint arrived_at{};
};

class StoredResponse
    : public boost::intrusive::list_base_hook<>,
      public boost::intrusive::unordered_set_base_hook<boost::intrusive::store_hash<true>> {
 public:
  unsigned status() const { return head_.status; }
  std::string_view reason_phrase() const { return {text() + head_.key_size, head_.reason_size}; }
  // The stored field lines, each with its CRLF (merge.hpp: is_stored).
  std::string_view lines() const { return {reason_phrase().end(), head_.lines_size}; }
  // The body, without transfer coding.
  std::string_view content() const { return {lines().end(), head_.content_size}; }

  // Values of these fields; empty if absent.
  std::string_view etag() const { return head_.etag.in(lines()); }
  std::string_view last_modified() const { return head_.last_modified.in(lines()); }
  std::string_view date() const { return head_.date.in(lines()); }
  // All fields, as views of lines().
  void read_fields(http::FieldList& fields) const;

  // May be given to any client (personal.hpp).
  bool is_open() const { return head_.open; }
  // When its request was sent.
  TimePoint requested_at() const { return head_.requested_at; }
  const Validity& validity() const { return head_.validity; }
  Duration lifetime() const { return head_.validity.lifetime; }
  // RFC 9111 section 4.2.3.
  Duration age(TimePoint now) const { return head_.validity.age + (now - head_.arrived_at); }
  // Negative once it is stale.
  Duration freshness_left(TimePoint now) const { return lifetime() - age(now); }
  bool is_fresh(TimePoint now) const { return age(now) < lifetime(); }
  bool may_serve_stale(TimePoint now) const {
    return age(now) < lifetime() + head_.validity.stale_for;
  }
  bool may_serve_on_error(TimePoint now) const {
    return age(now) < lifetime() + head_.validity.stale_on_error;
  }

  // Whether a response recently found no room because of responses that readers pin.
  bool is_wanted_back(TimePoint now) const;

  KeyView key() const { return {{text(), head_.key_size}, head_.hash, head_.uri_hash}; }
  // A note in place of a response: content() names the request fields by which the responses to its
  // primary key vary. Its status is 0; it never expires.
  bool is_vary_note() const { return head_.status == 0; }
  // The size of the block; below, the size of one without content.
  std::size_t bytes() const { return head_.bytes; }
  static std::size_t head_bytes(const ResponseParts& parts);

 private:
  friend class CacheShard;
  friend class Filling;
  friend class S3Fifo;
  friend void intrusive_ptr_add_ref(const StoredResponse* response) {
    response->references_.fetch_add(1, std::memory_order_relaxed);
  }
  friend void intrusive_ptr_release(const StoredResponse* response) {
    if (response->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) response->destroy();
  }

  struct Piece {  // of the lines
    std::uint32_t at = 0;
    std::uint32_t size = 0;
    std::string_view in(std::string_view lines) const { return lines.substr(at, size); }
  };
  struct Head {  // moves with the block when it grows
    CacheShard* shard;
    std::size_t bytes;
    std::uint64_t hash, uri_hash;
    Validity validity;
    TimePoint requested_at, arrived_at;
    TimePoint useful_until = kNever;  // neither fresh nor stale nor revalidated later than this
    std::size_t content_size = 0;
    std::uint32_t key_size, lines_size = 0;
    Piece etag, last_modified, date;
    std::uint16_t status, reason_size;
    bool open;
  };

  explicit StoredResponse(const Head& head) : head_(head) {}

  // Lays out key, reason phrase and lines in a block of at least head_bytes().
  static StoredResponse* build(void* block, std::size_t bytes, CacheShard& shard,
                               const ResponseParts& parts);
  void destroy() const;

  const char* text() const { return reinterpret_cast<const char*>(this + 1); }
  // Room for content.
  std::size_t capacity() const {
    return head_.bytes -
           static_cast<std::size_t>(lines().end() - reinterpret_cast<const char*>(this));
  }
  void append(std::string_view content) {
    content.copy(const_cast<char*>(this->content().end()), content.size());
    head_.content_size += content.size();
  }
  bool is_read() const { return references_.load(std::memory_order_relaxed) > 1; }

  Head head_;
  mutable std::atomic<std::uint32_t> references_{0};
  // The shard writes these, under its lock.
  bool is_stored_ = false;  // else it is being filled
  bool is_counted_ = true;
  bool in_main_ = false;
  std::uint8_t frequency_ = 0;
};

}  // namespace spillway::cache
