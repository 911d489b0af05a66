// A request of HTTP/1.0 without Host that is deferred: its upstream gets what it would have got.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "http/field/ascii.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

// Of each request, or of jobs only.
constexpr std::array kOwnFields{"X-Request-Id", "traceparent", "Idempotency-Key",
                                "Spillway-Attempt"};

std::vector<std::string> compared_lines(const Message& request) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : request.fields) {
    const bool is_its_own =
        std::any_of(kOwnFields.begin(), kOwnFields.end(),
                    [&name = name](const char* own) { return http::iequals(own, name); });
    if (!is_its_own) lines.push_back(name + ": " + value);
  }
  std::sort(lines.begin(), lines.end());
  lines.insert(lines.begin(), request.start_line);
  lines.push_back(request.body);
  return lines;
}

struct NotingBackend {
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      {
        const std::lock_guard lock(mutex);
        requests.push_back(*request);
      }
      if (!proxy.send(ok("done"))) return;
    }
  }};
  std::mutex mutex;
  std::vector<Message> requests;
};

json preferring_clients(const json& more = json::object()) {
  json all = deferring();
  for (json& route : all["routes"]) route["defer"]["when"] = "prefer";
  all.merge_patch(more);
  return all;
}

}  // namespace

TEST_CASE("a deferred request of HTTP/1.0 without Host reaches its upstream as a live one") {
  for (const std::string& lines :
       {std::string(), std::string("Connection: keep-alive\r\nAccept: text/plain\r\n"),
        std::string("X-Forwarded-Host: shop.example\r\nX-Forwarded-For: 10.1.2.3\r\n")}) {
    CAPTURE(lines);
    NotingBackend backend;
    ProxyUnderTest proxy(backend.peer.address(), preferring_clients());
    const auto ask = [&](const std::string& more) {
      return RawClient(proxy.port())
          .ask("POST /export/7?a=b HTTP/1.0\r\nContent-Length: 4\r\n" + lines + more + "\r\nbody");
    };
    REQUIRE(ask("").status() == 200);
    REQUIRE(ask("Prefer: respond-async\r\n").status() == 202);
    REQUIRE(Operator{proxy.admin_port()}.come_to(1, "state=succeeded"));
    REQUIRE(backend.requests.size() == 2);
    CHECK(backend.requests[0].field("Host") == backend.peer.address());
    CHECK(compared_lines(backend.requests[1]) == compared_lines(backend.requests[0]));
  }
}
