// A job that changes a URI makes void what is stored for it, as a live request does (RFC 9111
// section 4.4).
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

// Answers each GET with a larger number that may be stored, and the other methods with these lines.
struct NumberedPages {
  std::string changed;
  std::atomic<int> number{0};
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const bool reads = request->method() == "GET";
      const std::string body = std::to_string(reads ? ++number : 0);
      const std::string kept = "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\n";
      if (!proxy.send((reads ? kept : changed) + "Content-Length: " + std::to_string(body.size()) +
                      "\r\n\r\n" + body))
        return;
    }
  }};
};

json deferring_and_caching() {
  json settings = deferring();
  for (json& route : settings["routes"]) {
    route["cache"] = {{"serve", "fresh"}, {"max_bytes", 1 << 20}, {"max_entry_bytes", 1 << 16}};
    route["defer"]["max_attempts"] = 1;
  }
  return settings;
}

}  // namespace

TEST_CASE("a job that succeeds makes void what is stored for its URI and for its Location") {
  NumberedPages pages{"HTTP/1.1 201 Created\r\nLocation: /mail/new\r\n"};
  const ProxyUnderTest proxy(pages.peer.address(), deferring_and_caching());
  RawClient client(proxy.port());
  const auto read = [&](const char* target) { return client.ask(get(target)).body; };
  for (int n = 0; n < 2; ++n) {
    CHECK(read("/export/1") == "1");
    CHECK(read("/mail/new") == "2");
    CHECK(read("/export/2") == "3");
  }
  REQUIRE(client.ask(post("/export/1", "x")).status() == 202);
  REQUIRE(Operator{proxy.admin_port()}.come_to(1, "state=succeeded"));
  CHECK(read("/export/1") == "4");
  CHECK(read("/mail/new") == "5");
  CHECK(read("/export/2") == "3");  // negative control
}

TEST_CASE("a job that fails leaves what is stored for its URI") {
  NumberedPages pages{"HTTP/1.1 500 Broken\r\nLocation: /mail/new\r\n"};
  const ProxyUnderTest proxy(pages.peer.address(), deferring_and_caching());
  RawClient client(proxy.port());
  const auto read = [&](const char* target) { return client.ask(get(target)).body; };
  CHECK(read("/export/1") == "1");
  CHECK(read("/mail/new") == "2");
  REQUIRE(client.ask(post("/export/1", "x")).status() == 202);
  REQUIRE(Operator{proxy.admin_port()}.come_to(1, "state=dead"));
  CHECK(read("/export/1") == "1");
  CHECK(read("/mail/new") == "2");
}
