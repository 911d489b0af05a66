#include "config/file/reload.hpp"

#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

TEST_CASE("keys that are neither bound nor sized at start can change by a reload") {
  const Config running = load_good(with(""));
  CHECK(needs_restart(running, running, false).empty());
  const Config wanted = load_good(
      with(R"("dispatch":{"concurrency":3},"limits":{"connections":7},"log":{"level":"debug"},)"
           R"("routes":[{"name":"a","match":{}}],"trusted_peers":["10.0.0.0/8"])"));
  CHECK(needs_restart(running, wanted, false).empty());
}

TEST_CASE("changes that need a restart are listed by key and never show a token") {
  const Config running = load_good(with(R"("admin":{"token":"first-token"})"));
  const Config wanted = load_good(
      with(R"("admin":{"token":"second-token","port":9},"listen":{"address":"::1","port":8},)"
           R"("workers":3,"limits":{"header_bytes":2048})"));
  const Problems problems = needs_restart(running, wanted, false);
  const std::string text = listing(problems);
  CHECK(problems.size() == 6);
  CHECK(text.find("$.listen.port: found 8, running with 8080") != std::string::npos);
  CHECK(text.find("$.listen.address: found \"::1\"") != std::string::npos);
  CHECK(text.find("$.admin.token") != std::string::npos);
  CHECK(text.find("first-token") == std::string::npos);
  CHECK(text.find("second-token") == std::string::npos);
}

TEST_CASE("a route with a waiting room that has another name, and the same match, is renamed") {
  const auto routes = [](const std::string& list) {
    return load_good(with(R"("routes":[)" + list + "]"));
  };
  const auto route = [](const std::string& name, const std::string& path, bool waits = true) {
    return R"({"name":")" + name + R"(","match":{"path":")" + path + R"("})" +
           (waits ? R"(,"waiting_room":{}})" : "}");
  };
  const Config running = routes(route("first", "/first") + "," + route("sale", "/sale/**"));
  const auto renamed = [&](const std::string& list) {
    return renamed_waiting_rooms(running, routes(list));
  };
  const auto both = renamed(route("shop", "/sale/**") + "," + route("first", "/first"));
  REQUIRE(both.size() == 1);
  CHECK(both[0].running == 1);
  CHECK(both[0].wanted == 0);
  // The control: it has its name, or is gone, or is another one.
  CHECK(renamed(route("sale", "/sale/**") + "," + route("first", "/first")).empty());
  CHECK(renamed(route("sale", "/else/**") + "," + route("new", "/sale/**")).empty());
  CHECK(renamed(route("first", "/first")).empty());
  CHECK(renamed(route("shop", "/sale/**", false)).empty());
  CHECK(renamed(route("shop", "/shop/**")).empty());
}

}  // namespace
}  // namespace spillway::config
