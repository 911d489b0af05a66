// The syntax of texts in the file.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/time_text.hpp"

namespace spillway::config {

struct Format {
  std::string_view allowed;  // in words, e.g. "a numeric IP address"
  bool (*accepts)(std::string_view);
  bool secret = false;  // never shown: not in messages, not in dumps
};

bool is_name(std::string_view text);           // [A-Za-z0-9_.-]{1,64}, no reserved word
bool is_class_name(std::string_view text);     // a name that is not reserved
bool is_address(std::string_view text);        // IPv4 or IPv6 literal
bool is_loopback(std::string_view address);    // of an address: 127.0.0.0/8 or ::1
bool is_server(std::string_view text);         // host:port or [v6]:port
bool is_peer(std::string_view text);           // address or CIDR block
bool is_method(std::string_view text);         // upper-case token
bool is_host(std::string_view text);           // lower-case host name or address, no port
bool is_path_pattern(std::string_view text);   // literal segments, *, a final /**
bool is_token(std::string_view text);          // printable ASCII without blanks, or empty
bool is_secret(std::string_view text);         // the same, and not empty
bool is_sha256(std::string_view text);         // 64 hexadecimal digits
bool is_field_name(std::string_view text);     // an HTTP field name (RFC 9110 5.1), or empty
bool is_request_field(std::string_view text);  // the same, not empty, and not the "*" of Vary
bool is_answer_field(std::string_view text);   // a field that a fallback may set
bool is_field_value(std::string_view text);    // printable ASCII, blanks and tabs within
bool is_stored_method(std::string_view text);  // GET, HEAD
bool is_file_name(std::string_view text);      // not empty, no control characters
bool is_directory(std::string_view text);      // an absolute path
bool is_protocol(std::string_view text);       // a protocol for Upgrade, except h2c
bool is_probe_target(std::string_view text);   // a path with or without a query, or empty
bool is_store_url(std::string_view text);      // memory:, sqlite:FILE, postgresql://, or empty
bool is_own_path(std::string_view text);       // a path of literal segments, or empty
bool is_key_id(std::string_view text);         // printable ASCII without blanks, or empty
bool is_cookie_name(std::string_view text);    // none of Spillway's own, or empty
bool is_message(std::string_view text);        // up to 500 bytes without control characters
bool is_page_language(std::string_view text);  // one that the waiting page has
bool is_content(std::string_view text);        // not empty, up to kMaxContentBytes

inline constexpr Format kName{
    "1 to 64 letters, digits, '_', '.' or '-', other than the reserved \"other\" and \"default\"",
    is_name};
// Reserved for internal classes, e.g. for background work: spillway-...
inline constexpr Format kNewClass{
    "1 to 64 letters, digits, '_', '.' or '-', other than the reserved \"default\", \"none\", "
    "\"other\", \"total\" and what begins with \"spillway\"",
    is_class_name};
inline constexpr Format kAddress{"a numeric IPv4 or IPv6 address", is_address};
inline constexpr Format kServer{"\"host:port\" or \"[IPv6]:port\", port 1 to 65535", is_server};
inline constexpr Format kPeer{"an IP address or a CIDR block such as \"10.0.0.0/8\"", is_peer};
inline constexpr Format kMethod{"a method in upper case, e.g. \"POST\"", is_method};
inline constexpr Format kHost{"a host name in lower case, without port; empty: any", is_host};
inline constexpr Format kPathPattern{
    "a path that starts with '/', '*' for one whole segment, '**' only as the last one, no empty "
    "or dot segments, no '/' at the end",
    is_path_pattern};
inline constexpr Format kToken{"8 to 256 printable ASCII characters without blanks, or empty",
                               is_token, true};
inline constexpr Format kSecret{"8 to 256 printable ASCII characters without blanks", is_secret,
                                true};
inline constexpr Format kSha256{"64 hexadecimal digits", is_sha256, true};
inline constexpr Format kProtocol{
    "the name of a protocol in lower case, e.g. \"websocket\", other than h2c", is_protocol};
inline constexpr Format kProbeTarget{
    "a path that starts with '/', with or without a query, or empty", is_probe_target};
inline constexpr Format kTarget{
    "a path that starts with '/', with or without a query",
    [](std::string_view text) { return !text.empty() && is_probe_target(text); }};
inline constexpr Format kFieldName{"the name of an HTTP field, or empty", is_field_name};
inline constexpr Format kRequestField{"the name of an HTTP field", is_request_field};
inline constexpr Format kAnswerField{
    "the name of an HTTP field that Spillway does not set or take out itself (Content-Length, "
    "Content-Encoding, Content-Range, Age, Cache-Status, Date, Proxy-Status, "
    "X-Request-Id, Spillway-* and the fields that end at each hop)",
    is_answer_field};
inline constexpr Format kFieldValue{
    "up to 4096 printable ASCII characters, blanks and tabs only between them", is_field_value};
inline constexpr Format kStoredMethod{
    "\"GET\" or \"HEAD\" (no answer to another method is good for the next request)",
    is_stored_method};
inline constexpr Format kFileName{"the name of a file, up to 4096 bytes without control characters",
                                  is_file_name};
inline constexpr Format kOptionalName{
    "as a name: 1 to 64 letters, digits, '_', '.' or '-', other than \"other\" and \"default\"; or "
    "empty",
    [](std::string_view text) { return text.empty() || is_name(text); }};
inline constexpr Format kSizeName{
    "1 to 64 letters, digits, '_', '.' or '-', other than the reserved \"type\", \"duration_ms\", "
    "\"max_wait_ms\", \"other\" and \"default\"",
    [](std::string_view text) {
      return is_name(text) && text != "type" && text != "duration_ms" && text != "max_wait_ms";
    }};
inline constexpr Format kOptionalFileName{
    "the name of a file, up to 4096 bytes without control characters, or empty",
    [](std::string_view text) { return text.empty() || is_file_name(text); }};
inline constexpr Format kStoreUrl{
    "\"memory:\", \"sqlite:FILE\" or \"postgresql://...\" without a password (it would be shown; "
    "libpq takes one from PGPASSFILE), or empty",
    is_store_url};
inline constexpr Format kOwnPath{
    "a path of one or more literal segments, without '/' at the end, or empty", is_own_path};
inline constexpr Format kDirectory{
    "the absolute path of a directory, up to 4096 bytes without control characters", is_directory};
inline constexpr std::size_t kMaxContentBytes = 1024 * 1024;
inline constexpr Format kMessage{"a text of up to 500 bytes without control characters",
                                 is_message};
inline constexpr Format kKeyId{"up to 256 printable ASCII characters without blanks, or empty",
                               is_key_id};
inline constexpr Format kCookieName{
    "the name of a cookie other than Spillway's own (spillway-...), or empty", is_cookie_name};
inline constexpr Format kGivenCookieName{
    "the name of a cookie other than Spillway's own (spillway-...)",
    [](std::string_view text) { return !text.empty() && is_cookie_name(text); }};
inline constexpr Format kClaimName{
    "a text of 1 to 500 bytes without control characters",
    [](std::string_view text) { return !text.empty() && is_message(text); }};
inline constexpr Format kTimeOfDay{
    "a time as \"2026-12-01T10:00:00Z\" (RFC 3339), or empty",
    [](std::string_view text) { return text.empty() || parse_time(text).has_value(); }};
inline constexpr Format kPageLanguage{"\"ar\", \"de\", \"en\", \"es\" or \"fr\"", is_page_language};
inline constexpr Format kContent{"a text of 1 to 1048576 bytes", is_content};

// Replaces secrets in dumps. Not accepted as a secret itself.
inline constexpr std::string_view kRedacted = "<redacted>";

}  // namespace spillway::config
