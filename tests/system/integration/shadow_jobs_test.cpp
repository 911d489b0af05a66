// Deferred requests that were accepted before their upstream went into shadow mode.
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "system/integration/jobs_operator.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

json settings(const std::string& server, const std::string& mode, json defer) {
  defer["when"] = "always";
  return configuration({server}, {{"store", {{"url", "memory:"}}},
                                  {"workers", 1},
                                  {"dispatch", {{"concurrency", 1}}},
                                  {"overload", {{"mode", mode}}},
                                  {"routes",
                                   {{{"name", "export"},
                                     {"match", {{"path", "/export/**"}}},
                                     {"class", "P2"},
                                     {"defer", std::move(defer)}}}}});
}

}  // namespace

TEST_CASE("in shadow mode jobs are forwarded, with and without a class, and wait for a free slot") {
  for (const bool has_class : {true, false}) {
    CAPTURE(has_class);
    const json defer = has_class ? json{{"class", "P1"}} : json::object();
    Event go;
    std::atomic<int> exports{0};
    ScriptedPeer peer([&](PeerConnection& proxy) {
      while (const auto request = proxy.read_request()) {
        if (request->target() == "/held" && !proxy.wait(go)) return;
        const bool refuses = request->target() != "/held" && exports++ == 0;
        proxy.send(refuses ? "HTTP/1.1 503 Unavailable\r\nRetry-After: 1\r\n"
                             "Content-Length: 0\r\n\r\n"
                           : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      }
    });
    ProxyUnderTest proxy(settings(peer.address(), "enforce", defer));
    const Operator desk{proxy.admin_port()};
    support::defer(proxy.port(), "/export/1");
    REQUIRE(desk.come_to(1, "state=retrying"));
    REQUIRE(proxy.reload(settings(peer.address(), "shadow", defer)).status() == 200);
    RawClient holder(proxy.port());
    holder.send(get("/held"));
    // Its turn has come, and the slot is held.
    REQUIRE(proxy.metric_becomes("spillway_jobs_in_hand", 1));
    CHECK(exports == 1);
    go.set();
    CHECK(holder.read_response().status() == 200);
    CHECK(desk.come_to(1, "state=succeeded"));
    CHECK(exports == 2);
  }
}
