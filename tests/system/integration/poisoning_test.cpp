// What one client says in fields that are not part of the key does not become the answer of others.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/origin.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

std::string answer(std::string_view status, std::string_view body, std::string_view lines) {
  return "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + std::string(lines) + "\r\n" + std::string(body);
}

// As frameworks do: in the language that is asked for, and 405 for an overridden method.
ScriptedPeer::Script framework() {
  return [](PeerConnection& connection) {
    while (const auto request = connection.read_request()) {
      const std::string language = request->field("Accept-Language").value_or("none");
      const bool is_overridden = request->field("X-HTTP-Method-Override").has_value();
      const bool is_broken = request->field("X-Broken").has_value();
      const std::string lines = "Vary: Accept-Language\r\n";
      const std::string said = is_overridden ? answer("405 No", "", "Allow: GET\r\n")
                               : is_broken   ? answer("404 Not Found", "", "")
                                             : answer("200 OK", language, lines);
      if (!connection.send(said)) return;
    }
  };
}

json settings(const ScriptedPeer& peer, int error_ttl_ms = 0) {
  json config = configuration({peer.address()}, never_shed());
  config["default_route"]["cache"] =
      cache({{"serve", "fresh"}, {"ttl_ms", 3'600'000}, {"error_ttl_ms", error_ttl_ms}});
  return config;
}

TEST_CASE("a field that Connection takes out gets no client another's language") {
  ScriptedPeer peer(framework());
  const ProxyUnderTest proxy(settings(peer));
  RawClient client(proxy.port());
  const std::string german = "Accept-Language: de\r\n";
  for (const std::string target : {"/a", "/b"}) {
    // With and without the names that the response varies by being known.
    if (target == "/b") CHECK(client.ask(get(target, "Accept-Language: en\r\n")).body == "en");
    client.ask(get(target, german + "Connection: Accept-Language\r\n"));
    CHECK(client.ask(get(target, german)).body == "de");
    CHECK(client.ask(get(target, "Connection: accept-language\r\n" + german)).status() == 200);
    CHECK(client.ask(get(target)).body == "none");
    CHECK(client.ask(get(target, german)).body == "de");
  }
  CHECK(field(client.ask(get("/a", german)), "Cache-Status").starts_with("spillway; hit"));
}

TEST_CASE("errors that unkeyed fields bring about are not given to others") {
  ScriptedPeer peer(framework());
  const ProxyUnderTest proxy(settings(peer));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/a", "X-HTTP-Method-Override: POST\r\n")).status() == 405);
  CHECK(client.ask(get("/b", "X-Broken: 1\r\n")).status() == 404);
  for (const std::string target : {"/a", "/b"}) {
    CHECK(client.ask(get(target)).status() == 200);
    CHECK(field(client.ask(get(target)), "Cache-Status").starts_with("spillway; hit"));
  }
  // Nor is it given to a request for something else.
  CHECK(client.ask(get("/a", "X-HTTP-Method-Override: POST\r\n")).status() == 405);
}

TEST_CASE("with a time for errors they are kept but not those of another method") {
  ScriptedPeer peer(framework());
  const ProxyUnderTest proxy(settings(peer, 3'600'000));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/a", "X-HTTP-Method-Override: POST\r\n")).status() == 405);
  CHECK(client.ask(get("/a")).status() == 200);
  CHECK(client.ask(get("/b", "X-Broken: 1\r\n")).status() == 404);
  CHECK(client.ask(get("/b")).status() == 404);  // the control
}

}  // namespace
}  // namespace spillway::support
