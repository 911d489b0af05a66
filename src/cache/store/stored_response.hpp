// A complete answer as the store keeps it, and a pointer that keeps it while it is being sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/time.hpp"
#include "cache/rules/validity.hpp"
#include "cache/store/record.hpp"
#include "http/field_list.hpp"

namespace spillway::cache {

// Immutable; any thread may read it while it holds a StoredPtr.
class StoredResponse : public Record {
 public:
  unsigned status() const { return status_; }
  std::string_view reason_phrase() const { return {text() + key_size_, reason_size_}; }
  // The stored field lines, each with its CRLF, as they go on (merge.hpp says which).
  std::string_view lines() const { return {text() + key_size_ + reason_size_, lines_size_}; }
  // The body, without transfer coding.
  std::string_view content() const {
    return {elsewhere_ != nullptr ? elsewhere_ : own_content(), content_size_};
  }

  // Values of the fields of these names, empty when there are none.
  std::string_view etag() const { return etag_.in(lines()); }
  std::string_view last_modified() const { return last_modified_.in(lines()); }
  std::string_view date() const { return date_.in(lines()); }
  // All of them, as views of lines().
  void read_fields(http::FieldList& fields) const;

  // Whether another may give its content as well: it does not move.
  bool is_shareable() const { return has_run || source_ != nullptr; }

  // May be given to anyone (personal.hpp).
  bool is_open() const { return open_; }

  const Validity& validity() const { return validity_; }
  Duration lifetime() const { return validity_.lifetime; }
  // RFC 9111 section 4.2.3.
  Duration age(TimePoint now) const { return validity_.age + (now - arrived_at_); }
  // Negative once it is stale.
  Duration freshness_left(TimePoint now) const { return validity_.lifetime - age(now); }
  bool is_fresh(TimePoint now) const { return age(now) < validity_.lifetime; }
  bool may_serve_stale(TimePoint now) const {
    return age(now) < validity_.lifetime + validity_.stale_for;
  }
  bool may_serve_on_error(TimePoint now) const {
    return age(now) < validity_.lifetime + validity_.stale_on_error;
  }

 private:
  friend class Record;
  friend class ResponseBuilder;

  StoredResponse(const KeyView& key, std::size_t bytes) : Record(RecordKind::answer, key, bytes) {}
  StoredResponse(const StoredResponse& other);

  // Whose content this one gives as well; null: nobody else's.
  const StoredResponse* source() const { return source_; }

  struct Piece {  // of the lines
    std::uint32_t at = 0;
    std::uint32_t size = 0;
    std::string_view in(std::string_view lines) const { return lines.substr(at, size); }
  };

  const char* own_content() const { return text() + key_size_ + reason_size_ + lines_size_; }

  Validity validity_;
  TimePoint arrived_at_{};
  const char* elsewhere_ = nullptr;  // the content, when it is that of source_
  const StoredResponse* source_ = nullptr;
  std::size_t content_size_ = 0;
  std::uint32_t lines_size_ = 0;
  Piece etag_, last_modified_, date_;
  std::uint16_t status_ = 0;
  std::uint16_t reason_size_ = 0;
  bool open_ = false;
};

// Counts one who reads it. The cache outlives all of them.
class StoredPtr {
 public:
  StoredPtr() = default;
  StoredPtr(std::nullptr_t) {}
  StoredPtr(const StoredPtr& other) : response_(other.response_) {
    if (response_ != nullptr) response_->hold();
  }
  StoredPtr(StoredPtr&& other) noexcept : response_(std::exchange(other.response_, nullptr)) {}
  StoredPtr& operator=(StoredPtr other) noexcept {
    std::swap(response_, other.response_);
    return *this;
  }
  ~StoredPtr() { reset(); }

  void reset() {
    if (response_ != nullptr) release(*std::exchange(response_, nullptr));
  }
  explicit operator bool() const { return response_ != nullptr; }
  const StoredResponse& operator*() const { return *response_; }
  const StoredResponse* operator->() const { return response_; }
  const StoredResponse* get() const { return response_; }
  friend bool operator==(const StoredPtr&, const StoredPtr&) = default;

 private:
  friend class CacheShard;
  explicit StoredPtr(const StoredResponse& response) : response_(&response) { response.hold(); }
  static void release(const StoredResponse& response);

  const StoredResponse* response_ = nullptr;
};

}  // namespace spillway::cache
