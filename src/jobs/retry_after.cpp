#include "jobs/retry_after.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "http/caching/date.hpp"

namespace spillway::jobs {
namespace {

constexpr std::int64_t kMostSeconds = 24 * 60 * 60;

}  // namespace

std::optional<std::chrono::milliseconds> parse_retry_after(
    const http::FieldList& fields, std::chrono::system_clock::time_point now) {
  const http::Field* const field = fields.find(http::FieldId::retry_after);
  if (field == nullptr || field->value.empty()) return std::nullopt;
  const std::string_view text = field->value;
  std::uint64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (end == text.data() + text.size()) {
    const bool is_huge = error == std::errc::result_out_of_range;
    const std::uint64_t bounded =
        is_huge ? kMostSeconds : std::min<std::uint64_t>(seconds, kMostSeconds);
    return std::chrono::seconds(static_cast<std::int64_t>(bounded));
  }
  const auto today = std::chrono::floor<std::chrono::seconds>(now);
  const auto date = http::parse_date(text, today);
  if (!date) return std::nullopt;
  return std::chrono::seconds(std::clamp<std::int64_t>((*date - today).count(), 0, kMostSeconds));
}

}  // namespace spillway::jobs
