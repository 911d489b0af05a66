// How often clients may ask after deferred requests.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "system/integration/jobs_operator.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kUnknownJob = "/_spillway/jobs/00000000000000000000000000000000";

// Asked so often by one client: how often each status came.
std::map<int, int> asked(RawClient& client, const std::string& request, int times) {
  std::map<int, int> statuses;
  for (int n = 0; n < times; ++n) {
    const Message answer = client.ask(request);
    ++statuses[answer.status()];
    if (answer.status() != 429) continue;
    CHECK(answer.field("Retry-After"));
    CHECK(json::parse(answer.body).at("reason") == "BUDGET_EXCEEDED");
  }
  return statuses;
}

json lookups(double per_second, json more = json::object()) {
  json changes{{"store", {{"lookups_per_second", per_second}}}};
  changes.merge_patch(more);
  return deferring(changes);
}

}  // namespace

TEST_CASE("a client that asks after jobs too often is told when to come again, others are not") {
  RejectingBackend backend;
  const ProxyUnderTest proxy(backend.peer.address(), lookups(8));
  const std::string id = defer(proxy.port(), "/export/1");
  int refused = 0;
  // Two questions pass at once, and two in each second.
  for (const char* part : {"", "/response", "/events"}) {
    RawClient client(proxy.port());
    refused += asked(client, get(kUnknownJob + part), 30).at(429);
  }
  RawClient client(proxy.port()), other(proxy.port(), 0, "127.0.0.2");
  refused += asked(client, "DELETE " + kUnknownJob + " HTTP/1.1\r\nHost: a\r\n\r\n", 30).at(429);
  CHECK(refused >= 60);
  CHECK(other.ask(get("/_spillway/jobs/" + id)).status() == 200);
  // Requests are taken as before.
  CHECK(client.ask(post("/export/2", "x")).status() == 202);
  double counted = 0;
  for (const char* name : {"P0", "P1", "P2"})
    counted += proxy.metric("spillway_denied_total{class=\"" + std::string(name) +
                            "\",reason=\"BUDGET_EXCEEDED\"}");
  CHECK(counted == refused);
}

TEST_CASE("as many questions pass by default, and a new rate is in effect after a reload") {
  RejectingBackend backend;
  ProxyUnderTest proxy(configuration({backend.peer.address()}, deferring()));
  RawClient client(proxy.port());
  CHECK(asked(client, get(kUnknownJob), 40) == std::map<int, int>{{404, 40}});
  REQUIRE(proxy.reload(configuration({backend.peer.address()}, lookups(1))).status() == 200);
  RawClient later(proxy.port());
  CHECK(asked(later, get(kUnknownJob), 40).at(429) >= 30);
}

TEST_CASE("questions after jobs count in their tenant's budget") {
  RejectingBackend backend;
  const json key = {
      {"name", "acme"}, {"key", "acme-secret-1"}, {"budget", {{"rate", 0.01}, {"burst", 3}}}};
  const ProxyUnderTest proxy(backend.peer.address(),
                             deferring({{"tenants", {{"api_keys", {key}}}}}));
  RawClient client(proxy.port());
  const std::map<int, int> expected{{404, 3}, {429, 7}};
  CHECK(asked(client, get(kUnknownJob, "X-Api-Key: acme-secret-1\r\n"), 10) == expected);
  // negative control: without that budget
  CHECK(asked(client, get(kUnknownJob), 10) == std::map<int, int>{{404, 10}});
}

TEST_CASE("a question that is refused is not deferred in its turn") {
  RejectingBackend backend;
  const json route{{"name", "all"},
                   {"match", {{"path", "/**"}}},
                   {"class", "P2"},
                   {"defer", {{"include_limits", true}}}};
  const ProxyUnderTest proxy(backend.peer.address(),
                             lookups(0.1, {{"routes", json::array({route})}}));
  RawClient client(proxy.port());
  const std::string cancel = "DELETE " + kUnknownJob + " HTTP/1.1\r\nHost: a\r\n\r\n";
  CHECK(client.ask(cancel).status() == 404);
  CHECK(client.ask(cancel).status() == 429);
  CHECK(proxy.metric("spillway_jobs_accepted_total") == 0);
}

TEST_CASE("while clients ask after unknown jobs as fast as they can, every request is accepted") {
  RejectingBackend backend;
  const ProxyUnderTest proxy(backend.peer.address(), deferring());
  Event over;
  std::vector<std::thread> flood;
  for (int n = 0; n < 4; ++n) {
    flood.emplace_back([&] {
      RawClient client(proxy.port());
      while (!over.is_set()) client.ask(get(kUnknownJob));
    });
  }
  RawClient client(proxy.port());
  int accepted = 0;
  for (int n = 0; n < 100; ++n)
    accepted += client.ask(post("/export/1", "x")).status() == 202 ? 1 : 0;
  over.set();
  for (std::thread& one : flood) one.join();
  CHECK(accepted == 100);
}
