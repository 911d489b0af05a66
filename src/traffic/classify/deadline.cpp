#include "traffic/classify/deadline.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "http/field/ascii.hpp"

namespace spillway::traffic {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLeastUnixDigits = 12;
// Beyond any deadline that counts, and small enough for the arithmetic below.
constexpr std::uint64_t kLargest = 1'000'000'000'000'000;

// The number of leading digits.
std::size_t leading_digits(std::string_view text) {
  return static_cast<std::size_t>(
      std::find_if(text.begin(), text.end(), [](char c) { return c < '0' || c > '9'; }) -
      text.begin());
}

// Digits only; clamped to kLargest.
std::uint64_t number_of(std::string_view digits) {
  std::uint64_t number = 0;
  for (const char digit : digits) {
    number = std::min(10 * number + static_cast<std::uint64_t>(digit - '0'), kLargest);
  }
  return number;
}

template <class Unit>
Duration at_most_furthest(std::uint64_t count) {
  constexpr auto most = static_cast<std::uint64_t>(std::chrono::floor<Unit>(kFurthest).count());
  return Unit(static_cast<typename Unit::rep>(std::min(count, most)));
}

std::string_view with_unit(std::int64_t count, std::string_view unit, DeadlineText& out) {
  char* const end =
      std::to_chars(out.data(), out.data() + out.size(), std::max<std::int64_t>(count, 1)).ptr;
  return {out.data(),
          static_cast<std::size_t>(std::copy(unit.begin(), unit.end(), end) - out.data())};
}

}  // namespace

std::optional<RequestDeadline> parse_request_deadline(std::string_view value) {
  const std::size_t digits = leading_digits(value);
  if (digits == 0) return std::nullopt;
  const std::uint64_t number = number_of(value.substr(0, digits));
  const std::string_view unit = value.substr(digits);
  if (unit == "ms")
    return {{false, std::chrono::floor<milliseconds>(at_most_furthest<milliseconds>(number))}};
  if (unit == "s")
    return {
        {false, std::chrono::floor<milliseconds>(at_most_furthest<std::chrono::seconds>(number))}};
  if (!unit.empty() || digits < kLeastUnixDigits) return std::nullopt;
  return {{true, milliseconds(static_cast<std::int64_t>(number))}};
}

std::optional<Duration> parse_grpc_timeout(std::string_view value) {
  const std::size_t digits = leading_digits(value);
  if (digits < 1 || digits > 8 || value.size() != digits + 1) return std::nullopt;
  const std::uint64_t number = number_of(value.substr(0, digits));
  switch (value.back()) {
    case 'H': return at_most_furthest<std::chrono::hours>(number);
    case 'M': return at_most_furthest<std::chrono::minutes>(number);
    case 'S': return at_most_furthest<std::chrono::seconds>(number);
    case 'm': return at_most_furthest<milliseconds>(number);
    case 'u': return at_most_furthest<std::chrono::microseconds>(number);
    case 'n': return at_most_furthest<std::chrono::nanoseconds>(number);
    default: return std::nullopt;
  }
}

DeadlineFields deadline_fields(const http::FieldList& fields) {
  constexpr std::string_view request = "X-Request-Deadline";
  constexpr std::string_view grpc = "grpc-timeout";
  DeadlineFields result;
  int requests = 0;
  int timeouts = 0;
  for (const http::Field& field : fields) {
    // The length rules out nearly every other field.
    if (field.name.size() == request.size() && http::iequals(field.name, request)) {
      result.request = ++requests == 1 ? parse_request_deadline(field.value) : std::nullopt;
    } else if (field.name.size() == grpc.size() && http::iequals(field.name, grpc)) {
      result.grpc_timeout = ++timeouts == 1 ? parse_grpc_timeout(field.value) : std::nullopt;
    }
  }
  return result;
}

ClientDeadline client_deadline(const DeadlineFields& fields, TimePoint arrived, WallTime wall) {
  ClientDeadline result{.fields = fields};
  if (fields.request) {
    Duration left{};
    if (!fields.request->is_unix_time) {
      left = fields.request->value;
    } else {
      result.arrived = std::chrono::floor<milliseconds>(wall.time_since_epoch());
      const milliseconds furthest = std::chrono::floor<milliseconds>(kFurthest);
      // A wall clock before or far beyond the epoch must not overflow.
      left = std::clamp(fields.request->value - std::max(result.arrived, milliseconds(0)),
                        -furthest, furthest);
    }
    result.at = arrived + left;
  }
  if (fields.grpc_timeout) result.at = std::min(result.at, arrived + *fields.grpc_timeout);
  return result;
}

std::string_view write_time_left(Duration left, DeadlineText& out) {
  return with_unit(std::chrono::floor<milliseconds>(left).count(), "ms", out);
}

std::string_view write_grpc_timeout(Duration left, DeadlineText& out) {
  constexpr std::int64_t most = 99'999'999;
  const std::int64_t in_u = std::chrono::floor<std::chrono::microseconds>(left).count();
  if (in_u <= most) return with_unit(in_u, "u", out);
  if (in_u / 1000 <= most) return with_unit(in_u / 1000, "m", out);
  if (in_u / 1'000'000 <= most) return with_unit(in_u / 1'000'000, "S", out);
  return with_unit(in_u / 1'000'000 / 60, "M", out);
}

std::string_view write_unix_time(milliseconds since_epoch, DeadlineText& out) {
  return with_unit(since_epoch.count(), "", out);
}

}  // namespace spillway::traffic
