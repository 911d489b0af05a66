#include "http/caching/targeted_control.hpp"

#include <algorithm>
#include <cstdint>

#include "http/field/ascii.hpp"

namespace spillway::http {
namespace {

using std::chrono::seconds;

// The value of a member, as far as cache directives use it.
struct StructuredItem {
  enum class Type : std::uint8_t { boolean, integer, other };
  Type type = Type::boolean;
  std::int64_t number = 1;
};

bool is_small_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) { return is_small_letter(to_lower(c)); }

// Parses structured fields (RFC 8941 section 4.2). Each function removes the item it reads from the
// front; false if the item is not there.
class StructuredReader {
 public:
  explicit StructuredReader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  void skip_spaces() {
    skip([](char c) { return c == ' '; });
  }
  void skip_white_space() {
    skip([](char c) { return c == ' ' || c == '\t'; });
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool key(std::string_view& name) {
    if (rest_.empty() || (!is_small_letter(rest_[0]) && rest_[0] != '*')) return false;
    name = skip([](char c) {
      return is_small_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*';
    });
    return true;
  }
  bool member_value(StructuredItem& item) {
    if (!take('=')) {
      item = {};
    } else if (rest_.starts_with('(')) {
      item.type = StructuredItem::Type::other;
      if (!inner_list()) return false;
    } else if (!bare_item(item)) {
      return false;
    }
    return parameters();
  }

 private:
  template <class Is>
  std::string_view skip(Is is) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is);
    const std::string_view skipped = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(skipped.size());
    return skipped;
  }
  bool parameters() {
    while (take(';')) {
      std::string_view name;
      StructuredItem ignored;
      skip_spaces();
      if (!key(name)) return false;
      if (take('=') && !bare_item(ignored)) return false;
    }
    return true;
  }
  bool inner_list() {
    take('(');
    for (;;) {
      skip_spaces();
      if (take(')')) return true;
      StructuredItem ignored;
      if (!bare_item(ignored) || !parameters()) return false;
      if (!rest_.starts_with(' ') && !rest_.starts_with(')')) return false;
    }
  }
  bool bare_item(StructuredItem& item) {
    if (rest_.empty()) return false;
    const char first = rest_[0];
    if (first == '-' || is_digit(first)) return number(item);
    if (first == '?') return boolean(item);
    item.type = StructuredItem::Type::other;
    if (first == '"') return string();
    if (first == ':') return take(':') && (skip(is_base64), take(':'));
    if (!is_letter(first) && first != '*') return false;
    skip([](char c) { return is_token(c) || c == ':' || c == '/'; });
    return true;
  }
  bool number(StructuredItem& item) {
    const bool is_negative = take('-');
    const std::string_view digits = skip(is_digit);
    if (digits.empty() || digits.size() > 15) return false;
    item = {StructuredItem::Type::integer, 0};
    for (const char c : digits) item.number = item.number * 10 + (c - '0');
    if (is_negative) item.number = -item.number;
    if (!take('.')) return true;
    item.type = StructuredItem::Type::other;
    const std::string_view fraction = skip(is_digit);
    return digits.size() <= 12 && !fraction.empty() && fraction.size() <= 3;
  }
  bool boolean(StructuredItem& item) {
    take('?');
    item.number = rest_.starts_with('1') ? 1 : 0;
    return take('1') || take('0');
  }
  bool string() {
    take('"');
    while (!rest_.empty()) {
      const char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (c == '\\' && !take('"') && !take('\\')) return false;
      if (c < 0x20 || c > 0x7e) return false;
    }
    return false;
  }
  static bool is_base64(char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '/' || c == '=';
  }

  std::string_view rest_;
};

struct FlagDirective {
  std::string_view name;
  bool CacheControl::*value;
};
constexpr FlagDirective kFlags[] = {{"no-cache", &CacheControl::no_cache},
                                    {"no-store", &CacheControl::no_store},
                                    {"no-transform", &CacheControl::no_transform},
                                    {"public", &CacheControl::is_public},
                                    {"private", &CacheControl::is_private},
                                    {"must-revalidate", &CacheControl::must_revalidate},
                                    {"proxy-revalidate", &CacheControl::proxy_revalidate},
                                    {"must-understand", &CacheControl::must_understand},
                                    {"immutable", &CacheControl::immutable}};
struct TimeDirective {
  std::string_view name;
  std::optional<seconds> CacheControl::*value;
};
constexpr TimeDirective kTimes[] = {
    {"max-age", &CacheControl::max_age},
    {"s-maxage", &CacheControl::s_maxage},
    {"stale-while-revalidate", &CacheControl::stale_while_revalidate},
    {"stale-if-error", &CacheControl::stale_if_error}};

// False: the value has another type.
bool apply_member(std::string_view name, const StructuredItem& item, CacheControl& out) {
  for (const FlagDirective& flag : kFlags) {
    if (flag.name != name) continue;
    out.*flag.value = item.type != StructuredItem::Type::boolean || item.number != 0;
    // no-cache and private may have a list of fields, but apply to the whole response.
    return item.type == StructuredItem::Type::boolean || name == "no-cache" || name == "private";
  }
  for (const TimeDirective& time : kTimes) {
    if (time.name != name) continue;
    const std::int64_t most = kMaxDeltaSeconds.count();
    out.*time.value = seconds(std::clamp<std::int64_t>(item.number, 0, most));
    return item.type == StructuredItem::Type::integer;
  }
  return true;
}

// One field line: a complete dictionary, since a comma between lines is like one within a line.
bool read_dictionary(std::string_view line, CacheControl& out) {
  StructuredReader reader(line);
  reader.skip_spaces();
  while (!reader.at_end()) {
    std::string_view name;
    StructuredItem item;
    if (!reader.key(name) || !reader.member_value(item) || !apply_member(name, item, out))
      return false;
    out.present = true;
    reader.skip_white_space();
    if (reader.at_end()) return true;
    if (!reader.take(',')) return false;
    reader.skip_white_space();
    if (reader.at_end()) return false;
  }
  return true;
}

}  // namespace

std::optional<CacheControl> targeted_cache_control(const FieldList& fields, std::string_view name) {
  CacheControl control;
  for (const Field& field : fields) {
    if (iequals(field.name, name) && !read_dictionary(field.value, control)) return std::nullopt;
  }
  if (!control.present) return std::nullopt;
  return control;
}

}  // namespace spillway::http
