#include "http/caching/date.hpp"

#include <algorithm>
#include <cstddef>

#include "http/field/ascii.hpp"

namespace spillway::http {
namespace {

using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year_month_day;

constexpr std::array<std::string_view, 7> kWeekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Parses a text piece by piece; after the first mismatch every step fails.
class Pieces {
 public:
  explicit Pieces(std::string_view text) : rest_(text) {}

  bool skip(std::string_view literal) {
    const bool fits = rest_.size() >= literal.size() && istarts_with(rest_, literal);
    if (fits) rest_.remove_prefix(literal.size());
    return fits;
  }
  void expect(std::string_view literal) { fits_ &= skip(literal); }

  int number(std::size_t digits) {
    int value = 0;
    for (; digits > 0; --digits) {
      if (rest_.empty() || !is_digit(rest_.front())) {
        fits_ = false;
        return 0;
      }
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }

  // 1 to 12.
  unsigned month() {
    for (std::size_t i = 0; i < kMonths.size(); ++i) {
      if (skip(kMonths[i])) return static_cast<unsigned>(i + 1);
    }
    fits_ = false;
    return 1;
  }

  bool weekday(std::size_t letters) {
    return std::any_of(kWeekdays.begin(), kWeekdays.end(),
                       [&](std::string_view day) { return skip(day.substr(0, letters)); });
  }

  bool all_fits() const { return fits_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool fits_ = true;
};

struct Parts {
  int year = 0;
  unsigned month = 1;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

std::optional<sys_seconds> time_of(const Parts& parts) {
  const year_month_day date{std::chrono::year(parts.year), std::chrono::month(parts.month),
                            std::chrono::day(static_cast<unsigned>(parts.day))};
  if (!date.ok() || parts.hour > 23 || parts.minute > 59 || parts.second > 60) return std::nullopt;
  return sys_days(date) + std::chrono::hours(parts.hour) + std::chrono::minutes(parts.minute) +
         std::chrono::seconds(std::min(parts.second, 59));
}

void time_of_day(Pieces& pieces, Parts& parts) {
  parts.hour = pieces.number(2);
  pieces.expect(":");
  parts.minute = pieces.number(2);
  pieces.expect(":");
  parts.second = pieces.number(2);
}

std::optional<sys_seconds> fixdate(Pieces pieces) {
  Parts parts;
  pieces.expect(", ");
  parts.day = pieces.number(2);
  pieces.expect(" ");
  parts.month = pieces.month();
  pieces.expect(" ");
  parts.year = pieces.number(4);
  pieces.expect(" ");
  time_of_day(pieces, parts);
  pieces.expect(" GMT");
  return pieces.all_fits() ? time_of(parts) : std::nullopt;
}

std::optional<sys_seconds> rfc850_date(Pieces pieces, sys_seconds now) {
  Parts parts;
  pieces.expect(", ");
  parts.day = pieces.number(2);
  pieces.expect("-");
  parts.month = pieces.month();
  pieces.expect("-");
  parts.year = pieces.number(2);
  pieces.expect(" ");
  time_of_day(pieces, parts);
  pieces.expect(" GMT");
  if (!pieces.all_fits()) return std::nullopt;

  const year_month_day today(std::chrono::floor<std::chrono::days>(now));
  const int latest_year = static_cast<int>(today.year()) + 50;
  parts.year += latest_year - latest_year % 100;
  if (parts.year > latest_year) parts.year -= 100;
  const auto time = time_of(parts);
  const year_month_day limit(today.year() + std::chrono::years(50), today.month(), today.day());
  // If the limit is 29 February in a common year, it becomes 1 March.
  if (!time || *time <= sys_days(limit) + (now - std::chrono::floor<std::chrono::days>(now))) {
    return time;
  }
  parts.year -= 100;
  return time_of(parts);
}

std::optional<sys_seconds> asctime_date(Pieces pieces) {
  Parts parts;
  pieces.expect(" ");
  parts.month = pieces.month();
  pieces.expect(" ");
  parts.day = pieces.number(pieces.skip(" ") ? 1 : 2);
  pieces.expect(" ");
  time_of_day(pieces, parts);
  pieces.expect(" ");
  parts.year = pieces.number(4);
  return pieces.all_fits() ? time_of(parts) : std::nullopt;
}

}  // namespace

std::optional<sys_seconds> parse_date(std::string_view text, sys_seconds now) {
  const std::size_t comma = text.find(',');
  Pieces pieces(text);
  if (comma == 3) return pieces.weekday(3) ? fixdate(pieces) : std::nullopt;
  if (comma == std::string_view::npos) {
    return pieces.weekday(3) ? asctime_date(pieces) : std::nullopt;
  }
  return pieces.weekday(std::string_view::npos) ? rfc850_date(pieces, now) : std::nullopt;
}

DateText date_text(sys_seconds time) {
  constexpr sys_seconds kFirst = sys_days(std::chrono::year(0) / 1 / 1);
  constexpr sys_seconds kEnd = sys_days(std::chrono::year(10000) / 1 / 1);
  time = std::clamp(time, kFirst, kEnd - std::chrono::seconds(1));
  const sys_days day = std::chrono::floor<std::chrono::days>(time);
  const year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);

  DateText text;
  std::size_t size = 0;
  const auto put = [&](std::string_view piece) {
    size = static_cast<std::size_t>(std::copy(piece.begin(), piece.end(), &text[size]) - &text[0]);
  };
  const auto put_number = [&](long value, std::size_t digits) {
    for (std::size_t i = digits; i > 0; --i, value /= 10) {
      text[size + i - 1] = static_cast<char>('0' + value % 10);
    }
    size += digits;
  };
  put(kWeekdays[std::chrono::weekday(day).c_encoding()].substr(0, 3));
  put(", ");
  put_number(static_cast<unsigned>(date.day()), 2);
  put(" ");
  put(kMonths[static_cast<unsigned>(date.month()) - 1]);
  put(" ");
  put_number(static_cast<int>(date.year()), 4);
  put(" ");
  put_number(clock.hours().count(), 2);
  put(":");
  put_number(clock.minutes().count(), 2);
  put(":");
  put_number(clock.seconds().count(), 2);
  put(" GMT");
  return text;
}

}  // namespace spillway::http
