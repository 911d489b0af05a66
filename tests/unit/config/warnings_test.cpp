#include "config/warnings.hpp"

#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

const std::string kRoom =
    R"("routes":[{"name":"sale","match":{"path":"/sale/**"},"waiting_room":{}}])";

std::string with_store(const std::string& url, const std::string& routes = kRoom) {
  return with(routes + R"(,"store":{"url":")" + url + "\"}");
}

TEST_CASE(
    "with any store a waiting room is nothing to be warned of: proxies on one database share it") {
  for (const char* const url : {"postgresql:///jobs", "sqlite:jobs.db", "memory:", ""}) {
    CAPTURE(url);
    CHECK(warnings(load_good(with_store(url))).empty());
  }
}

}  // namespace
}  // namespace spillway::config
