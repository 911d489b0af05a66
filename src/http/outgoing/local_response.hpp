// Writes the heads of responses that do not come straight from the upstream: stored responses from
// the cache and configured fallbacks. All functions return false if the block is too small; the
// size of the given lines plus kRewriteRoom is always enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text_writer.hpp"
#include "http/caching/range.hpp"
#include "http/message/head.hpp"
#include "http/outgoing/rewrite.hpp"

namespace spillway::http {

struct StoredHead {
  unsigned status = 200;
  std::string_view reason_phrase;
  std::string_view lines;  // end-to-end fields, each with its CRLF, without Content-Length and Age
  std::optional<std::uint64_t> content_length;  // nullopt: a status that allows no content (204)
  std::int64_t age = 0;                         // seconds (RFC 9111 section 4.2.3)
  std::optional<ByteRange> part{};              // a 206 with this part of the content
};

bool write_stored_head(TextWriter& out, const StoredHead& head, const ForwardedResponse& with);

// A 304 instead, for a client that already has the response: only the lines that RFC 9110 section
// 15.4.5 names.
bool write_not_modified_head(TextWriter& out, const StoredHead& head,
                             const ForwardedResponse& with);

struct FallbackHead {
  unsigned status = 200;
  std::string_view lines;                           // configured fields, each with its CRLF
  std::string_view content_type;                    // empty: it is among the lines
  std::optional<std::uint64_t> content_length = 0;  // nullopt: the content ends with the connection
  bool varies = false;                              // chosen by Accept, so that Vary names it
  bool is_final = false;  // the lines include Cache-Control; otherwise no-store is added
};

// Whether a fallback with this status may answer such a request. A 2xx or 3xx answers only GET and
// HEAD: the client of a POST must not conclude that it succeeded.
constexpr bool fallback_answers(unsigned status, Verb method) {
  return method == Verb::get || method == Verb::head || status >= 400;
}

bool write_fallback_head(TextWriter& out, const FallbackHead& head, const ForwardedResponse& with);

}  // namespace spillway::http
