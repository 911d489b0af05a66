#include "http/message/error.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "http/outgoing/problem.hpp"

using namespace spillway::http;

TEST_CASE("every fault of a message has a status and a sentence") {
  for (std::size_t i = 1; i < kErrorCount; ++i) {
    const auto error = static_cast<Error>(i);
    CHECK(status_of(error) >= 400);
    CHECK(std::string_view(describe(error)).ends_with('.'));
    CHECK(proxy_status(error) == "http_request_error");
    CHECK_FALSE(upstream_proxy_status(error).empty());
    CHECK_FALSE(reason_phrase(static_cast<unsigned>(status_of(error))).empty());
  }
  CHECK(status_of(Error::head_too_large) == 431);
  CHECK(status_of(Error::uri_too_long) == 414);
  CHECK(status_of(Error::body_too_large) == 413);
  CHECK(status_of(Error::method_refused) == 405);
  CHECK(status_of(Error::version_unsupported) == 505);
  CHECK(status_of(Error::expectation_failed) == 417);
  CHECK(status_of(Error::unknown_coding) == 501);
  CHECK(upstream_proxy_status(Error::truncated) == "http_response_incomplete");
}
