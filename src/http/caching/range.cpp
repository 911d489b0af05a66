#include "http/caching/range.hpp"

#include <algorithm>
#include <charconv>

#include "http/caching/date.hpp"
#include "http/field/ascii.hpp"

namespace spillway::http {
namespace {

// Digits only; a number beyond 64 bits becomes the largest.
std::optional<std::uint64_t> byte_position(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc::result_out_of_range ? UINT64_MAX : value;
}

}  // namespace

std::optional<RangeWanted> range_wanted(const FieldList& request) {
  constexpr std::string_view kUnit = "bytes=";
  if (request.count(FieldId::range) != 1) return std::nullopt;
  std::string_view text = request.find(FieldId::range)->value;
  if (!istarts_with(text, kUnit)) return std::nullopt;
  text = trim(text.substr(kUnit.size()));
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, dash), after = text.substr(dash + 1);
  RangeWanted wanted{.first = byte_position(before), .last = byte_position(after)};
  if (wanted.last ? !before.empty() && !wanted.first : !after.empty() || !wanted.first)
    return std::nullopt;
  if (wanted.first && wanted.last && *wanted.last < *wanted.first) return std::nullopt;
  if (!wanted.first) {
    wanted.suffix = *wanted.last;
    wanted.last.reset();
  }
  return wanted;
}

std::optional<ByteRange> part_of(const RangeWanted& wanted, std::uint64_t length) {
  if (!wanted.first) {
    const std::uint64_t size = std::min(wanted.suffix, length);
    if (size == 0) return std::nullopt;
    return ByteRange{length - size, length - 1};
  }
  if (*wanted.first >= length) return std::nullopt;
  return ByteRange{*wanted.first, std::min(wanted.last.value_or(length), length - 1)};
}

bool if_range_holds(const FieldList& request, const Validators& response,
                    std::chrono::sys_seconds now) {
  const Field* const field = request.find(FieldId::if_range);
  if (field == nullptr) return true;
  if (request.count(FieldId::if_range) > 1) return false;
  const std::string_view value = field->value;
  if (value.starts_with('"')) return value == response.etag;
  const auto modified = parse_date(response.last_modified, now);
  const auto date = parse_date(response.date, now);
  return modified && date && value == response.last_modified &&
         *date - *modified >= std::chrono::seconds(1);
}

}  // namespace spillway::http
