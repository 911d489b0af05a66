// The request target (RFC 9112 section 3.2) and its authority.
#pragma once

#include <cstddef>
#include <string_view>

#include "http/message/error.hpp"
#include "http/message/head.hpp"

namespace spillway::http {

// Fills host, path_and_query and path_is_missing of a parsed request. Part of request_framing().
Error resolve_target(RequestHead& head);

// Longer hosts are an error: no domain name is longer (RFC 1035 section 2.3.4), and the host is
// written into three fields of a forwarded head.
inline constexpr std::size_t kMaxHost = 255;

// host [":" port], not empty: a name or IPv4 address of up to kMaxHost bytes, or an IP literal in
// brackets; port up to 65535, up to five digits. No user info. Of RFC 3986's characters a name may
// only have unreserved ones: URL-standard parsers decode escapes, and some backends cut at a comma,
// so that they would see another host than the routes do.
bool valid_authority(std::string_view authority);

// The authority without its port, e.g. "example.com", "[::1]".
std::string_view without_port(std::string_view authority);

// The path of a request target, valid or not: the part that may be logged, since clients put
// secrets into the query (RFC 6750 section 2.3) and the user info. Empty for a target without a
// path.
std::string_view path_of(std::string_view target);

}  // namespace spillway::http
