// The columns of NGINX and HAProxy: what they are told, what is said of them, and that it can fail.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "system/faults/at_peers.hpp"

namespace spillway::faults {
namespace {

using nlohmann::json;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Seen seen_by(std::size_t place, const std::string& word, bool is_allowed) {
  return {.client = {place, place}, .outcome = {word}, .is_allowed = is_allowed};
}

bool is_in_front(Client client) { return client.place < 2; }

// Of a backend that closes instead of answering.
Row closed_on(std::vector<std::string> words) {
  return {.name = "made up",
          .settings = {},
          .client =
              [](Stand& stand, Client client) {
                const std::string number = std::to_string(client.number);
                return stand.ask(0, {.target = "/closes-before-head/" + number});
              },
          .allows = any_of(std::move(words))};
}

TEST_CASE("NGINX and HAProxy are told what a row wants of Spillway") {
  const Wanted wants = wanted(
      {{"app",
        {{"response_timeout_ms", 700},
         {"connect_timeout_ms", 300},
         {"ejection", {{"consecutive_failures", 3}}}}},
       {"dispatch", {{"concurrency", 4}}},
       {"limits", {{"connections", 24}, {"tunnels", 16}}},
       {"default_route", {{"request_buffering", "off"}, {"cache", {{"max_bytes", 3'000'000}}}}}});
  const Servers servers{.app = {"127.0.0.1:1", "127.0.0.1:2"}, .sound = "127.0.0.1:3"};
  const std::string server = nginx_server(wants);
  CHECK(has(server, "proxy_read_timeout 700ms;"));
  CHECK(has(server, "proxy_connect_timeout 300ms;"));
  CHECK(has(server, "limit_conn tunnels 16;"));
  CHECK(has(server, "proxy_request_buffering off;"));
  CHECK(has(nginx_http(wants, servers),
            "server 127.0.0.1:2 max_fails=3 fail_timeout=10s max_conns=20;"));
  CHECK(has(server, "proxy_cache store;"));
  CHECK(has(nginx_http(wants, servers), "max_size=3000000;"));
  CHECK(nginx_connections(wants) < 64);
  const std::string haproxy = haproxy_configuration(wants, servers);
  CHECK(has(haproxy, "timeout server 700ms\n"));
  CHECK(has(haproxy, "timeout connect 300ms\n"));
  CHECK(has(haproxy, "maxconn 24\n"));
  CHECK(has(haproxy, "be_conn(tunnels) gt 16 }"));
  CHECK(has(haproxy, "127.0.0.1:2 maxconn 4 check inter 10s observe layer7 error-limit 3"));
  CHECK(has(haproxy, "total-max-size 3\n"));
  CHECK(has(haproxy, "http-request cache-use store\n"));
  CHECK(!has(haproxy, "http-buffer-request"));
}

TEST_CASE("without bounds of a row NGINX and HAProxy have none") {
  const Servers servers{.app = {"127.0.0.1:1"}, .sound = "127.0.0.1:3"};
  const std::string nginx = nginx_server({}) + nginx_http({}, servers);
  CHECK(has(nginx, "server 127.0.0.1:1 max_fails=0 "));
  CHECK(!has(nginx, "limit_conn tunnels"));
  CHECK(!has(haproxy_configuration({}, servers), "maxconn"));
  CHECK(has(haproxy_configuration({}, servers), "option abortonclose"));
  const Servers two{.app = {"127.0.0.1:1", "127.0.0.1:2"}, .sound = "127.0.0.1:3"};
  CHECK(has(haproxy_configuration({}, two), "error-limit 5"));
  CHECK(!has(haproxy_configuration({}, servers), "error-limit"));
  Wanted wants;
  wants.finishes_abandoned = true;
  CHECK(has(nginx_server(wants), "proxy_ignore_client_abort on;"));
  CHECK(!has(haproxy_configuration(wants, servers), "abortonclose"));
}

TEST_CASE("what NGINX and HAProxy have no words for is said, and no row that is played wants it") {
  CHECK_THROWS_AS(wanted({{"app", {{"total_timeout_ms", 1}}}}), std::invalid_argument);
  CHECK_THROWS_AS(wanted({{"limits", {{"body_bytes", 1}}}}), std::invalid_argument);
  CHECK_THROWS_AS(wanted({{"routes", json::array()}}), std::invalid_argument);
  for (const Rows kind : {backend_rows, connection_rows, client_rows, abandoned_rows, greedy_rows,
                          reading_rows, error_rows, process_rows, tunnel_rows}) {
    for (const Row& row : kind()) {
      if (row.at_peers.not_because.empty())
        CHECK_NOTHROW_MESSAGE(wanted(row.settings.changes), row.name);
    }
  }
}

TEST_CASE("a cell says what others lose, and by which words") {
  PeerResult result;
  add({seen_by(0, "200", true), seen_by(1, "200", true), seen_by(2, "gone", true)}, is_in_front,
      result);
  CHECK(cell(result) == "holds (others lose 0 of 2)");
  add({seen_by(0, "hangs", false), seen_by(1, "503", false), seen_by(2, "502", false)}, is_in_front,
      result);
  add({seen_by(0, "503", false), seen_by(1, "200", true), seen_by(2, "gone", true)}, is_in_front,
      result);
  CHECK(cell(result) == "others lose 3 of 6: 503 x 2, nothing within 3 s x 1; 502 x 1 of 3");
}

TEST_CASE("a cell is one cell") {
  CHECK(cell({.not_because = "Spillway's log"}) == "- (Spillway's log)");
  PeerResult result;
  add({seen_by(0, "200", true)}, {}, result);
  CHECK(cell(result) == "holds");
  add({seen_by(0, "WRONG: 1700 bytes that are not its own", false),
       seen_by(1, "WRONG: 21 bytes that are not its own", false),
       seen_by(2, "WRONG: no HTTP\r\n| " + std::string(100, 'x'), false)},
      {}, result);
  result.besides = {"504 not seen"};
  const std::string text = cell(result);
  CHECK(has(text, "WRONG: bytes that are not its own x 2, WRONG: no HTTP"));
  CHECK(text.ends_with("x 1 of 4; 504 not seen"));
  CHECK(text.find_first_of("|\r\n") == std::string::npos);
  CHECK(text.size() < 160);
}

TEST_CASE(
    "a row at NGINX and HAProxy fails by what its clients see, backends get or what is not seen") {
  for (const Peer peer : kPeers) {
    Row row = closed_on({"502"});
    CHECK_MESSAGE(play_at(peer, row).holds(), name_of(peer), ": ", cell(play_at(peer, row)));
    row.at_backends = [](Stand&) -> std::string { return "asked twice"; };
    CHECK(cell(play_at(peer, row)) == "asked twice");
    row.at_backends = nullptr;
    row.must = "504";
    CHECK(cell(play_at(peer, row)) == "504 not seen");
    CHECK(cell(play_at(peer, closed_on({"200"}))) == "502 x 64 of 64");
  }
}

// As where one of them is not there, or was told where no backend is.
TEST_CASE("a row whose backends were not asked at NGINX or HAProxy is told") {
  Row row = closed_on({"502"});
  row.client = [](Stand&, Client) { return Outcome{"502"}; };
  row.afterwards = "/sound/0";
  row.settings.under = {"false"};
  for (const Peer peer : kPeers) {
    const PeerResult result = play_at(peer, row);
    CHECK(result.requests == 0);
    CHECK(has(cell(result), "does not start"));
  }
}

}  // namespace
}  // namespace spillway::faults
