// Lays out a stored response in a block of memory: header, key, reason phrase, field lines, and
// room for the content behind.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/time.hpp"
#include "cache/rules/validity.hpp"
#include "cache/store/stored_response.hpp"
#include "http/field_list.hpp"

namespace spillway::cache {

// Views of what goes into the block.
struct ResponseParts {
  KeyView key;
  unsigned status = 0;
  std::string_view reason_phrase;
  const http::FieldList& fields;
  std::string_view date;  // added when the fields have none; empty: not added
  const Validity& validity;
  bool open = false;
  TimePoint requested_at{};
  TimePoint arrived_at{};
};

class ResponseBuilder {
 public:
  // Of everything but the content.
  static std::size_t head_bytes(const ResponseParts& parts);
  // In a block of at least that size.
  static StoredResponse& build(char* block, const ResponseParts& parts);

  // The content that was written behind the head.
  static void set_content(StoredResponse& response, std::size_t content_bytes);
  // The content of another response that has a run of pages of its own. The other must be held
  // until this one is copied; the copy holds it.
  static void share_content(StoredResponse& response, const StoredResponse& of);
};

}  // namespace spillway::cache
