#include "config/check/checks.hpp"

#include "config/file/reload.hpp"
#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

std::string route(const std::string& defer, const std::string& more = "") {
  return with(R"("routes":[{"name":"export","match":{"path":"/export"},"defer":)" + defer + "}]" +
              (more.empty() ? "" : "," + more));
}

const Defer& defer_of(const Config& config) { return *config.routes[0].defer; }

TEST_CASE("a route defers what finds no room, and nothing else unless it says so") {
  CHECK_FALSE(load_good(with(R"("routes":[{"name":"a","match":{}}])")).routes[0].defer);
  const Defer plain = defer_of(load_good(route("{}")));
  CHECK(plain.when == DeferWhen::overloaded);
  CHECK_FALSE(plain.include_limits);
  CHECK_FALSE(plain.retry_unanswered);
  CHECK_FALSE(plain.traffic_class);
  CHECK(plain.max_attempts == 10);
  CHECK(plain.ttl == Milliseconds{86'400'000});
}

TEST_CASE("what a route does not say, the jobs section says") {
  const Config config = load_good(route(R"({"when":"always","backoff":{"max_ms":5000}})",
                                        R"("jobs":{"max_attempts":3,"backoff":{"base_ms":50}})"));
  CHECK(defer_of(config).when == DeferWhen::always);
  CHECK(defer_of(config).max_attempts == 3);
  CHECK(defer_of(config).backoff.base == Milliseconds{50});
  CHECK(defer_of(config).backoff.max == Milliseconds{5000});
}

TEST_CASE("whose an Idempotency-Key is is said by fields and cookies, by nothing, or not at all") {
  CHECK_FALSE(defer_of(load_good(route("{}"))).idempotency_principal);
  const Defer named = defer_of(
      load_good(route(R"({"idempotency_principal":{"fields":["X-User"],"cookies":["session"]}})")));
  REQUIRE(named.idempotency_principal);
  CHECK(named.idempotency_principal->fields == std::vector<std::string>{"X-User"});
  CHECK(named.idempotency_principal->cookies == std::vector<std::string>{"session"});
  const Defer inherited =
      defer_of(load_good(route("{}", R"("jobs":{"idempotency_principal":{}})")));
  REQUIRE(inherited.idempotency_principal);
  CHECK(inherited.idempotency_principal->fields.empty());
  check_problem(route(R"({"idempotency_principal":{"fields":["a b"]}})"),
                "$.routes[0].defer.idempotency_principal.fields[0]", "HTTP field");
  check_problem(route(R"({"idempotency_principal":{"cookies":["spillway-pass"]}})"),
                "$.routes[0].defer.idempotency_principal.cookies[0]", "cookie");
}

TEST_CASE("a pause that is doubled up to a bound starts below it") {
  check_problem(route(R"({"backoff":{"base_ms":10,"max_ms":9}})"),
                "$.routes[0].defer.backoff.base_ms", "found 10, allowed: up to");
  check_problem(with(R"("jobs":{"backoff":{"base_ms":600001}})"), "$.jobs.backoff.base_ms",
                "found 600001");
}

TEST_CASE("a deferred request is asked after below a path of Spillway's own") {
  CHECK(load_good(with("")).own_path == "/_spillway");
  check_problem(route("{}", R"("own_path":"")"), "$.routes[0].defer", "$.own_path");
  for (const char* bad : {"/", "spillway", "/a/*", "/a/", "/a/../b", "/%61"})
    check_problem(with(R"("own_path":")" + std::string(bad) + "\""), "$.own_path", "literal");
}

TEST_CASE("a store is memory, a file or a database, and no password is written down") {
  for (const char* good : {"", "memory:", "sqlite:jobs.db", "sqlite:/var/lib/x.db",
                           "postgresql://db/jobs", "postgres://user@db:5432/jobs?sslmode=require"})
    CHECK(load_good(with(R"("store":{"url":")" + std::string(good) + R"("})")).store.url == good);
  for (const char* bad : {"file.db", "sqlite:", "mysql://db", "postgresql://user:secret@db/jobs",
                          "postgresql://db/jobs?password=secret"})
    check_problem(with(R"("store":{"url":")" + std::string(bad) + R"("})"), "$.store.url",
                  "without a password");
}

TEST_CASE("another store takes a restart, and so does the first route that defers") {
  const Config none = load_good(with(""));
  const Config first = load_good(route("{}"));
  const Config other = load_good(route("{}", R"("store":{"url":"memory:"})"));
  CHECK(needs_restart(first, first, true).empty());
  CHECK(needs_restart(first, none, true).empty());
  CHECK(listing(needs_restart(none, first, false)).find("$.routes: the first route") !=
        std::string::npos);
  CHECK(needs_restart(none, first, true).empty());  // it is open
  CHECK(listing(needs_restart(first, other, true)).find("$.store.url: found \"memory:\"") !=
        std::string::npos);
}

}  // namespace
}  // namespace spillway::config
