// Which fields end at this hop (RFC 9110 section 7.6.1).
//
// Always: Connection, Keep-Alive, Proxy-Connection, TE, Transfer-Encoding, Upgrade, and what only
// concerns a proxy (Proxy-Authenticate, Proxy-Authorization, Proxy-Authentication-Info). Trailer
// stays, since trailers are relayed. Besides, every field that Connection names, except those by
// whose removal a client could change what the upstream believes: framing, Host, authentication,
// cookies, content type, caching, and the fields that say who is asking (Forwarded, X-Forwarded-*,
// Via, X-Request-Id, traceparent, X-Api-Key, X-Tenant, Spillway-*).
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
  // Reads the Connection fields; next to nothing when they say only "keep-alive" or "close".
  explicit HopByHop(const FieldList& fields);

  const ConnectionOptions& options() const { return options_; }
  bool strips(const Field& field) const;

 private:
  ConnectionOptions options_;
};

}  // namespace spillway::http
