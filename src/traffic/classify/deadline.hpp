// The deadline that a client sends with its request: parsed here, and written for the upstream.
//
// Two fields carry a deadline: `X-Request-Deadline`, either a timeout ("250ms", "2s") or Unix time
// in milliseconds (12 digits or more); and `grpc-timeout`, a timeout as in gRPC's HTTP/2 protocol
// (1 to 8 digits and one of H M S m u n). Digits only: no sign, blank, fraction or other unit. A
// malformed or repeated field is ignored and not forwarded, so that the upstream does not see a
// deadline that Spillway does not enforce. If both fields are sent, the earlier deadline counts. 0
// is a deadline that has passed; deadlines beyond kFurthest are clamped to it.
//
// A timeout starts when the request arrives, by the monotonic clock. Unix time is converted to that
// clock once, on arrival, so that later changes of the wall clock have no effect.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.hpp"
#include "http/field/field_list.hpp"

namespace spillway::traffic {

using WallTime = std::chrono::system_clock::time_point;

inline constexpr Duration kFurthest = std::chrono::hours(24 * 365);

// A valid X-Request-Deadline.
struct RequestDeadline {
  bool is_unix_time = false;
  std::chrono::milliseconds value{0};  // timeout, or time since the epoch; never negative
};
std::optional<RequestDeadline> parse_request_deadline(std::string_view value);

// A valid grpc-timeout; up to kFurthest.
std::optional<Duration> parse_grpc_timeout(std::string_view value);

// The fields of a request, parsed before any clock is read.
struct DeadlineFields {
  std::optional<RequestDeadline> request;
  std::optional<Duration> grpc_timeout;

  bool any() const { return request || grpc_timeout; }
  bool is_unix_time() const { return request && request->is_unix_time; }
};
DeadlineFields deadline_fields(const http::FieldList& fields);

struct ClientDeadline {
  TimePoint at = kNever;  // the earlier one; may have passed
  DeadlineFields fields;
  std::chrono::milliseconds arrived{0};  // since the epoch; set only if Unix time was sent
};
// `wall` is the wall-clock time of `arrived`; used only for Unix time.
ClientDeadline client_deadline(const DeadlineFields& fields, TimePoint arrived, WallTime wall);

// Field values for the next hop. Views of the buffer `out`.
using DeadlineText = std::array<char, 24>;
// "1743ms": rounded down, but at least 1.
std::string_view write_time_left(Duration left, DeadlineText& out);
// "1743000u": likewise, in the smallest unit from microseconds up that needs at most eight digits.
std::string_view write_grpc_timeout(Duration left, DeadlineText& out);
// "1792834566000"
std::string_view write_unix_time(std::chrono::milliseconds since_epoch, DeadlineText& out);

}  // namespace spillway::traffic
