// What a stored answer is found by.
//
// The key's text is a row of parts, each with its length before it, so that no two requests that
// differ in a part have the same text: authority in lower case, path and query byte for byte,
// scheme, the host that a trusted proxy tells, tenant, the values of the configured `vary` fields;
// and, where answers were seen to vary (RFC 9111 section 4.1), the names of those fields and their
// values. The lines of a repeated field are one value, joined by ", "; an absent field is not an
// empty one. The text is compared on every hit: a hash only says where to look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/rules/personal.hpp"
#include "http/field_list.hpp"
#include "traffic/sip_hash.hpp"

namespace spillway::cache {

// Of a request: what an answer may depend on. Views, read during the call they are given to.
struct Asked {
  std::string_view scheme = "http";
  std::string_view authority;
  std::string_view forwarded_host{};  // empty: none
  std::string_view path_and_query;
  std::string_view tenant{};  // empty: answers are not told apart by tenant
  TenantInKey tenant_in_key{};
  const http::FieldList& fields;
};

// Where the shard and the stamp of invalidation of a URI are: every scheme, tenant and variant of
// it has the same.
std::uint64_t uri_hash(traffic::SipKey key, std::string_view authority,
                       std::string_view path_and_query);

// A key as the store sees it.
struct KeyView {
  std::string_view text;
  std::uint64_t hash = 0;
  std::uint64_t uri_hash = 0;
};

// The parts of a key's text, one after the other.
class KeyParts {
 public:
  explicit KeyParts(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  std::string_view next();  // also of an absent field: empty

 private:
  std::string_view rest_;
};

// Made by ResponseCache::find(), for begin(), mark_unstorable() and flights. One is kept for each
// exchange and used again: it keeps its memory.
class CacheKey {
 public:
  // What flights go by. Requests that are one person's have flights of their own: what they bring
  // may be for nobody else.
  std::uint64_t hash() const { return personal_ ? ~hash_ : hash_; }
  // Whether it was made from the names that answers were seen to vary by.
  bool is_variant() const { return text_.size() > primary_size_; }

 private:
  friend class ResponseCache;

  void start(traffic::SipKey key, const Asked& asked, const TenantInKey& tenant,
             const std::vector<std::string>& vary, bool by_tenant);
  // Makes the variant's key from the names and the request's values of them.
  void vary(const http::FieldList& fields);
  KeyView view() const { return {text_, hash_, uri_hash_}; }

  void add(std::string_view part);
  void add_values(const http::FieldList& fields, std::string_view name);

  std::string text_;
  std::string names_;   // that answers vary by: lower case, sorted, comma-separated
  std::string unused_;  // memory for such
  std::size_t primary_size_ = 0;
  traffic::SipKey sip_key_;
  std::uint64_t uri_hash_ = 0;
  std::uint64_t primary_hash_ = 0;
  std::uint64_t hash_ = 0;
  bool personal_ = false;
};

// The names in the text of a variant's key, with so many configured `vary` fields; empty when it is
// no variant's.
std::string_view names_in(std::string_view text, std::size_t configured);

// The names of the response's Vary fields and those known already: in lower case, sorted, without
// duplicates and without those of `configured`, which are in every key. False when there is no such
// list: `*`, or more than 16 names or 1024 bytes.
bool unite_names(std::string_view known, const http::FieldList& response,
                 const std::vector<std::string>& configured, std::string& names);

}  // namespace spillway::cache
