// The head of an HTTP/1 message as views into the bytes it was parsed from.
//
// Views stay valid as long as those bytes do not move: the head block stays until the exchange
// ends. A head object is reused from message to message without allocating.
#pragma once

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <cstdint>
#include <string_view>

#include "http/field/field_list.hpp"
#include "http/message/error.hpp"

namespace spillway::http {

using Verb = boost::beast::http::verb;

// How the end of a message body is found (RFC 9112 section 6.3).
struct Framing {
  enum class Kind : std::uint8_t { none, length, chunked, until_close };
  Kind kind = Kind::none;
  std::uint64_t length = 0;  // bytes; only for Kind::length, where it is > 0
  // With Kind::chunked: Connection names fields that may be trailers, so all trailers are left out.
  bool drops_trailers = false;
};

struct RequestHead {
  Verb method = Verb::unknown;      // unknown: see method_name
  std::string_view method_name;     // as sent
  std::string_view target;          // as sent
  std::string_view host;            // effective authority, with port if one was given: that of an
                                    // absolute-form target, else Host; empty for 1.0 without Host
  std::string_view path_and_query;  // for the upstream's request line, byte for byte; "*" for
                                    // OPTIONS *; never empty once request_framing() succeeded
  bool path_is_missing = false;     // absolute-form "http://h?q": path_and_query lacks its "/"
  unsigned version = 11;            // 10 or 11
  FieldList fields;
  std::string_view field_lines;  // all of them as received, each with its CRLF
  Framing framing;
  bool keep_alive = false;          // the client lets the connection stay open
  bool expect_continue = false;     // the client waits for 100 Continue before sending the body
  bool upgrade = false;             // Connection: upgrade with an Upgrade field
  bool is_final_recipient = false;  // OPTIONS with Max-Forwards: 0: Spillway responds
};

struct ResponseHead {
  unsigned status = 0;
  std::string_view reason_phrase;
  unsigned version = 11;  // 10 or 11
  FieldList fields;
  std::string_view field_lines;  // all of them as received, each with its CRLF
  Framing framing;
  bool keep_alive = false;  // the upstream lets the connection stay open
};

// Parses one complete head block, blank line included (a HeadScanner found it). Fills everything
// but host, path_and_query, framing, keep_alive, expect_continue, upgrade and is_final_recipient,
// which request_framing() adds. On error the contents of the head are unspecified.
Error parse_request(std::string_view head, RequestHead& out);

// Likewise for a response; response_framing() adds framing and keep_alive.
Error parse_response(std::string_view head, ResponseHead& out);

}  // namespace spillway::http
