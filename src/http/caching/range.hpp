// Range requests (RFC 9110 section 14), as a cache answers them from a complete response.
#pragma once

#include <cstdint>
#include <optional>

#include "http/caching/conditional.hpp"
#include "http/field/field_list.hpp"

namespace spillway::http {

// A range of content bytes, both ends included.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t size() const { return last - first + 1; }

  bool operator==(const ByteRange&) const = default;
};

// A request's single byte range: `first` to `last`, from `first` on, or the last `suffix`
// bytes.
struct RangeWanted {
  std::optional<std::uint64_t> first;
  std::optional<std::uint64_t> last;
  std::uint64_t suffix = 0;

  bool operator==(const RangeWanted&) const = default;
};

// Nothing without Range, or for a Range that this cache leaves to the origin: repeated, in another
// unit, with several ranges, or malformed.
std::optional<RangeWanted> range_wanted(const FieldList& request);

// The part of a content of this length. Nothing if the content has no such bytes (416).
std::optional<ByteRange> part_of(const RangeWanted& wanted, std::uint64_t length);

// Whether If-Range, if present, allows the range to be served from this response (section 13.1.5):
// its tag is equal by strong comparison, or its date is the text of a Last-Modified that is at
// least one second older than Date.
bool if_range_holds(const FieldList& request, const Validators& response,
                    std::chrono::sys_seconds now);

}  // namespace spillway::http
