// No client is given an answer that was meant for another.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "system/integration/origin.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

json settings(const std::string& server, json of_cache = json::object()) {
  of_cache["serve"] = "fresh";
  json all = overloadable(server, {{"more_routes", {cached_route("page", {}, cache(of_cache))}},
                                   {"trusted_peers", {"127.0.0.0/8"}},
                                   {"trusted_headers", {{"tenant", "X-Tenant"}}}});
  all["tenants"]["api_keys"] = {{{"tenant", "red"}, {"key", "red-key-1"}},
                                {{"tenant", "blue"}, {"key", "blue-key-1"}}};
  return all;
}

const std::string kRed = "X-Api-Key: red-key-1\r\n";
const std::string kBlue = "X-Api-Key: blue-key-1\r\n";

}  // namespace

TEST_CASE("two tenants never see each other's answer even if it calls itself public") {
  Origin origin;
  const ProxyUnderTest proxy(settings(origin.peer.address()));
  RawClient client(proxy.port());
  const auto ask = [&](const std::string& target, const std::string& who) {
    return client.ask(get(target, who)).body;
  };
  for (const std::string target : {"/page?age=60", "/page?public"}) {
    std::set<std::string> answers;
    for (const std::string& who : {kRed, kBlue, std::string("X-Tenant: red\r\n"),
                                   std::string("X-Tenant: blue\r\n"), std::string()}) {
      const std::string first = ask(target, who);
      CHECK(answers.insert(first).second);
      CHECK(ask(target, who) == first);
    }
  }
  CHECK(origin.answers == 10);
}

TEST_CASE("where the route shares answers among tenants only public ones are shared") {
  Origin origin;
  const ProxyUnderTest proxy(settings(origin.peer.address(), {{"across_tenants", true}}));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/page?public", kRed)).body == "1");
  CHECK(client.ask(get("/page?public", kBlue)).body == "1");
  CHECK(client.ask(get("/page?public")).body == "1");
  CHECK(client.ask(get("/page?age=60", kRed)).body == "2");
  CHECK(client.ask(get("/page?age=60", kBlue)).body == "3");
}

TEST_CASE("an answer to a request with credentials is kept only with the upstream's leave") {
  Origin origin;
  const ProxyUnderTest proxy(settings(origin.peer.address()));
  RawClient client(proxy.port());
  const std::set<std::string> personal{"Cookie: session=1\r\n", "Authorization: Basic eDp5\r\n",
                                       "X-Api-Key: nobody's\r\n"};
  int answers = 0;
  for (const std::string& who : personal) {
    const Message answer = client.ask(get("/page?age=60", who));
    CHECK(answer.body == std::to_string(++answers));
    CHECK(field(answer, "Cache-Status") == "spillway; fwd=uri-miss");
    CHECK(client.ask(get("/page?age=60", who)).body == std::to_string(++answers));
  }
  CHECK(client.ask(get("/page?age=60")).body == "7");
  // What was stored for nobody in particular may have looked different to these.
  for (const std::string& who : personal)
    CHECK(client.ask(get("/page?age=60", who)).body == std::to_string(8 + answers++ - 6));
  CHECK(client.ask(get("/page?public", *personal.begin())).body == "11");
  CHECK(client.ask(get("/page?public")).body == "11");
}

TEST_CASE("the scheme that a trusted proxy names tells answers apart") {
  Origin origin;
  const ProxyUnderTest proxy(settings(origin.peer.address()));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/page?age=60")).body == "1");
  CHECK(client.ask(get("/page?age=60", "X-Forwarded-Proto: https\r\n")).body == "2");
  CHECK(client.ask(get("/page?age=60", "X-Forwarded-Host: other\r\n")).body == "3");
  CHECK(client.ask(get("/page?age=60", "X-Forwarded-Proto: https\r\n")).body == "2");
}

TEST_CASE("whatever else a trusted proxy forwards tells answers apart, an untrusted peer nothing") {
  const std::vector<std::string> lines{
      "X-Forwarded-Prefix: /shop\r\n", "X-Forwarded-Prefix: /shop\r\nX-Forwarded-Prefix: /b\r\n",
      "X-Forwarded-Port: 8443\r\n", "X-Forwarded-User: ann\r\n", "x-forwarded-email: ann@x\r\n"};
  for (const bool is_trusted : {true, false}) {
    CAPTURE(is_trusted);
    Origin origin;
    json config = settings(origin.peer.address());
    if (!is_trusted) config["trusted_peers"] = json::array();
    const ProxyUnderTest proxy(config);
    RawClient client(proxy.port());
    CHECK(client.ask(get("/page?age=60")).body == "1");
    for (int again = 0; again < 2; ++again) {
      for (std::size_t n = 0; n < lines.size(); ++n)
        CHECK(client.ask(get("/page?age=60", lines[n])).body ==
              std::to_string(is_trusted ? n + 2 : 1));
    }
    // The client's address is no part of the question.
    CHECK(client.ask(get("/page?age=60", "X-Forwarded-For: 192.0.2.7\r\n")).body == "1");
  }
}
