// Paths that a backend may take for those of another route: class, cache and refusal.
#include <doctest/doctest.h>

#include <string>

#include "system/integration/origin.hpp"

using namespace spillway::support;
using nlohmann::json;

namespace {

json shop(json changes = json::object()) {
  json all =
      never_shed({{"routes",
                   {{{"name", "checkout"}, {"match", {{"path", "/checkout/**"}}}, {"class", "P0"}},
                    {{"name", "export"}, {"match", {{"path", "/export/**"}}}, {"class", "P2"}}}}});
  all.merge_patch(changes);
  return all;
}

std::string forwarded(const char* route, const char* its_class) {
  return std::string(R"(spillway_requests_total{route=")") + route + R"(",class=")" + its_class +
         R"(",outcome="forwarded"})";
}

constexpr const char* kConfused[] = {"/export/../checkout/x",
                                     "/export//../checkout/x",
                                     "/checkout/..%2fexport/..;/../checkout/x",
                                     "/export/..;a/checkout/x",
                                     "/checkout/%2e%2e/export/x",
                                     "/export\\..\\checkout/x",
                                     "/checkout/..%252fexport"};

}  // namespace

TEST_CASE("a path that may be another route's goes on as it came, in the lowest class") {
  Backend backend;
  const ProxyUnderTest proxy(backend.peer.address(), shop());
  RawClient client(proxy.port());
  double sent = 0;
  for (const char* path : kConfused) {
    CAPTURE(path);
    CHECK(client.ask(get(path)).body == path);
    CHECK(proxy.metric_becomes(forwarded("export", "P2"), ++sent));
  }
  CHECK(proxy.metric(forwarded("checkout", "P0")) == 0);
  CHECK(client.ask(get("/checkout/x")).status() == 200);
  CHECK(client.ask(get("/checkout/a%2Fb;v=1")).status() == 200);
  CHECK(proxy.metric_becomes(forwarded("checkout", "P0"), 2));
}

TEST_CASE("with reject a path that may be another route's is 400 and reaches no backend") {
  Backend backend;
  const ProxyUnderTest proxy(backend.peer.address(), shop({{"ambiguous_paths", "reject"}}));
  for (const char* path : kConfused) {
    CAPTURE(path);
    const Message answer = RawClient(proxy.port()).ask(get(path));
    CHECK(answer.status() == 400);
    CHECK(answer.body.find("paths of different routes") != std::string::npos);
    CHECK(field(answer, "Proxy-Status") ==
          "spillway; error=http_request_error; details=\"BAD_REQUEST\"");
  }
  CHECK(backend.peer.seen().requests == 0);
  // What any backend takes for a path of this route passes.
  for (const char* path : {"/checkout/x", "/checkout/a%2Fb", "/checkout//x/./y", "/checkout/a;v=1",
                           "/other/../x", "/100%25", "/a%20b?c=/../d"}) {
    CAPTURE(path);
    CHECK(RawClient(proxy.port()).ask(get(path)).body == path);
  }
}

TEST_CASE("a HEAD goes in the class of a GET where that is lower, and is not refused") {
  Backend backend;
  json config = shop({{"ambiguous_paths", "reject"}});
  config["routes"][1]["match"]["methods"] = json::array({"GET"});
  const ProxyUnderTest proxy(backend.peer.address(), config);
  const auto status_of = [&](const std::string& method) {
    RawClient client(proxy.port());
    client.send(method + " /export/x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    return client.read_response(Expected::head_only).status();
  };
  CHECK(status_of("HEAD") == 200);
  CHECK(proxy.metric_becomes(forwarded("export", "P2"), 1));
  CHECK(status_of("POST") == 200);  // the control: another route's
  CHECK(proxy.metric_becomes(forwarded("default", "P0"), 1));
  CHECK(proxy.metric(forwarded("export", "P2")) == 1);
}

TEST_CASE("an ambiguous path is neither stored nor answered from the store") {
  Origin origin;
  const ProxyUnderTest proxy(
      overloadable(origin.peer.address(),
                   {{"more_routes", {cached_route("public", {}, cache({{"serve", "fresh"}}))}}}));
  RawClient client(proxy.port());
  int answers = 0;
  for (const std::string path :
       {"/public/..%2fprivate?age=60", "/public/%2e%2e/private?age=60", "/public/../private?age=60",
        "/public/..;/private?age=60", "/public/x\\y?age=60", "/public/a%2fb?age=60",
        "/public//x?age=60", "/public/./x?age=60", "/public/x;v?age=60", "/public/x%00?age=60",
        "/public/x%23y?age=60", "/public/%252e%252e/x?age=60"}) {
    CAPTURE(path);
    for (int round = 0; round < 2; ++round) {
      const Message answer = client.ask(get(path));
      CHECK(answer.body == std::to_string(++answers));
      CHECK_FALSE(field(answer, "Cache-Status").starts_with("spillway; hit"));
      CHECK(field(answer, "Cache-Status").find("stored") == std::string::npos);
    }
  }
  // The control: the same route keeps what has one reading.
  for (const std::string path : {"/public/x?age=60", "/public/a%20b?age=60"}) {
    CAPTURE(path);
    const std::string first = std::to_string(++answers);
    CHECK(client.ask(get(path)).body == first);
    CHECK(client.ask(get(path)).body == first);
  }
}
