#include "jobs/stored_request.hpp"

#include <algorithm>
#include <array>

#include "http/field/ascii.hpp"
#include "http/message/hop_by_hop.hpp"
#include "jobs/idempotency.hpp"

namespace spillway::jobs {
namespace {

bool is_left_out(std::string_view name) {
  constexpr std::array<std::string_view, 8> names{
      "Prefer",         "Expect",    "TE", "Trailer", "Connection", "Transfer-Encoding",
      "Content-Length", "Keep-Alive"};
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view one) { return http::iequals(one, name); });
}

// Methods whose requests are expected to have content (RFC 9110 section 8.6).
bool expects_content(http::Verb method) {
  return method == http::Verb::post || method == http::Verb::put || method == http::Verb::patch;
}

// Removes and returns the next line, with its CRLF; empty at the end of the head.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  if (end == rest.npos || end == 0) return {};
  const std::string_view line = rest.substr(0, end + 2);
  rest.remove_prefix(line.size());
  return line;
}

std::string_view name_of(std::string_view line) { return line.substr(0, line.find(':')); }

}  // namespace

std::string stored_head(std::string_view forwarded, http::Verb method, std::uint64_t content) {
  std::string out(take_line(forwarded));
  if (out.empty()) return {};
  for (std::string_view line = take_line(forwarded); !line.empty(); line = take_line(forwarded))
    if (!is_left_out(name_of(line))) out += line;
  if (content > 0 || expects_content(method))
    out += "Content-Length: " + std::to_string(content) + "\r\n";
  return out + "\r\n";
}

void head_for_attempt(std::string_view stored, const JobId& id, std::uint32_t attempt,
                      std::string& out) {
  out = stored.substr(0, stored.size() - 2);
  bool has_key = false;
  take_line(stored);
  for (std::string_view line = take_line(stored); !line.empty(); line = take_line(stored))
    has_key = has_key || http::iequals(name_of(line), kIdempotencyKey);
  if (!has_key) out += std::string(kIdempotencyKey) + ": \"" + to_text(id) + "\"\r\n";
  out += "Spillway-Attempt: " + std::to_string(attempt) + "\r\n\r\n";
}

std::string stored_fields(const http::ResponseHead& head) {
  const http::HopByHop hop(head.fields);
  std::string out;
  for (const http::Field& field : head.fields) {
    if (hop.strips(field) || field.id == http::FieldId::content_length ||
        field.id == http::FieldId::transfer_encoding || field.id == http::FieldId::trailer)
      continue;
    out.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  return out;
}

}  // namespace spillway::jobs
