#include "http/caching/cache_control.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "http/field/ascii.hpp"

namespace spillway::http {
namespace {

using std::chrono::seconds;

struct Directive {
  std::string_view name;
  std::optional<std::string_view> argument;  // without quotes
};

Directive directive_of(std::string_view element) {
  const std::size_t equals = element.find('=');
  Directive directive{trim(element.substr(0, equals)), std::nullopt};
  if (equals == std::string_view::npos) return directive;
  std::string_view argument = element.substr(equals + 1);
  if (argument.size() >= 2 && argument.front() == '"' && argument.back() == '"') {
    argument = argument.substr(1, argument.size() - 2);
  }
  // White space before the "=" is not allowed: such a number cannot be relied on.
  const bool spaced = directive.name.size() != equals;
  directive.argument = spaced ? std::string_view(" ") : argument;
  return directive;
}

seconds seconds_of(const Directive& directive, seconds otherwise = seconds(0)) {
  return parse_delta_seconds(directive.argument.value_or("")).value_or(otherwise);
}

void limit(std::optional<seconds>& to, seconds value) { to = std::min(to.value_or(value), value); }

void apply(const Directive& directive, CacheControl& out) {
  const auto is = [&](std::string_view name) { return iequals(directive.name, name); };
  if (is("max-age")) {
    limit(out.max_age, seconds_of(directive));
  } else if (is("s-maxage")) {
    limit(out.s_maxage, seconds_of(directive));
  } else if (is("no-cache")) {
    out.no_cache = true;
  } else if (is("no-store")) {
    out.no_store = true;
  } else if (is("private")) {
    out.is_private = true;
  } else if (is("public")) {
    out.is_public = true;
  } else if (is("must-revalidate")) {
    out.must_revalidate = true;
  } else if (is("proxy-revalidate")) {
    out.proxy_revalidate = true;
  } else if (is("must-understand")) {
    out.must_understand = true;
  } else if (is("no-transform")) {
    out.no_transform = true;
  } else if (is("immutable")) {
    out.immutable = true;
  } else if (is("stale-while-revalidate")) {
    limit(out.stale_while_revalidate, seconds_of(directive));
  } else if (is("stale-if-error")) {
    limit(out.stale_if_error, seconds_of(directive));
  } else if (is("only-if-cached")) {
    out.only_if_cached = true;
  } else if (is("max-stale")) {
    limit(out.max_stale, directive.argument ? seconds_of(directive) : kMaxDeltaSeconds);
  } else if (is("min-fresh")) {
    const seconds value = seconds_of(directive, kMaxDeltaSeconds);
    out.min_fresh = std::max(out.min_fresh.value_or(value), value);
  }
}

// The end of the list element at the front of the text: its comma, or the text's end. Nothing if a
// quoted string in it is not terminated (RFC 9110 section 5.6.4).
std::optional<std::size_t> element_end(std::string_view text) {
  const std::string_view unquoted = text.substr(0, text.find(','));
  if (unquoted.find('"') == std::string_view::npos) return unquoted.size();
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == ',' && !quoted) return i;
    if (text[i] == '\\' && quoted) ++i;
  }
  if (quoted) return std::nullopt;
  return text.size();
}

void read_line(std::string_view line, CacheControl& out) {
  for (;;) {
    const auto end = element_end(line);
    if (!end) {
      out.no_store = out.is_private = true;
      return;
    }
    apply(directive_of(trim(line.substr(0, *end))), out);
    if (*end == line.size()) return;
    line.remove_prefix(*end + 1);
  }
}

}  // namespace

std::optional<seconds> parse_delta_seconds(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    value = std::min<std::int64_t>(value * 10 + (c - '0'), kMaxDeltaSeconds.count());
  }
  return seconds(value);
}

CacheControl cache_control(const FieldList& fields) {
  CacheControl control;
  if (!fields.contains(FieldId::cache_control)) return control;
  control.present = true;
  for (const Field& field : fields) {
    if (field.id == FieldId::cache_control) read_line(field.value, control);
  }
  return control;
}

bool pragma_no_cache(const FieldList& fields) {
  if (!fields.contains(FieldId::pragma)) return false;
  bool found = false;
  for (const Field& field : fields) {
    if (field.id != FieldId::pragma) continue;
    for_each_element(field.value,
                     [&](std::string_view directive) { found |= iequals(directive, "no-cache"); });
  }
  return found;
}

CacheControl request_cache_control(const FieldList& fields) {
  CacheControl control = cache_control(fields);
  if (!control.present) control.no_cache = pragma_no_cache(fields);
  return control;
}

}  // namespace spillway::http
