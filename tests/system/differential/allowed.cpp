// The differences that are allowed, each with where the RFCs speak of it.
#include "system/differential/comparison.hpp"

namespace spillway::differential {

namespace {

constexpr std::string_view kBoth, kNginx = "NGINX", kHaproxy = "HAProxy";
constexpr std::string_view kInvalidHost = "400 to an invalid Host, which the other sends on";
constexpr std::string_view kOtherHost = "in the grammar, but another host to some backends";
constexpr std::string_view kBareLf = "a bare LF may be a line end to one and none to the next";
constexpr std::string_view kTrailer = "trailer x-t";
constexpr std::string_view kAnyTrailer =
    "any trailer may be left out, and so all are that Connection might name";
constexpr std::string_view kOneHost = "the other sends on the name without the port";

}  // namespace

const std::vector<Allowed>& allowed() {
  static const std::vector<Allowed> all{
      // Where Spillway refuses.
      {kBoth, Kind::stricter, "fragment", "9112 3.2", "a target has no fragment"},
      {kBoth, Kind::stricter, "absolute-form with user", "9110 4.2.4",
       "user information is an error"},
      {kBoth, Kind::stricter, "absolute-form of another scheme", "9110 7.4",
       "only http and https are served"},
      {kHaproxy, Kind::stricter, "asterisk", "9112 3.2.4", "only OPTIONS has it"},
      {kHaproxy, Kind::stricter, "target without slash", "9112 3.2", "it is of no form"},
      {kHaproxy, Kind::stricter, "authority-form", "9112 3.2.3", "only CONNECT has it"},
      {kBoth, Kind::stricter, "HTTP/2.0", "9110 15.6.6", "505"},
      {kBoth, Kind::stricter, "two blanks in the request line", "9112 3",
       "lenient reading is a MAY"},
      {kBoth, Kind::stricter, "tab in the request line", "9112 3", "lenient reading is a MAY"},
      {kBoth, Kind::stricter, "no Host", "9112 3.2", "MUST be 400"},
      {kBoth, Kind::stricter, "the same Host twice", "9112 3.2", "MUST be 400"},
      {kBoth, Kind::stricter, "empty Host", "9110 4.2.1", "http has no empty host"},
      {kBoth, Kind::stricter, "Host with a slash", "9112 3.2", kInvalidHost},
      {kBoth, Kind::stricter, "Host with user", "9112 3.2", kInvalidHost},
      {kBoth, Kind::stricter, "Host with a bad port", "9112 3.2", kInvalidHost},
      {kBoth, Kind::stricter, "Host list", "9112 3.2", kInvalidHost},
      {kBoth, Kind::stricter, "Host with an escape", "3986 3.2.2", kOtherHost},
      {kBoth, Kind::stricter, "Host with a comma", "3986 3.2.2", kOtherHost},
      {kBoth, Kind::stricter, "folded line", "9112 5.2", "400 is one of the two ways"},
      {kBoth, Kind::stricter, "folded Host", "9112 5.2", "400 is one of the two ways"},
      {kBoth, Kind::stricter, "line without colon", "9112 5", "no field line"},
      {kBoth, Kind::stricter, "name with a bracket", "9110 5.1", "no token"},
      {kBoth, Kind::stricter, "NUL in a value", "9110 5.5", "MUST be refused or replaced"},
      {kBoth, Kind::stricter, "control character in a value", "9110 5.5", "may be refused"},
      {kBoth, Kind::stricter, "bare LF", "9112 2.2", kBareLf},
      {kBoth, Kind::stricter, "LF first", "9112 2.2", kBareLf},
      {kBoth, Kind::stricter, "chunk line ends in LF", "9112 2.2", kBareLf},
      {kBoth, Kind::stricter, "unknown expectation", "9110 10.1.1", "417 is a MAY"},
      {kBoth, Kind::stricter, "the same length twice", "9110 8.6", "may be refused"},
      {kBoth, Kind::stricter, "length list", "9110 8.6", "may be refused"},
      {kBoth, Kind::stricter, "length and chunked", "9112 6.3", "ought to be an error"},
      {kBoth, Kind::stricter, "chunked and length", "9112 6.3", "ought to be an error"},
      {kBoth, Kind::stricter, "blank behind a chunk size", "9112 7.1", "no chunk size"},
      {kBoth, Kind::stricter, "framing in a trailer", "9110 6.5.1", "not allowed in trailers"},
      {kBoth, Kind::stricter, "Host in a trailer", "9110 6.5.1", "not allowed in trailers"},
      {kHaproxy, Kind::stricter, "method in lower case", "9110 9.1",
       "as NGINX: no route's methods match it, and some backends raise it"},
      {kNginx, Kind::stricter, "bad trailer", "9112 7.1.2", "NGINX throws trailers away"},
      {kBoth, Kind::stricter, "HTTP/1.0", "9112 6.1", "Transfer-Encoding in HTTP/1.0 is faulty",
       "400"},
      // Where another refuses.
      {kNginx, Kind::laxer, "method with marks", "9110 9.1", "methods are tokens"},
      {kNginx, Kind::laxer, "escaped NUL", "3986 7.3",
       "sent on as it came; classes count all readings"},
      {kNginx, Kind::laxer, "bad escape", "3986 2.1",
       "sent on as it came; classes count all readings"},
      {kNginx, Kind::laxer, "dots above the root", "3986 5.2.4",
       "sent on as it came; classes count all readings"},
      {kHaproxy, Kind::laxer, "bytes above 127", "3986 2.1", "sent on as it came, as NGINX does"},
      {kHaproxy, Kind::laxer, "absolute-form of another host", "9112 3.2.2",
       "MUST take the target's host and ignore Host"},
      {kHaproxy, Kind::laxer, "Host with port", "9112 3.2.2",
       "MUST take the target's host and ignore Host", "400"},
      {kHaproxy, Kind::laxer, "Host of an IPv6 address", "9112 3.2.2",
       "MUST take the target's host and ignore Host", "400"},
      {kHaproxy, Kind::laxer, "DELETE", "9110 9.3.5",
       "HAProxy takes no content with it in HTTP/1.0", "413"},
      {kNginx, Kind::laxer, "asterisk", "9112 3.2.4", "OPTIONS has it", "400"},
      {kNginx, Kind::laxer, "length behind a tab", "9112 5.1", "a tab is white space"},
      // What is sent on otherwise.
      {kHaproxy, Kind::target, "absolute-form", "9112 3.2.1", "HAProxy leaves the form"},
      {kHaproxy, Kind::target, "absolute-form with a port", "9112 3.2.1",
       "HAProxy leaves the form"},
      {kHaproxy, Kind::target, "absolute-form without a path", "9112 3.2.1",
       "HAProxy leaves the form"},
      {kHaproxy, Kind::target, "absolute-form of another host", "9112 3.2.1",
       "HAProxy leaves the form"},
      {kNginx, Kind::target, "absolute-form without a path", "9112 3.2.4", "MUST be * with OPTIONS",
       "* or /"},
      {kBoth, Kind::host, "absolute-form with a port", "9112 3.2.2",
       "Host is the target's authority, port included"},
      {kNginx, Kind::host, "Host with port", "9110 7.2", kOneHost},
      {kNginx, Kind::host, "Host of an IPv6 address", "9110 7.2", kOneHost},
      {kBoth, Kind::host, "Host in capitals", "9110 4.2.3", "case is of no matter"},
      {kBoth, Kind::host, "no Host", "9112 3.2", "HTTP/1.0 needs none; the server's own is sent"},
      {kNginx, Kind::keeps_field, "underscore", "9110 5.1", "a token; NGINX drops it", "x_a"},
      {kHaproxy, Kind::drops_field, "underscored forwarding field", "9110 17.10",
       "an alias of X-Forwarded-For to CGI", "x_forwarded_for"},
      {kHaproxy, Kind::drops_field, "dotted forwarding field", "9110 17.10",
       "an alias of X-Forwarded-For to lighttpd", "x.forwarded.for"},
      {kBoth, Kind::drops_field, "Connection names a field", "9110 7.6.1", "MUST be removed",
       "x-a"},
      {kBoth, Kind::drops_field, "Connection list", "9110 7.6.1", "MUST be removed", "x-a"},
      {kHaproxy, Kind::drops_field, "Connection names a field", "9110 6.5.1", kAnyTrailer,
       kTrailer},
      {kHaproxy, Kind::drops_field, "Connection list", "9110 6.5.1", kAnyTrailer, kTrailer},
      {kHaproxy, Kind::drops_field, "Connection names Host", "9110 6.5.1", kAnyTrailer, kTrailer},
      {kHaproxy, Kind::drops_field, "Connection names a forwarding field", "9110 6.5.1",
       kAnyTrailer, kTrailer},
      {kHaproxy, Kind::drops_field, "Keep-Alive", "9110 7.6.1", "ends at each hop", "keep-alive"},
      {kHaproxy, Kind::drops_field, "unknown expectation", "9110 10.1.1",
       "in HTTP/1.0 it is ignored, and is not for the next hop", "expect"},
      {kBoth, Kind::field_value, "Max-Forwards", "9110 7.6.2", "MUST be one less with OPTIONS",
       "max-forwards: [2] or [3]"},
      {kNginx, Kind::keeps_field, "TE", "9110 10.1.4",
       "made anew for the hop: NGINX was told to send none", "te"},
      {kNginx, Kind::keeps_field, "trailer", "9110 6.5", "NGINX throws trailers away", kTrailer},
      // Whether the connection goes on.
      {kHaproxy, Kind::stops, "TRACE", "9112 9.6", "a refusal may close"},
      {kHaproxy, Kind::stops, "CONNECT", "9112 9.6", "a refusal may close"},
  };
  return all;
}

}  // namespace spillway::differential
