#include "http/field/cookie.hpp"

#include <cstring>

namespace spillway::http {
namespace {

constexpr std::string_view kCookieBlanks = " \t";

std::string_view trim_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kCookieBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kCookieBlanks) - first + 1);
}

// Calls act(std::string_view) with each cookie, without the blanks around it.
template <class Act>
void for_each_pair(const FieldList& fields, Act act) {
  if (!fields.contains(FieldId::cookie)) return;
  for (const Field& field : fields) {
    if (field.id != FieldId::cookie) continue;
    for (std::string_view rest = field.value;;) {
      const std::size_t separator = rest.find(';');
      act(trim_blanks(rest.substr(0, separator)));
      if (separator == std::string_view::npos) break;
      rest.remove_prefix(separator + 1);
    }
  }
}

// Removes parts of a text, from its end to its beginning, and moves the bytes it keeps only once.
class Excision {
 public:
  explicit Excision(std::span<char> text)
      : begin_(text.data()), rest_(begin_ + text.size()), kept_(rest_) {}

  // Removes [from, to), which must lie before everything removed so far.
  void take(const char* from, const char* to) {
    keep(to);
    rest_ = begin_ + (from - begin_);
  }
  // Removes that many bytes more, right behind the part removed last.
  void take_next(std::size_t size) { kept_ += size; }
  // The bytes kept are now at the end of the text. Returns the number of bytes removed.
  std::size_t finish() {
    keep(begin_);
    return static_cast<std::size_t>(kept_ - begin_);
  }

 private:
  void keep(const char* from) {
    const auto size = static_cast<std::size_t>(rest_ - from);
    kept_ -= size;
    if (kept_ != from) std::memmove(kept_, from, size);
  }

  char* begin_;
  char* rest_;  // the bytes before it have not been examined yet
  char* kept_;
};

// The position after the line end that follows the field's value in the head. Call it before
// anything is removed from the field: then other bytes follow the value.
const char* end_of_line(const Field& field, const char* end_of_head) {
  const char* at = field.value.data() + field.value.size();
  while (at < end_of_head && *at != '\n') ++at;
  return at < end_of_head ? at + 1 : at;
}

// For one line. A cookie is removed with the separator before it, the first one with the separator
// after it; a line with nothing but blanks left is removed as a whole.
void extract_from(const Field& line, const char* line_end, const CookieFilter& is_taken,
                  Excision& out) {
  const char* const begin = line.value.data();
  auto left = static_cast<std::size_t>(line_end - begin);
  bool keeps_any = false;
  bool takes_any = false;
  for (std::string_view rest = line.value;;) {
    const std::size_t separator = rest.rfind(';');
    const bool is_first = separator == std::string_view::npos;
    const std::string_view pair = is_first ? rest : rest.substr(separator + 1);
    const std::string_view text = trim_blanks(pair);
    const std::size_t equals = text.find('=');
    const bool has_value = equals != std::string_view::npos;
    if (has_value && is_taken(text.substr(0, equals), text.substr(equals + 1))) {
      takes_any = true;
      const char* const from = is_first ? begin : pair.data() - 1;
      const char* const to = pair.data() + pair.size();
      out.take(from, to);
      left -= static_cast<std::size_t>(to - from);
      if (is_first && keeps_any) out.take_next(1);
    } else if (!text.empty()) {
      keeps_any = true;
    }
    if (is_first) break;
    rest = rest.substr(0, separator);
  }
  if (keeps_any || !takes_any) return;
  out.take(begin, begin);
  out.take_next(left);
  out.take(line.name.data(), begin);
}

}  // namespace

bool has_cookie(const FieldList& fields, std::string_view pair) {
  bool has_it = false;
  for_each_pair(fields, [&](std::string_view text) { has_it = has_it || text == pair; });
  return has_it;
}

FoundCookie find_cookie(const FieldList& fields, std::string_view name) {
  FoundCookie found;
  for_each_pair(fields, [&](std::string_view text) {
    const std::size_t equals = text.find('=');
    // Some backends allow blanks before the equals sign.
    if (equals == std::string_view::npos || trim_blanks(text.substr(0, equals)) != name) return;
    ++found.count;
    found.value = trim_blanks(text.substr(equals + 1));
  });
  return found;
}

std::size_t extract_cookies(std::span<char> head, const FieldList& fields,
                            const CookieFilter& is_taken) {
  if (!fields.contains(FieldId::cookie)) return 0;
  Excision out(head);
  const char* const end = head.data() + head.size();
  for (std::size_t n = fields.size(); n-- > 0;) {
    const Field& field = fields[n];
    if (field.id == FieldId::cookie) extract_from(field, end_of_line(field, end), is_taken, out);
  }
  return out.finish();
}

}  // namespace spillway::http
