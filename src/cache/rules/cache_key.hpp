// Cache keys (RFC 9111 sections 2 and 4.1).
//
// The text of a key is a sequence of length-prefixed parts, so that requests that differ in a part
// differ in the text: authority in lower case, path and query byte for byte, scheme, forwarded host
// and the other X-Forwarded-* fields of a trusted proxy (except X-Forwarded-For, which differs for
// each client), tenant, the tenant's source, and the values of the configured `vary` fields: the
// primary key. If responses vary, the variant's key appends the names of those fields and the
// request's values of them. The values are those that are forwarded (hop_by_hop.hpp), normalised
// (selecting.hpp). The lines of a repeated field are one value, joined by ", "; an absent field
// differs from an empty one. Look-ups compare the whole text, not only its hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/sip_hash.hpp"
#include "cache/rules/personal.hpp"
#include "http/field/field_list.hpp"
#include "http/message/hop_by_hop.hpp"

namespace spillway::cache {

// The parts of a request that select a stored response. Views, valid during the call.
struct CacheRequest {
  std::string_view scheme = "http";
  std::string_view authority;
  std::string_view forwarded_host{};   // empty: none
  bool is_forwarding_trusted = false;  // its X-Forwarded-* fields are passed to the upstream
  std::string_view path_and_query;
  std::string_view tenant{};  // empty: not part of the key
  TenantInKey tenant_in_key{};
  const http::FieldList& fields;
  http::HopByHop hop = http::HopByHop(fields);  // those of them that are not forwarded
};

// Hash of a URI, the same for all schemes, tenants and variants: selects the shard and the
// invalidation time.
std::uint64_t uri_hash(SipKey key, std::string_view authority, std::string_view path_and_query);

// A key for a look-up.
struct KeyView {
  std::string_view text;
  std::uint64_t hash = 0;
  std::uint64_t uri_hash = 0;
};

// Reads the parts of a key's text in order.
class KeyParts {
 public:
  explicit KeyParts(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  std::string_view next();  // empty for an absent field, and past the end

 private:
  std::string_view rest_;
};

// Filled by ResponseCache::find(), for begin(), mark_unstorable(), withdraw() and single flight.
// Reused for many requests, so that it keeps its memory.
class CacheKey {
 public:
  // For single flight and marks of unstorable responses. Personal requests have separate hashes:
  // their responses may be useless to others.
  std::uint64_t hash() const { return personal_ ? ~hash_ : hash_; }
  // Whether responses to the primary key vary.
  bool is_variant() const { return text_.size() > primary_size_; }

 private:
  friend class ResponseCache;

  void start(SipKey key, const CacheRequest& request, const TenantInKey& tenant,
             const std::vector<std::string>& vary, bool by_tenant);
  // Appends names_ and the request's values of these fields.
  void vary(const CacheRequest& request);
  KeyView view() const { return {text_, hash_, uri_hash_}; }

  void add(std::string_view part);
  void add_values(const CacheRequest& request, std::string_view name);
  void add_forwarding(const CacheRequest& request);

  std::string text_;
  std::string names_;  // of the fields that responses vary by: lower case, sorted, comma-separated
  std::string scratch_;  // another such list
  std::size_t primary_size_ = 0;
  SipKey sip_key_;
  std::uint64_t uri_hash_ = 0;
  std::uint64_t primary_hash_ = 0;
  std::uint64_t hash_ = 0;
  bool personal_ = false;
};

// The field names in the text of a variant's key, if `configured` is the number of configured
// `vary` fields; empty for a primary key.
std::string_view names_in(std::string_view text, std::size_t configured);

// The union of `known` and the names in the response's Vary fields: lower case, sorted, without
// duplicates and without those in `configured`, which are in every key. False if variants cannot be
// distinguished: `*`, a field that Spillway rewrites, more than 16 names or 1024 bytes.
bool unite_names(std::string_view known, const http::FieldList& response,
                 const std::vector<std::string>& configured, std::string& names);

}  // namespace spillway::cache
