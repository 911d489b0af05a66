#include "cache/rules/cache_key.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "cache/rules/selecting.hpp"
#include "http/field/ascii.hpp"
#include "http/field/target_field.hpp"

namespace spillway::cache {
namespace {

constexpr std::uint32_t kAbsent = 0xffffffff;
constexpr std::size_t kFixedParts = 6;  // before the values of the configured fields
constexpr std::size_t kMaxNames = 16;
constexpr std::size_t kMaxNameBytes = 1024;

// A field by which proxies report the target of the original request. X-Forwarded-For reports the
// client instead, which differs each time.
bool is_forwarding(std::string_view name) {
  return http::istarts_with(name, "X-Forwarded-") && !http::iequals(name, "X-Forwarded-For");
}

// "http://host?q" is "http://host/?q" (RFC 9110 section 4.2.3).
std::string_view without_slash(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

// Case-insensitive.
bool precedes(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return http::to_lower(x) < http::to_lower(y);
  });
}

}  // namespace

std::uint64_t uri_hash(SipKey key, std::string_view authority, std::string_view path_and_query) {
  std::array<char, 256> lower;
  std::uint64_t hash = 0;
  do {
    const std::string_view piece = authority.substr(0, lower.size());
    std::transform(piece.begin(), piece.end(), lower.begin(), http::to_lower);
    hash = sip_hash({key.low ^ hash, key.high}, {lower.data(), piece.size()});
    authority.remove_prefix(piece.size());
  } while (!authority.empty());
  return sip_hash({key.low, key.high ^ hash}, without_slash(path_and_query));
}

std::string_view KeyParts::next() {
  std::uint32_t size = 0;
  if (rest_.size() < sizeof size) return {};
  std::memcpy(&size, rest_.data(), sizeof size);
  rest_.remove_prefix(sizeof size);
  if (size == kAbsent) return {};
  const std::string_view part = rest_.substr(0, size);
  rest_.remove_prefix(part.size());
  return part;
}

void CacheKey::add(std::string_view part) {
  const auto size = static_cast<std::uint32_t>(part.size());
  text_.append(reinterpret_cast<const char*>(&size), sizeof size);
  text_.append(part);
}

// Only values that the upstream gets count: a client can have a field removed by naming it in
// Connection, and the X-Forwarded-* fields of an untrusted client are omitted or rewritten from
// values that the key contains already.
void CacheKey::add_values(const CacheRequest& request, std::string_view name) {
  const std::size_t begin = text_.size();
  std::uint32_t size = kAbsent;
  text_.append(sizeof size, '\0');
  const bool is_left_out = !request.is_forwarding_trusted && is_forwarding(name);
  for (const http::Field& field : request.fields) {
    if (is_left_out || !http::iequals(field.name, name) || request.hop.strips(field)) continue;
    if (size != kAbsent) text_ += ", ";
    text_ += field.value;
    size = 0;
  }
  if (size != kAbsent) {
    normalise(name, text_, begin + sizeof size);
    size = static_cast<std::uint32_t>(text_.size() - begin - sizeof size);
  }
  std::memcpy(text_.data() + begin, &size, sizeof size);
}

// A trusted proxy's forwarded host, followed by X-Forwarded-Prefix, -Port, -User or any other such
// field, including X-Host and the like: an upstream's response may depend on any of them.
void CacheKey::add_forwarding(const CacheRequest& request) {
  const std::size_t begin = text_.size();
  std::uint32_t size = 0;
  text_.append(sizeof size, '\0');
  text_ += request.forwarded_host;
  if (request.is_forwarding_trusted) {
    for (const http::Field& field : request.fields) {
      const bool tells = is_forwarding(field.name) || http::is_target_field(field.name);
      if (!tells || request.hop.strips(field)) continue;
      text_ += '\n';  // which no field contains
      for (const char c : field.name) text_ += http::to_lower(c);
      (text_ += ':') += field.value;
    }
  }
  size = static_cast<std::uint32_t>(text_.size() - begin - sizeof size);
  std::memcpy(text_.data() + begin, &size, sizeof size);
}

void CacheKey::start(SipKey key, const CacheRequest& request, const TenantInKey& tenant,
                     const std::vector<std::string>& vary, bool by_tenant) {
  sip_key_ = key;
  uri_hash_ = uri_hash(key, request.authority, request.path_and_query);
  text_.clear();
  add(request.authority);
  std::transform(text_.begin() + sizeof kAbsent, text_.end(), text_.begin() + sizeof kAbsent,
                 http::to_lower);
  add(without_slash(request.path_and_query));
  const std::size_t uri_size = text_.size();

  add(request.scheme);
  add_forwarding(request);
  add(by_tenant ? request.tenant : std::string_view{});
  // The same name from different sources means two tenants.
  add(tenant.by_api_key ? std::string_view("X-Api-Key") : tenant.by_field);
  for (const std::string& name : vary) add_values(request, name);
  primary_size_ = text_.size();
  // Seeded with the URI's hash, so that its text is hashed once.
  primary_hash_ =
      sip_hash({key.low ^ uri_hash_, key.high}, std::string_view(text_).substr(uri_size));
  hash_ = primary_hash_;
  names_.clear();
}

void CacheKey::vary(const CacheRequest& request) {
  text_.resize(primary_size_);
  add(names_);
  http::for_each_element(names_, [&](std::string_view name) { add_values(request, name); });
  hash_ = sip_hash({sip_key_.low ^ primary_hash_, sip_key_.high},
                   std::string_view(text_).substr(primary_size_));
}

std::string_view names_in(std::string_view text, std::size_t configured) {
  KeyParts parts(text);
  for (std::size_t i = 0; i < kFixedParts + configured; ++i) parts.next();
  return parts.next();
}

namespace {

// Fields whose values at the upstream differ from those that the client sent.
bool is_rewritten(std::string_view name) {
  return http::contains_name(
      {"X-Forwarded-For", "Forwarded", "X-Request-Id", "traceparent", "Via", "TE", "Connection",
       "X-Request-Deadline", "grpc-timeout", "If-None-Match", "If-Modified-Since"},
      name);
}

}  // namespace

bool unite_names(std::string_view known, const http::FieldList& response,
                 const std::vector<std::string>& configured, std::string& names) {
  std::array<std::string_view, kMaxNames> all;
  std::size_t count = 0;
  std::size_t bytes = 0;
  bool fits = true;
  const auto take = [&](std::string_view name) {
    if (name.empty() || http::contains_name(std::span(all).first(count), name)) return;
    if (http::contains_name(configured, name)) return;
    bytes += name.size() + 1;
    fits =
        fits && name != "*" && !is_rewritten(name) && count < all.size() && bytes <= kMaxNameBytes;
    if (fits) all[count++] = name;
  };
  if (!known.empty()) http::for_each_element(known, take);
  for (const http::Field& field : response) {
    if (field.id == http::FieldId::vary) http::for_each_element(field.value, take);
  }
  if (!fits) return false;
  std::sort(all.begin(), all.begin() + count, precedes);
  names.clear();
  for (const std::string_view name : std::span(all).first(count)) {
    if (!names.empty()) names += ',';
    for (const char c : name) names += http::to_lower(c);
  }
  return true;
}

}  // namespace spillway::cache
