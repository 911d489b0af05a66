#include "http/outgoing/forwarded.hpp"

#include <algorithm>

#include "base/ip_address.hpp"
#include "http/field/ascii.hpp"
#include "http/message/target.hpp"

namespace spillway::http {

namespace {

constexpr std::string_view kFor = "X-Forwarded-For";

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && std::all_of(text.begin(), text.end(), is_digit);
}

std::string_view if_address(std::string_view text) {
  return parse_ip_address(text) ? text : std::string_view{};
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

std::string_view take(std::string_view& text, std::size_t size) {
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(taken.size());
  return taken;
}

// A value after '=': a token or a quoted string; false if it is neither. Quoted strings with
// escapes are skipped: the relevant values need none.
bool take_value(std::string_view& text, std::string_view& value) {
  if (!text.starts_with('"')) {
    value = take(text, text.find_first_of(" \t,;\""));
    return !value.empty();
  }
  bool is_escaped = false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      is_escaped = true;
      ++i;
    } else if (text[i] == '"') {
      value = is_escaped ? std::string_view{} : text.substr(1, i - 1);
      text.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

// One element, up to the comma after it or the end; false if it is not well-formed.
bool take_element(std::string_view& text, ForwardedElements::Element& element) {
  for (;;) {
    skip_blanks(text);
    if (text.empty() || text.front() == ',') return true;
    if (text.front() == ';') {
      text.remove_prefix(1);
      continue;
    }
    const auto end = std::find_if_not(text.begin(), text.end(), is_token);
    const std::string_view name = take(text, static_cast<std::size_t>(end - text.begin()));
    if (name.empty() || take(text, 1) != "=") return false;
    std::string_view value;
    if (!take_value(text, value)) return false;
    for (const auto& [known, member] :
         {std::pair{"for", &element.node}, {"host", &element.host}, {"proto", &element.proto}}) {
      if (iequals(name, known)) *member = value;
    }
    skip_blanks(text);
    if (!text.empty() && text.front() != ',' && text.front() != ';') return false;
  }
}

// The value of the only field of that name; empty if there is none or several.
std::string_view only_value(const FieldList& fields, std::string_view name) {
  std::string_view value;
  std::size_t count = 0;
  for (const Field& field : fields) {
    if (!iequals(field.name, name)) continue;
    value = field.value;
    ++count;
  }
  return count == 1 ? value : std::string_view{};
}

template <class Visit>
void for_each_entry(const FieldList& fields, Visit visit) {
  for (const Field& field : fields) {
    if (!iequals(field.name, kFor)) continue;
    for_each_element(field.value, [&](std::string_view entry) {
      if (!entry.empty()) visit(entry);
    });
  }
}

}  // namespace

std::string_view address_in(std::string_view node) {
  const std::size_t colon = node.rfind(':');
  if (node.starts_with('[')) {
    const std::size_t end = node.find(']');
    if (end == std::string_view::npos) return {};
    if (end + 1 != node.size() && (colon != end + 1 || !is_port(node.substr(colon + 1)))) return {};
    const std::string_view inside = node.substr(1, end - 1);
    return inside.find(':') == std::string_view::npos ? std::string_view{} : if_address(inside);
  }
  const bool has_port = colon != std::string_view::npos && node.find(':') == colon;
  if (!has_port) return if_address(node);
  return is_port(node.substr(colon + 1)) ? if_address(node.substr(0, colon)) : std::string_view{};
}

ForwardedElements::ForwardedElements(const FieldList& fields) {
  if (!fields.contains(FieldId::forwarded)) return;
  for (const Field& field : fields) {
    if (field.id == FieldId::forwarded) well_formed_ = well_formed_ && read(field.value);
  }
}

// Empty elements are skipped (RFC 9110 section 5.6.1.2).
bool ForwardedElements::read(std::string_view list) {
  for (;;) {
    skip_blanks(list);
    Element element;
    const std::size_t before = list.size();
    if (!take_element(list, element)) return false;
    if (list.size() != before) ring_[count_++ % kMaxConverted] = element;
    if (list.empty()) return true;
    list.remove_prefix(1);
  }
}

void ForwardedElements::write_as_x_forwarded_for(TextWriter& out) const {
  for (std::size_t i = count_ - std::min(count_, kMaxConverted); i < count_; ++i) {
    const std::string_view address = address_in(ring_[i % kMaxConverted].node);
    out << (address.empty() ? std::string_view("unknown") : address) << ", ";
  }
}

void write_as_forwarded(TextWriter& out, const FieldList& fields) {
  std::size_t count = 0;
  for_each_entry(fields, [&](std::string_view) { ++count; });
  std::size_t at = 0;
  for_each_entry(fields, [&](std::string_view entry) {
    if (++at + kMaxConverted <= count) return;
    const std::string_view address = address_in(entry);
    if (address.empty()) {
      out << "for=unknown";
    } else if (address.find(':') != std::string_view::npos) {
      out << "for=\"[" << address << "]\"";
    } else {
      out << "for=" << address;
    }
    if (at == count) {
      const std::string_view host = only_value(fields, "X-Forwarded-Host");
      const std::string_view proto = only_value(fields, "X-Forwarded-Proto");
      if (is_convertible_host(host)) out << ";host=\"" << host << '"';
      if (is_convertible_proto(proto)) out << ";proto=" << proto;
    }
    out << ", ";
  });
}

bool is_convertible_proto(std::string_view proto) {
  return proto.size() <= 16 && is_token_text(proto);
}

// A valid authority has neither quote nor backslash.
bool is_convertible_host(std::string_view host) {
  return host.size() <= kMaxConvertedHost && valid_authority(host);
}

}  // namespace spillway::http
