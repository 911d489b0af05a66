// Protected fields: fields that frame or route a message, and identity fields, which name the
// client. A client must not be able to make a proxy drop a field that another party set by naming
// it in Connection, nor to smuggle one in as a trailer or under a name that a backend cannot
// distinguish from it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "http/field/field_list.hpp"

namespace spillway::http {

// Not forwarded: fields about one connection, or for a proxy (RFC 9110 section 7.6.1).
bool is_hop_by_hop(FieldId id);

// Fields of RFC 9110 and the like that are forwarded even if Connection names them: framing, Host,
// authentication, cookies, conditions, content, caching, negotiation, forwarding.
bool is_protected(FieldId id);

// X-Forwarded-*, X-Request-Id, X-Request-Deadline, grpc-timeout, traceparent, tracestate,
// X-Api-Key, X-Tenant, X-Priority, CDN-Loop, Spillway-*, and the fields of is_proxy_field().
bool is_identity_field(std::string_view name);

// Fields in which front-end proxies pass the client's address (X-Real-IP, True-Client-IP,
// CF-Connecting-IP, ...), its certificate (RFC 9440) or the original request target
// (target_field.hpp) to a backend.
// From a peer that is not trusted they are forged.
bool is_proxy_field(std::string_view name);

// The Spillway-* fields that have a meaning in some message. They are not forwarded from an
// upstream to a client.
bool is_own_field(std::string_view name);

// The fields to which the configuration gives a meaning (trusted_headers; the field of
// trusted_tokens; personal and vary of caches), in addition to those above.
class ProtectedFields {
 public:
  ProtectedFields() = default;
  explicit ProtectedFields(std::vector<std::string> names) : names_(std::move(names)) {}
  explicit ProtectedFields(const config::Config& config);

  bool contains(std::string_view name) const;
  // One of trusted_headers: not to be believed from a peer that is not trusted.
  bool is_for_trusted_peers(std::string_view name) const;
  // Whether the name differs from a protected or hop-by-hop field only in other characters for
  // hyphens (X_Real_IP, X.Real+IP): CGI programs cannot tell the two apart (cgi_name.hpp).
  bool is_alias(std::string_view name) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::string> believed_;  // the subset of them that trusted_headers names
};
inline const ProtectedFields kNoFieldsConfigured;

}  // namespace spillway::http
