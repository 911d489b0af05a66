#include "http/field/identity.hpp"

#include <algorithm>
#include <array>

#include "http/field/ascii.hpp"
#include "http/field/cgi_name.hpp"
#include "http/field/target_field.hpp"

namespace spillway::http {
namespace {

constexpr std::size_t kMaxFolded = 64;  // longer than any name that has a meaning

}  // namespace

bool is_hop_by_hop(FieldId id) {
  switch (id) {
    case FieldId::connection:
    case FieldId::keep_alive:
    case FieldId::proxy_connection:
    case FieldId::te:
    case FieldId::transfer_encoding:
    case FieldId::upgrade:
    case FieldId::http2_settings:
    case FieldId::proxy_authenticate:
    case FieldId::proxy_authorization:
    case FieldId::proxy_authentication_info: return true;
    default: return false;
  }
}

bool is_protected(FieldId id) {
  switch (id) {
    case FieldId::host:
    case FieldId::content_length:
    case FieldId::content_type:
    case FieldId::content_encoding:
    case FieldId::content_range:
    case FieldId::trailer:
    case FieldId::expect:
    case FieldId::range:
    case FieldId::if_match:
    case FieldId::if_none_match:
    case FieldId::if_modified_since:
    case FieldId::if_unmodified_since:
    case FieldId::if_range:
    case FieldId::authorization:
    case FieldId::www_authenticate:
    case FieldId::cookie:
    case FieldId::set_cookie:
    case FieldId::cache_control:
    case FieldId::pragma:
    case FieldId::vary:
    case FieldId::accept:
    case FieldId::accept_charset:
    case FieldId::accept_encoding:
    case FieldId::accept_language:
    case FieldId::user_agent:
    case FieldId::date:
    case FieldId::origin:
    case FieldId::referer:
    case FieldId::via:
    case FieldId::max_forwards:
    case FieldId::forwarded: return true;
    default: return false;
  }
}

bool is_proxy_field(std::string_view name) {
  static constexpr std::array<std::string_view, 18> kOfX{
      "X-Real-IP",
      "X-Client-IP",
      "X-Cluster-Client-IP",
      "X-Remote-IP",
      "X-Remote-Addr",
      "X-Originating-IP",
      "X-Original-Forwarded-For",
      "X-ProxyUser-Ip",
      "X-Forwarded",  // those below are of one product each
      "X-Envoy-External-Address",
      "X-Vercel-Forwarded-For",
      "X-Vercel-Proxied-For",
      "X-Appengine-User-IP",
      "X-Appengine-Remote-Addr",
      "X-Azure-ClientIP",
      "X-Azure-SocketIP",
      "X-NF-Client-Connection-IP",
      "X-Sucuri-ClientIP"};
  // CGI passes Proxy on as HTTP_PROXY (RFC 3875 section 4.1.18), which some programs use as the
  // proxy for their own requests: CVE-2016-5385.
  // Client-Cert and Client-Cert-Chain: a proxy's account of its client's TLS (RFC 9440).
  static constexpr std::array<std::string_view, 18> kOthers{
      "True-Client-IP",
      "Client-IP",
      "Forwarded-For",
      "Proxy-Client-IP",
      "WL-Proxy-Client-IP",
      "Proxy",
      "Client-Cert",
      "Client-Cert-Chain",  // those below are of one product each
      "CF-Connecting-IP",
      "CF-Connecting-IPv6",
      "CF-Pseudo-IPv4",
      "Fastly-Client-IP",
      "CloudFront-Viewer-Address",
      "DO-Connecting-IP",
      "Fly-Client-IP",
      "Ali-CDN-Real-IP",
      "Cdn-Src-Ip",
      "Incap-Client-IP"};
  // The first letter is enough to rule out nearly all fields.
  switch (name.empty() ? '\0' : to_lower(name.front())) {
    case 'x': return contains_name(kOfX, name) || is_target_field(name);
    case 'f': return contains_name(kOthers, name) || is_target_field(name);
    case 'a':
    case 't':
    case 'c':
    case 'd':
    case 'i':
    case 'p':
    case 'w': return contains_name(kOthers, name);
    default: return false;
  }
}

bool is_own_field(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kNames{
      "Spillway-Degraded", "Spillway-Job",  "Spillway-Ticket",  // to clients
      "Spillway-Pass",     "Spillway-Late", "Spillway-Degrade", "Spillway-Attempt", "Spillway-Join",
      "Spillway-Leave",    "Spillway-Work", "Spillway-Enter",  // to upstreams, and of clients
      "Spillway-Session"};                                     // of upstreams
  return istarts_with(name, "Spillway-") && contains_name(kNames, name);
}

bool is_identity_field(std::string_view name) {
  // CDN-Loop: any sender may set it, and none may remove it (RFC 8586 section 2).
  static constexpr std::array<std::string_view, 9> kNames{
      "X-Request-Id", "X-Request-Deadline", "grpc-timeout", "traceparent", "tracestate",
      "X-Api-Key",    "X-Tenant",           "X-Priority",   "CDN-Loop"};
  return istarts_with(name, "X-Forwarded-") || istarts_with(name, "Spillway-") ||
         contains_name(kNames, name) || is_proxy_field(name);
}

ProtectedFields::ProtectedFields(const config::Config& config) {
  const auto add = [&](const std::string& name) {
    if (!name.empty() && !contains(name)) names_.push_back(name);
  };
  add(config.trusted_headers.tenant);
  add(config.trusted_headers.priority);
  add(config.trusted_headers.tier);
  add(config.trusted_headers.user);
  believed_ = names_;
  if (config.trusted_tokens.jwt && config.trusted_tokens.jwt->cookie.empty())
    add(config.trusted_tokens.jwt->header);
  for (const config::Route& route : config.routes) {
    if (!route.cache) continue;
    for (const std::string& name : route.cache->personal) add(name);
    for (const std::string& name : route.cache->vary) add(name);
  }
}

bool ProtectedFields::contains(std::string_view name) const { return contains_name(names_, name); }

bool ProtectedFields::is_for_trusted_peers(std::string_view name) const {
  return contains_name(believed_, name);
}

bool ProtectedFields::is_alias(std::string_view name) const {
  for (const std::string& one : names_) {
    if (are_one_to_cgi(one, name) && !iequals(one, name)) return true;
  }
  if (!is_ambiguous_to_cgi(name) || contains(name)) return false;
  std::array<char, kMaxFolded> block;
  name = name.substr(0, kMaxFolded);  // a longer one may still have a prefix that has a meaning
  std::transform(name.begin(), name.end(), block.begin(), cgi_folded);
  const std::string_view plain(block.data(), name.size());
  const FieldId id = boost::beast::http::string_to_field(plain);
  return is_hop_by_hop(id) || is_protected(id) || is_identity_field(plain);
}

}  // namespace spillway::http
