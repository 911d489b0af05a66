#include "proxy/exchange/logged_path.hpp"

#include <doctest/doctest.h>

#include <string>

namespace spillway::proxy {

namespace {
const std::string kId = "0123456789abcdeffedcba9876543210";
constexpr std::string_view kShown = "/spillway/jobs/0123456789abcdef";
}  // namespace

TEST_CASE("the access log shows no more than the first half of a job's id") {
  CHECK(logged_path("/spillway/jobs/" + kId, "/spillway") == kShown);
  CHECK(logged_path("/spillway/jobs/" + kId + "/response", "/spillway") == kShown);
  CHECK(logged_path("/spillway/jobs/" + kId + "/events", "/spillway") == kShown);
  // Whatever it is followed by, or if it is no id.
  CHECK(logged_path("/spillway/jobs/" + kId + kId, "/spillway") == kShown);
  CHECK(logged_path("/spillway/jobs/0123", "/spillway") == "/spillway/jobs/0123");
  CHECK(logged_path("/spillway/jobs/", "/spillway") == "/spillway/jobs/");
}

TEST_CASE("other paths are logged as they are") {
  const std::string job = "/spillway/jobs/" + kId, other = "/jobs/" + kId;
  CHECK(logged_path(job, "") == job);
  CHECK(logged_path(job, "/_own") == job);
  CHECK(logged_path(other, "/spillway") == other);
  CHECK(logged_path("/spillway" + kId + "/jobs/", "/spillway") == "/spillway" + kId + "/jobs/");
  CHECK(logged_path("/", "/spillway") == "/");
}

}  // namespace spillway::proxy
