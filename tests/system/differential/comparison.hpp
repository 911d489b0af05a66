// What reached the origin through two proxies, compared; and the differences that are allowed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "system/differential/stream.hpp"
#include "system/wire/reading.hpp"

namespace spillway::differential {

// What came of one stream at one proxy.
struct Outcome {
  std::vector<wire::Message> first;  // requests but for those that follow
  std::size_t second = 0, end = 0;   // how often those came
  std::size_t begun = 0;             // requests that were not complete
  std::string trouble;               // of a strict or a lenient reader
  std::vector<int> statuses;         // of the responses
};

enum class Kind : std::uint8_t {
  stricter,  // it does not forward the request, the other does
  laxer,     // the other way round
  number,    // not as many requests
  method,
  target,
  host,
  content,
  drops_field,  // one that the other forwards
  keeps_field,  // the other way round
  field_value,
  stops,    // after the same first request it serves none of those behind it, the other does
  goes_on,  // the other way round
};
std::string_view name_of(Kind kind);

struct Difference {
  Kind kind{};
  std::string detail;
};

std::vector<Difference> differences(const Outcome& ours, const Outcome& theirs);

// A difference that is right, or a choice that the RFCs leave.
struct Allowed {
  std::string_view beside;  // NGINX or HAProxy; empty: both
  Kind kind{};
  std::string_view oddity;  // that the stream must have; empty: any
  std::string_view section;
  std::string_view why;
  std::string_view detail = {};  // that the difference must have; empty: any
};
const std::vector<Allowed>& allowed();

// The place in allowed(); its size when there is none.
std::size_t explanation(const Difference& difference, const Stream& stream,
                        std::string_view beside);

}  // namespace spillway::differential
