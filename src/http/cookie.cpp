#include "http/cookie.hpp"

namespace spillway::http {
namespace {

constexpr std::string_view kCookieBlanks = " \t";

std::string_view trim_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kCookieBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kCookieBlanks) - first + 1);
}

std::string_view between(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

// The field's line, with its line end, which a head has behind each value.
std::string_view line_of(const Field& field) {
  const char* end = field.value.data() + field.value.size();
  while (*end != '\n') ++end;
  return between(field.name.data(), end + 1);
}

// `pair` lies between separators in the field's value.
std::string_view part_of(const Field& field, std::string_view pair) {
  const char* const begin = field.value.data();
  const char* const end = begin + field.value.size();
  const char* const next = pair.data() + pair.size();
  if (pair.data() != begin) return between(pair.data() - 1, next);
  return next == end ? line_of(field) : between(begin, next + 1);
}

std::optional<Cookie> find_in(const Field& field, std::string_view prefix) {
  for (std::string_view rest = field.value;;) {
    const std::string_view pair = rest.substr(0, rest.find(';'));
    const std::string_view text = trim_blanks(pair);
    if (text.starts_with(prefix)) {
      const std::size_t equals = text.find('=');
      const bool has_value = equals != std::string_view::npos;
      return Cookie{text.substr(0, equals),
                    has_value ? text.substr(equals + 1) : std::string_view{}, part_of(field, pair)};
    }
    if (pair.size() == rest.size()) return std::nullopt;
    rest.remove_prefix(pair.size() + 1);
  }
}

}  // namespace

std::optional<Cookie> find_cookie(const FieldList& fields, std::string_view prefix) {
  if (!fields.contains(FieldId::cookie)) return std::nullopt;
  for (const Field& field : fields) {
    if (field.id != FieldId::cookie) continue;
    if (std::optional<Cookie> found = find_in(field, prefix)) return found;
  }
  return std::nullopt;
}

}  // namespace spillway::http
