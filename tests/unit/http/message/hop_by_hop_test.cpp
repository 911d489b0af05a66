#include "http/message/hop_by_hop.hpp"

#include <doctest/doctest.h>

#include <boost/beast/http/field.hpp>

using namespace spillway::http;

namespace {

Field field(std::string_view name, std::string_view value = "x") {
  return {name, value, boost::beast::http::string_to_field(name)};
}

}  // namespace

TEST_CASE("fields that end at this hop are stripped whether named or not") {
  // RFC 9110 section 7.6.1
  FieldList none;
  const HopByHop hop(none);
  for (const char* name :
       {"Connection", "keep-alive", "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade",
        "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info"}) {
    CAPTURE(name);
    CHECK(hop.strips(field(name)));
  }
  for (const char* name : {"Host", "Trailer", "Accept", "X-Custom", "Date"}) {
    CAPTURE(name);
    CHECK_FALSE(hop.strips(field(name)));
  }
}

TEST_CASE("Connection names more fields to strip but never one that protects") {
  FieldList fields;
  fields.push(field("Connection", "close,, X-One"));
  fields.push(
      field("Connection", "accept-charset ,Upgrade, Content-Length, via, X-Tenant, x-ray, host"));
  const HopByHop hop(fields);
  CHECK(hop.options().close);
  CHECK(hop.options().upgrade);
  CHECK_FALSE(hop.options().keep_alive);
  CHECK(hop.strips(field("x-one")));
  CHECK(hop.strips(field("X-Ray")));
  CHECK_FALSE(hop.strips(field("X-Two")));
  for (const char* name : {"Content-Length", "Via", "X-Tenant", "Host", "Accept-Charset"}) {
    CAPTURE(name);
    CHECK_FALSE(hop.strips(field(name)));
  }
}
