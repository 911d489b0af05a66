// Protected fields: those that frame or steer a message, and identity fields, which name the
// client. A client must not be able to have a proxy drop what another one set by naming them in
// Connection, or to smuggle them in as trailers or under a name that a backend cannot tell from
// theirs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "http/field/field_list.hpp"

namespace spillway::http {

// Not forwarded: they are about one connection, or for a proxy (RFC 9110 section 7.6.1).
bool is_hop_by_hop(FieldId id);

// Fields of RFC 9110 and the like that are forwarded although Connection names them: framing, Host,
// authentication, cookies, conditions, content, caching, negotiation, forwarding.
bool is_protected(FieldId id);

// X-Forwarded-*, X-Request-Id, X-Request-Deadline, grpc-timeout, traceparent, tracestate,
// X-Api-Key, X-Tenant, X-Priority, CDN-Loop, Spillway-*, and those of is_proxy_field().
bool is_identity_field(std::string_view name);

// Fields by which front-end proxies tell a backend the client's address (X-Real-IP, True-Client-IP,
// CF-Connecting-IP, ...), its certificate (RFC 9440) or the target that was asked for
// (target_field.hpp).
// Those of a peer that is not trusted are lies.
bool is_proxy_field(std::string_view name);

// The Spillway-* fields that have a meaning in some message. An upstream does not say them to a
// client.
bool is_own_field(std::string_view name);

// The fields to which the configuration gives a meaning (trusted_headers; that of trusted_tokens;
// personal and vary of caches), besides those above.
class ProtectedFields {
 public:
  ProtectedFields() = default;
  explicit ProtectedFields(std::vector<std::string> names) : names_(std::move(names)) {}
  explicit ProtectedFields(const config::Config& config);

  bool contains(std::string_view name) const;
  // One of trusted_headers: that of a peer that is not trusted is a lie.
  bool is_for_trusted_peers(std::string_view name) const;
  // Whether the name differs from that of a protected or hop-by-hop field only in other characters
  // for hyphens (X_Real_IP, X.Real+IP): CGI and its heirs cannot tell the two apart (cgi_name.hpp).
  bool is_alias(std::string_view name) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::string> believed_;  // of them, what trusted_headers names
};
inline const ProtectedFields kNoFieldsConfigured;

}  // namespace spillway::http
