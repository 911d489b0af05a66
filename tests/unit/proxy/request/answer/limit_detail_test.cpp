#include "proxy/request/answer/limit_detail.hpp"

#include <doctest/doctest.h>

namespace spillway::proxy {

TEST_CASE("a request that exceeds a configured limit is told its name and value") {
  config::Limits limits;
  limits.body_bytes = 1000;
  limits.header_bytes = 2000;
  CHECK(limit_detail(bad_request(http::Error::body_too_large), limits) ==
        "The body is longer than 1000 bytes (limits.body_bytes).");
  CHECK(limit_detail(bad_request(http::Error::head_too_large), limits) ==
        "The header section is longer than 2000 bytes (limits.header_bytes).");
  CHECK(limit_detail(head_too_large(), limits) ==
        limit_detail(bad_request(http::Error::head_too_large), limits));
}

TEST_CASE("control: no limit is named to a client that exceeds none") {
  const config::Limits limits;
  CHECK(limit_detail(bad_request(http::Error::bad_chunk), limits).empty());
  // The same sentences of the upstream's response, and of the proxy's own.
  CHECK(limit_detail(upstream_invalid(http::Error::head_too_large), limits).empty());
  CHECK(limit_detail(response_too_large(), limits).empty());
  CHECK(limit_detail(request_timeout(), limits).empty());
}

}  // namespace spillway::proxy
