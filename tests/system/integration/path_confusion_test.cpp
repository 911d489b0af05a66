// Spellings of paths through the proxy to a real NGINX and a real HAProxy: what they serve is never
// of a lower class than the request was given.
#include <doctest/doctest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "support/haproxy.hpp"
#include "support/nginx.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/integration/wire.hpp"
#include "traffic/classify/classify.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

// Each location of a backend names the class that its work deserves.
const std::string kLocations = R"(
    location /checkout/ { return 200 "P0"; }
    location /export/ { return 200 "P2"; }
    location / { return 200 "P1"; }
  )";
constexpr std::array<std::string_view, 3> kClasses{"P0", "P1", "P2"};

json shop() {
  return never_shed(
      {{"default_route", {{"class", "P1"}}},
       {"routes",
        {{{"name", "checkout"}, {"match", {{"path", "/checkout/**"}}}, {"class", "P0"}},
         {{"name", "export"}, {"match", {{"path", "/export/**"}}}, {"class", "P2"}}}}});
}

std::string haproxy_configuration() {
  const std::string locations = R"(
  http-request return status 200 content-type text/plain string P0 if { path_beg /checkout/ }
  http-request return status 200 content-type text/plain string P2 if { path_beg /export/ }
  http-request return status 200 content-type text/plain string P1
)";
  return R"(
global
  expose-experimental-directives
defaults
  mode http
  timeout connect 5s
  timeout client 10s
  timeout server 10s
frontend raw
  bind 127.0.0.1:{port 0})" +
         locations + R"(
frontend normalised
  bind 127.0.0.1:{port 1}
  http-request normalize-uri percent-decode-unreserved
  http-request normalize-uri path-merge-slashes
  http-request normalize-uri path-strip-dot
  http-request normalize-uri path-strip-dotdot full)" +
         locations;
}

std::vector<std::string> spellings() {
  std::vector<std::string> all{"/checkout/x",
                               "/export/x",
                               "/checkout//x",
                               "//checkout/x",
                               "/%63heckout/x",
                               "/checkout%2fx",
                               "/checkout;v/x",
                               "/x/../checkout/y",
                               "/checkout/../x",
                               "/export/../checkout/x",
                               "/export//../checkout/x",
                               "/export/%2e%2e/checkout/x",
                               "/export/..%2fcheckout/x",
                               "/export%2f../checkout/x",
                               "/export/..;/checkout/x",
                               "/export\\..\\checkout/x",
                               "/checkout/..%2fexport/..;/../checkout/x",
                               "/checkout/../export/x",
                               "/checkout//../export/x",
                               "/checkout/x/..//../export/y",
                               "/checkout/%2e%2e%2fexport/x",
                               "/checkout/%252e%252e/export/x",
                               "/checkout/..%252fexport/x",
                               "/export%3f/../checkout/x",
                               "/export%23/../checkout/x",
                               "//h/export/x",
                               "/%65xport/x",
                               "/checkout/..;/export/x",
                               "/checkout/%3b/../../export/x"};
  const std::vector<std::string> parts{
      "/",   "/",   "//",  "a",   "x",   "checkout", "export", ".",     "..",      "/..", "/.",
      "%2e", "%2E", "%2f", "%2F", "%5c", "\\",       ";",      ";x=1",  "%3b",     "%3f", "%23",
      "%25", "%65", "%63", "%20", "..;", "/../",     "/..%2f", "%252e", "/%2e%2e/"};
  Random random(18);
  for (int n = 0; n < 2000; ++n) {
    std::string path = n % 3 == 0 ? "/checkout/" : n % 3 == 1 ? "/export/" : "/";
    for (std::uint64_t left = 1 + random.next() % 7; left > 0; --left)
      path += parts[random.next() % parts.size()];
    path += random.next() % 2 == 0 ? "/../export/x" : "/x";
    all.push_back(path);
  }
  return all;
}

struct Played {
  std::size_t served = 0;
  std::size_t dressed_up = 0;  // begin with /checkout/, and are of a lower class where they go
};

// Through a proxy to `backend`.
Played play(const std::string& backend) {
  const json settings = configuration({backend}, shop());
  const config::Config config = checked(settings);
  const traffic::Classifier classifier(config);
  const ProxyUnderTest proxy(settings);
  std::array<double, 3> given_to{};
  Played played;
  for (const std::string& path : spellings()) {
    const Message answer = RawClient(proxy.port()).ask(get(path, "Connection: close\r\n"));
    if (answer.status() != 200) continue;  // neither of them takes each of these
    ++played.served;
    CAPTURE(path);
    const std::size_t given =
        index(classifier.route_of(http::Verb::get, "GET", "a.example", path).traffic_class);
    ++given_to[given];
    CHECK(kClasses[given] >= answer.body);
    played.dressed_up += path.starts_with("/checkout/") && answer.body != "P0" ? 1 : 0;
  }
  // The proxy gave them the same classes.
  const std::array<const char*, 3> routes{"checkout", "default", "export"};
  for (std::size_t n = 0; n < routes.size(); ++n) {
    double forwarded = 0;
    for (const char* route : routes)
      forwarded +=
          proxy.metric("spillway_requests_total{route=\"" + std::string(route) + "\",class=\"" +
                       std::string(kClasses[n]) + "\",outcome=\"forwarded\"}");
    CHECK(forwarded >= given_to[n]);
  }
  return played;
}

// A proxy that judges by the first segment alone would have been misled so often.
void check(const Played& played) {
  CHECK(played.served > 1000);
  CHECK(played.dressed_up > 20);
}

}  // namespace

TEST_CASE("no spelling of a path gets a higher class than the location of NGINX that serves it") {
  const Nginx merging(kLocations);
  check(play(merging.address()));
  const Nginx literal(kLocations + "merge_slashes off;");
  check(play(literal.address()));
}

TEST_CASE("no spelling of a path gets a higher class than the prefix of HAProxy that serves it") {
  const HAProxy haproxy(haproxy_configuration());
  CHECK(play("127.0.0.1:" + std::to_string(haproxy.port(0))).served >
        1000);  // takes it as it comes
  check(play("127.0.0.1:" + std::to_string(haproxy.port(1))));
}

}  // namespace spillway
