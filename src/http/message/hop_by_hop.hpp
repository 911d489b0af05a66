// Hop-by-hop fields, which are not forwarded (RFC 9110 section 7.6.1).
//
// Always: Connection, Keep-Alive, Proxy-Connection, TE, Transfer-Encoding, Upgrade, HTTP2-Settings,
// fields for a proxy (Proxy-Authenticate, Proxy-Authorization, Proxy-Authentication-Info), and
// Spillway's own (is_own_field()).
// Trailer is forwarded, since trailers are relayed. Every field that Connection names is stripped
// too, except protected ones (identity.hpp), whose removal would let a client mislead the upstream.
// A trusted peer may pass on its client's Connection, so fields named there are forwarded.
#pragma once

#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <string_view>

#include "http/field/field_list.hpp"
#include "http/field/identity.hpp"

namespace spillway::http {

inline constexpr std::size_t kMaxConnectionOptions = 32;

struct ConnectionOptions {
  bool close = false;
  bool keep_alive = false;
  bool upgrade = false;
  bool too_many = false;  // more than kMaxConnectionOptions names: refuse the message
  boost::container::static_vector<std::string_view, kMaxConnectionOptions> names;  // the others
};

class HopByHop {
 public:
  // Reads the Connection fields; cheap when they are only "keep-alive" or "close".
  explicit HopByHop(const FieldList& fields);
  // For a request: also strips fields that a client must not set (identity.hpp). `protected_fields`
  // must outlive this object.
  HopByHop(const FieldList& fields, const ProtectedFields& protected_fields,
           bool is_from_trusted_peer);

  const ConnectionOptions& options() const { return options_; }
  // Whether the field is not forwarded.
  bool strips(const Field& field) const;

 private:
  ConnectionOptions options_;
  const ProtectedFields* protected_ = &kNoFieldsConfigured;
  bool drops_aliases_ = false;
  bool drops_proxy_fields_ = false;
};

}  // namespace spillway::http
