// Overload is judged upstream by upstream.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/counting_backend.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/refusal.hpp"

namespace spillway {

TEST_CASE("an upstream in a burst of errors costs another one nothing") {
  using namespace support;
  using nlohmann::json;

  const ScriptedPeer sick("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n");
  const CountingBackend sound({});
  const json match_reports = {{"path", "/reports"}};
  const json match_shop = {{"path", "/shop"}};
  const ProxyUnderTest proxy(json{
      {"upstreams",
       {{{"name", "reports"}, {"servers", {sick.address()}}},
        {{"name", "shop"}, {"servers", {sound.address()}}}}},
      {"routes",
       {{{"name", "reports"}, {"match", match_reports}, {"class", "P2"}, {"upstream", "reports"}},
        {{"name", "shop"}, {"match", match_shop}, {"class", "P2"}, {"upstream", "shop"}}}},
      {"overload", {{"tick_ms", 50}, {"window_ms", 1000}, {"cooldown_ms", 500}}}});

  RawClient client(proxy.port());
  // The upstream's own errors are passed on until there is evidence enough.
  const Deadline deadline;
  Message answer = client.ask(get("/reports"));
  CHECK(answer.status() == 500);
  while (answer.status() == 500 && !deadline.passed()) answer = client.ask(get("/reports"));
  check_refusal(answer, 503, "P2", "ERROR_BURST");

  for (int n = 0; n < 25; ++n) CHECK(client.ask(get("/shop")).status() == 200);
  const json upstreams = proxy.state()["upstreams"];
  CHECK(upstreams[0]["state"] == "OVERLOADED");
  CHECK(upstreams[0]["reason"] == "ERROR_BURST");
  CHECK(upstreams[1]["state"] == "NORMAL");

  // Nothing comes through that could keep the signal up, so it ends by itself.
  CHECK(proxy.state_becomes(
      [](const json& state) { return state["upstreams"][0]["state"] == "NORMAL"; }));
}

}  // namespace spillway
