#include "config/format.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

#include "base/ip_address.hpp"
#include "base/sha256.hpp"

namespace spillway::config {

namespace {

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

template <class Predicate>
bool all(std::string_view text, Predicate predicate) {
  return std::all_of(text.begin(), text.end(), predicate);
}

// A decimal number without sign in [min, max], and nothing else.
bool is_number(std::string_view text, unsigned min, unsigned max) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= min && value <= max;
}

bool is_ipv4(std::string_view text) {
  const auto parsed = parse_ip_address(text);
  return parsed && parsed->is_v4() && text.find(':') == text.npos;
}

bool is_ipv6(std::string_view text) {
  return parse_ip_address(text).has_value() && text.find(':') != text.npos;
}

bool is_host_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 && text.front() != '-' && text.front() != '.' &&
         text.find("..") == text.npos && all(text, [](char c) {
           return is_upper(c) || is_lower(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
         });
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text != "other" && text != "default" &&
         all(text, [](char c) {
           return is_upper(c) || is_lower(c) || is_digit(c) || c == '_' || c == '.' || c == '-';
         });
}

bool is_class_name(std::string_view text) {
  return is_name(text) && text != "none" && text != "total" && !text.starts_with("spillway");
}

bool is_address(std::string_view text) { return is_ipv4(text) || is_ipv6(text); }

bool is_loopback(std::string_view address) {
  constexpr IpBlock v4{{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127}}, 96 + 8};
  constexpr IpBlock v6{{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}, 128};
  const auto parsed = parse_ip_address(address);
  return parsed && (v4.contains(*parsed) || v6.contains(*parsed));
}

bool is_server(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == text.npos || !is_number(text.substr(colon + 1), 1, 65535)) return false;
  const auto host = text.substr(0, colon);
  if (host.starts_with('[')) return host.ends_with(']') && is_ipv6(host.substr(1, host.size() - 2));
  // Digits and dots alone are taken for an address: "1.2.3" is an error, not a name.
  const bool numeric = all(host, [](char c) { return is_digit(c) || c == '.'; });
  return numeric ? is_ipv4(host) : is_host_name(host);
}

bool is_peer(std::string_view text) {
  IpBlock ignored;
  return parse_ip_block(text, ignored).empty();
}

bool is_method(std::string_view text) {
  return !text.empty() && text.size() <= 32 &&
         all(text, [](char c) { return is_upper(c) || is_digit(c) || c == '-' || c == '_'; });
}

bool is_host(std::string_view text) {
  if (text.empty()) return true;
  if (text.starts_with('[')) return text.ends_with(']') && is_ipv6(text.substr(1, text.size() - 2));
  return is_host_name(text) && !std::any_of(text.begin(), text.end(), is_upper);
}

bool is_path_pattern(std::string_view text) {
  if (!text.starts_with('/') || text.size() > 1024) return false;
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return is_control(c) || c == '?' || c == '#'; })) {
    return false;
  }
  if (text == "/") return true;
  for (std::size_t start = 1; start <= text.size();) {
    const auto end = std::min(text.find('/', start), text.size());
    const auto segment = text.substr(start, end - start);
    const bool last = end == text.size();
    if (segment.empty() || segment == "." || segment == "..") return false;
    if (segment == "**" ? !last : segment != "*" && segment.find('*') != segment.npos) return false;
    start = end + 1;
  }
  return true;
}

bool is_token(std::string_view text) {
  if (text.empty()) return true;
  return text.size() >= 8 && text.size() <= 256 && text != kRedacted &&
         all(text, [](char c) { return c > ' ' && c <= '~'; });
}

bool is_secret(std::string_view text) { return !text.empty() && is_token(text); }

bool is_sha256(std::string_view text) { return parse_sha256(text).has_value(); }

bool is_request_field(std::string_view text) {
  return !text.empty() && text != "*" && is_field_name(text);
}

bool is_answer_field(std::string_view text) {
  constexpr std::string_view ours[] = {
      // hop-by-hop fields (RFC 9110 7.6.1) and fields of proxies
      "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info",
      "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
      // fields computed from the text and the time
      "age", "cache-status", "content-encoding", "content-length", "content-range", "date",
      "proxy-status", "x-request-id"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
  return !text.empty() && is_field_name(text) && !lower.starts_with("spillway-") &&
         std::find(std::begin(ours), std::end(ours), lower) == std::end(ours);
}

bool is_field_value(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto is_printable = [](char c) { return c > ' ' && c <= '~'; };
  return text.size() <= 4096 && all(text, [&](char c) { return is_printable(c) || is_blank(c); }) &&
         (text.empty() || (is_printable(text.front()) && is_printable(text.back())));
}

bool is_stored_method(std::string_view text) { return text == "GET" || text == "HEAD"; }

bool is_file_name(std::string_view text) {
  return !text.empty() && text.size() <= 4096 && !std::any_of(text.begin(), text.end(), is_control);
}

// A password is not allowed: it would appear in the dump of the configuration.
bool is_store_url(std::string_view text) {
  if (text.empty() || text == "memory:") return true;
  if (text.starts_with("sqlite:")) return is_file_name(text.substr(7));
  const bool is_postgresql = text.starts_with("postgresql://") || text.starts_with("postgres://");
  if (!is_postgresql || !is_file_name(text)) return false;
  const auto authority = text.substr(text.find("//") + 2);
  const auto user = authority.substr(0, authority.find('/')).find('@');
  const bool has_password =
      (user != text.npos && authority.substr(0, user).find(':') != text.npos) ||
      text.find("password=") != text.npos;
  return !has_password;
}

bool is_own_path(std::string_view text) {
  return text.empty() || (text != "/" && text.find('*') == text.npos &&
                          text.find('%') == text.npos && is_path_pattern(text));
}

bool is_directory(std::string_view text) { return text.starts_with('/') && is_file_name(text); }

bool is_protocol(std::string_view text) {
  return !text.empty() && is_field_name(text) && text != "h2c" &&
         std::none_of(text.begin(), text.end(), is_upper);
}

bool is_probe_target(std::string_view text) {
  if (text.empty()) return true;
  return text.front() == '/' && text.size() <= 2048 &&
         all(text, [](char c) { return c > ' ' && c <= '~' && c != '#'; });
}

bool is_key_id(std::string_view text) {
  return text.size() <= 256 && all(text, [](char c) { return c > ' ' && c <= '~'; });
}

bool is_cookie_name(std::string_view text) {
  return is_field_name(text) && !text.starts_with("spillway-") &&
         !text.starts_with("__Host-spillway-");
}

bool is_message(std::string_view text) {
  return text.size() <= 500 &&
         all(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

bool is_page_language(std::string_view text) {
  return text == "ar" || text == "de" || text == "en" || text == "es" || text == "fr";
}

bool is_content(std::string_view text) { return !text.empty() && text.size() <= kMaxContentBytes; }

bool is_field_name(std::string_view text) {
  return text.size() <= 64 && all(text, [](char c) {
           return is_upper(c) || is_lower(c) || is_digit(c) ||
                  std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
         });
}

}  // namespace spillway::config
