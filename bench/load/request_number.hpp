// Which request of a schedule a request on the wire is. Clients of a load say so in a field, so
// that the backend can give the n-th request the same service time whoever is in between, and so
// that it can be told whether anybody still waits for the answer.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway::load {

struct RequestNumber {
  std::uint32_t arrival = 0;  // its place in the schedule, from 0
  std::uint32_t attempt = 1;  // of its client, from 1

  bool operator==(const RequestNumber&) const = default;
};

inline constexpr std::string_view kNumberField = "Load-Number";

// "17-2": the second attempt at arrival 17.
inline std::string text_of(const RequestNumber& number) {
  return std::to_string(number.arrival) + '-' + std::to_string(number.attempt);
}

// nullopt for anything that text_of() does not write.
inline std::optional<RequestNumber> parse_number(std::string_view text) {
  RequestNumber number;
  const char* const end = text.data() + text.size();
  const auto arrival = std::from_chars(text.data(), end, number.arrival);
  if (arrival.ec != std::errc() || arrival.ptr == end || *arrival.ptr != '-') return std::nullopt;
  const auto attempt = std::from_chars(arrival.ptr + 1, end, number.attempt);
  if (attempt.ec != std::errc() || attempt.ptr != end) return std::nullopt;
  return number;
}

}  // namespace spillway::load
