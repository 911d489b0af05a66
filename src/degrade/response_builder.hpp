// Lays out a stored response in a block of memory: header, key, reason phrase, field lines, and
// then room for the content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/time.hpp"
#include "degrade/stored_response.hpp"
#include "degrade/validity.hpp"
#include "http/field_list.hpp"

namespace spillway::degrade {

// Views of what goes into the block.
struct ResponseParts {
  std::string_view key;
  std::uint64_t hash = 0;
  std::uint64_t uri_hash = 0;
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
  static std::size_t head_size(const ResponseParts& parts);
  // In a block of at least head_size(), aligned for it.
  static StoredResponse* build(char* block, const ResponseParts& parts);

  static char* content(StoredResponse& response);
  static void set_content_size(StoredResponse& response, std::size_t size);
};

}  // namespace spillway::degrade
