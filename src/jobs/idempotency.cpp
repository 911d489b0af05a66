#include "jobs/idempotency.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "http/field/ascii.hpp"
#include "http/field/cookie.hpp"
#include "http/field/credentials.hpp"

namespace spillway::jobs {
namespace {

constexpr std::size_t kLongestKey = 255;

bool is_visible(char c) { return c > ' ' && c <= '~'; }

// The contents of a quoted string, unescaped; nullopt if it is not one.
std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return std::nullopt;
    if (text[i] == '\\' && (++i == text.size() || (text[i] != '"' && text[i] != '\\')))
      return std::nullopt;
    if (text[i] < ' ' || text[i] > '~') return std::nullopt;
    out += text[i];
  }
  return out;
}

// Each part follows its length, so that different lists of parts never give the same text.
Digest digest_of(std::span<const std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += std::to_string(part.size()) + ':';
  for (const std::string_view part : parts) text += part;
  const Sha256 whole = sha256(text);
  Digest digest;
  std::copy_n(whole.begin(), digest.size(), digest.begin());
  return digest;
}

}  // namespace

ReadKey read_idempotency_key(const http::FieldList& fields) {
  const http::Field* found = nullptr;
  for (const http::Field& field : fields) {
    if (field.id != http::FieldId::unknown || !http::iequals(field.name, kIdempotencyKey)) continue;
    if (found != nullptr) return {std::nullopt, true};
    found = &field;
  }
  if (found == nullptr) return {};
  const std::string_view text = found->value;
  std::optional<std::string> key;
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    key = unescaped(text.substr(1, text.size() - 2));
  } else if (std::all_of(text.begin(), text.end(), is_visible) &&
             text.find_first_of("\",") == text.npos) {
    key = std::string(text);
  }
  if (!key || key->empty() || key->size() > kLongestKey) return {std::nullopt, true};
  return {std::move(key), false};
}

// With only one Authorization the text is that of earlier versions, so that their jobs are found.
// No value contains a line end, so the line ends distinguish it from all others.
std::string principal_of(std::string_view tenant, const http::FieldList& fields) {
  std::vector<std::pair<std::string_view, const http::Field*>> credentials;
  for (const std::string_view name : http::kCredentials)
    for (const http::Field& field : fields)
      if (http::iequals(field.name, name)) credentials.emplace_back(name, &field);
  std::string text(tenant);
  if (credentials.size() == 1 && credentials[0].second->id == http::FieldId::authorization)
    return text.append("\n").append(credentials[0].second->value);
  if (!credentials.empty()) text += '\n';
  for (const auto& [name, field] : credentials)
    text.append("\n").append(name).append(":").append(field->value);
  return text;
}

// Uses three line ends, with which no list of credentials begins. A verified tenant may have the
// same name as an address, so the text also says which it is.
std::string principal_of(std::string_view tenant, bool is_verified, const http::FieldList& fields,
                         const config::IdempotencyPrincipal& by) {
  std::string named;
  for (const std::string& name : by.fields)
    for (const http::Field& field : fields)
      if (http::iequals(field.name, name) && !field.value.empty())
        named.append("\n").append(name).append(":").append(field.value);
  for (const std::string& name : by.cookies) {
    const http::FoundCookie cookie = http::find_cookie(fields, name);
    if (cookie.count == 0 || cookie.value.empty()) continue;
    named.append("\n").append(std::to_string(cookie.count)).append(" ").append(name);
    named.append("=").append(cookie.value);
  }
  // Without identification, although possible, all credentials of the request count.
  const bool may_say = !by.fields.empty() || !by.cookies.empty();
  if (named.empty() && !is_verified) return principal_of(tenant, fields);
  if (named.empty() && may_say) return principal_of(tenant, fields) + "\n\n\nverified";
  return std::string(tenant) + (is_verified ? "\n\n\nverified" : "\n\n\naddress") + named;
}

Digest scope_of(std::string_view route, std::string_view principal, std::string_view key) {
  return digest_of(std::array{route, principal, key});
}

Digest fingerprint_of(std::string_view method, std::string_view target,
                      std::string_view content_type, std::string_view body) {
  return digest_of(std::array{method, target, content_type, body});
}

}  // namespace spillway::jobs
