#include "config/warnings.hpp"

#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

const std::string kRoom =
    R"("routes":[{"name":"sale","match":{"path":"/sale/**"},"waiting_room":{}}])";

std::string with_store(const std::string& url, const std::string& routes = kRoom) {
  return with(routes + R"(,"store":{"url":")" + url + "\"}");
}

TEST_CASE("waiting rooms of proxies that share a database are warned of: they are not shared") {
  const Problems found = warnings(load_good(with_store("postgresql:///jobs")));
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "$.store.url");
  CHECK(found[0].message.find("do not share waiting rooms") != std::string::npos);
  CHECK(warnings(load_good(with_store("sqlite:jobs.db"))).empty());
  CHECK(warnings(load_good(with(kRoom))).empty());
  const std::string no_room = R"("routes":[{"name":"a","match":{}}])";
  CHECK(warnings(load_good(with_store("postgresql:///jobs", no_room))).empty());
}

}  // namespace
}  // namespace spillway::config
