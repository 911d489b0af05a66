// Hop-by-hop fields, which are not forwarded (RFC 9110 section 7.6.1).
//
// Always: Connection, Keep-Alive, Proxy-Connection, TE, Transfer-Encoding, Upgrade, and those for a
// proxy (Proxy-Authenticate, Proxy-Authorization, Proxy-Authentication-Info). Trailer is forwarded,
// since trailers are relayed. In addition every field that Connection names, except those whose
// removal would let a client mislead the upstream: framing, Host, authentication, cookies, content
// type, caching, and the identity fields (Forwarded, X-Forwarded-*, Via, X-Request-Id, traceparent,
// X-Api-Key, X-Tenant, Spillway-*).
#pragma once

#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <string_view>

#include "http/field_list.hpp"

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

  const ConnectionOptions& options() const { return options_; }
  // Whether the field is not forwarded.
  bool strips(const Field& field) const;

 private:
  ConnectionOptions options_;
};

}  // namespace spillway::http
