// The id of a job, which is also the permission to query and cancel it: 40 bits of time followed by
// 88 random bits. The time is neither secret nor used for ordering; it makes ids of the same moment
// adjacent in a store's index. With purely random ids, each job of a commit would write a page of
// its own.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway::jobs {

struct JobId {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const JobId&) const = default;
};

// `accepted_ms`: since 1970; its last 40 bits repeat after 34 years. `random`: from the system's
// cryptographic random source.
constexpr JobId make_job_id(std::uint64_t accepted_ms, const std::array<std::uint8_t, 11>& random) {
  JobId id;
  for (std::size_t n = 0; n < 5; ++n) {
    id.bytes[n] = static_cast<std::uint8_t>(accepted_ms >> (8 * (4 - n)));
  }
  for (std::size_t n = 0; n < random.size(); ++n) id.bytes[5 + n] = random[n];
  return id;
}

// 32 lower-case hexadecimal digits.
std::string to_text(const JobId& id);
// Parses exactly that form; nullopt for anything else, including upper case.
std::optional<JobId> parse_job_id(std::string_view text);

}  // namespace spillway::jobs
