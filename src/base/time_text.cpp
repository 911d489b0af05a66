#include "base/time_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace spillway {

namespace {

// Parses a text from front to back; if an expected part is missing, all later steps fail too.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(text) {}

  unsigned digits(std::size_t count, unsigned most) {
    unsigned value = 0;
    for (std::size_t n = 0; n < count; ++n) {
      if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return fail();
      value = value * 10 + static_cast<unsigned>(rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return value > most ? fail() : value;
  }
  // The next character if it is one of these; otherwise '\0'.
  char one_of(std::string_view wanted) {
    if (rest_.empty() || wanted.find(rest_.front()) == std::string_view::npos) {
      fail();
      return '\0';
    }
    const char found = rest_.front();
    rest_.remove_prefix(1);
    return found;
  }
  // ".1" to ".123456789", if present, in milliseconds.
  unsigned fraction() {
    if (rest_.empty() || rest_.front() != '.') return 0;
    rest_.remove_prefix(1);
    unsigned value = 0;
    std::size_t count = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++count) {
      if (count < 3) value = value * 10 + static_cast<unsigned>(rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    if (count == 0 || count > 9) return fail();
    for (; count < 3; ++count) value *= 10;
    return value;
  }
  bool is_whole() const { return !has_failed_ && rest_.empty(); }

 private:
  unsigned fail() {
    has_failed_ = true;
    return 0;
  }

  std::string_view rest_;
  bool has_failed_ = false;
};

std::chrono::minutes offset(TimeReader& reader) {
  const char sign = reader.one_of("Zz+-");
  if (sign != '+' && sign != '-') return {};
  const std::chrono::hours hours(reader.digits(2, 23));
  reader.one_of(":");
  const std::chrono::minutes minutes = hours + std::chrono::minutes(reader.digits(2, 59));
  return sign == '-' ? -minutes : minutes;
}

// With leading zeros, followed by `behind`.
void put(std::string& out, std::int64_t number, std::size_t digits, char behind) {
  const std::string text = std::to_string(number);
  out.append(digits - std::min(digits, text.size()), '0').append(text).push_back(behind);
}

}  // namespace

std::string to_text(WallTime time) {
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(time - days);
  std::string out;
  put(out, static_cast<int>(date.year()), 4, '-');
  put(out, static_cast<unsigned>(date.month()), 2, '-');
  put(out, static_cast<unsigned>(date.day()), 2, 'T');
  put(out, clock.hours().count(), 2, ':');
  put(out, clock.minutes().count(), 2, ':');
  put(out, clock.seconds().count(), 2, '.');
  put(out, clock.subseconds().count(), 3, 'Z');
  return out;
}

std::optional<WallTime> parse_time(std::string_view text) {
  TimeReader reader(text);
  const auto year = static_cast<int>(reader.digits(4, 9999));
  reader.one_of("-");
  const unsigned month = reader.digits(2, 12);
  reader.one_of("-");
  const unsigned day = reader.digits(2, 31);
  reader.one_of("Tt ");
  const std::chrono::hours hours(reader.digits(2, 23));
  reader.one_of(":");
  const std::chrono::minutes minutes(reader.digits(2, 59));
  reader.one_of(":");
  const std::chrono::seconds seconds(reader.digits(2, 60));
  const std::chrono::milliseconds fraction(reader.fraction());
  const std::chrono::minutes behind = offset(reader);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!reader.is_whole() || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + hours + minutes + seconds + fraction - behind;
}

}  // namespace spillway
