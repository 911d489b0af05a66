// Visitors who follow their places by server-sent events.
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kOpenStreams = R"(spillway_tunnels{kind="event_stream"})";

Message follow_place(Visitor& visitor, const std::string& more = "") {
  visitor.client().send("GET /_spillway/rooms/sale/events HTTP/1.1\r\nHost: a\r\nCookie: " +
                        visitor.jar() + "\r\n\r\n" + more);
  Message head = visitor.client().read_head();
  CHECK(head.status() == 200);
  return head;
}

// Of this process's connections of that port: how long each waits for its peer to take bytes.
std::vector<unsigned> patience_of_connections(std::uint16_t port) {
  std::vector<unsigned> all;
  for (int socket = 0; socket < 1024; ++socket) {
    sockaddr_in near{}, far{};
    socklen_t size = sizeof near, far_size = sizeof far;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&near), &size) != 0) continue;
    if (near.sin_family != AF_INET || ntohs(near.sin_port) != port) continue;
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&far), &far_size) != 0) continue;
    unsigned time = 0;
    socklen_t length = sizeof time;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &time, &length) == 0)
      all.push_back(time);
  }
  return all;
}

// Reads on until it is there.
std::string read_until(Visitor& visitor, std::string_view text) {
  std::string told;
  while (told.find(text) == std::string::npos) told += visitor.client().read_bytes(1);
  return told;
}

}  // namespace

TEST_CASE("events tell the front of the line when it is called") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}}));
  Visitor visitor(proxy);
  visitor.join();
  CHECK(follow_place(visitor).field("Content-Type") == "text/event-stream");
  const std::string events = read_until(visitor, "\"state\":\"processing\"");
  CHECK(events.find("event: status\ndata: {") != std::string::npos);

  Visitor stranger(proxy);
  CHECK(stranger.ask("GET", "/_spillway/rooms/sale/events", "").status() == 409);
  CHECK(stranger.ask("GET", "/_spillway/rooms/none/ticket", "").status() == 404);
  CHECK(stranger.ask("GET", "/_spillway/rooms/sale/else", "").status() == 404);
  CHECK(stranger.ask("GET", "/_spillway/jobs/1", "").status() == 404);
  CHECK(stranger.ask("PUT", "/_spillway/rooms/sale/ticket", "Content-Length: 0\r\n").status() ==
        405);
}

TEST_CASE("an event stream goes on whatever its client sends, and ends when it leaves") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.visit()));
  const auto begin = [](Visitor& visitor, const std::string& more) {
    visitor.join();
    CHECK(follow_place(visitor, more).field("Connection") == "close");
  };
  Visitor pipelines(proxy);
  begin(pipelines, get("/sale/page"));
  Visitor sends_more(proxy);
  begin(sends_more, "");
  CHECK(proxy.metric_becomes(kOpenStreams, 2));
  sends_more.client().send(get("/sale/page"));
  Visitor half_closes(proxy);
  begin(half_closes, "");
  CHECK(proxy.metric_becomes(kOpenStreams, 3));
  half_closes.client().half_close();
  CHECK(proxy.metric_becomes(kOpenStreams, 2));

  // The first two are told when they get on.
  inside.ask("POST", "/_spillway/rooms/sale/leave", "Spillway-Leave: 1\r\nContent-Length: 0\r\n");
  read_until(pipelines, "event: called");
  CHECK(pipelines.client().read_to_end().find("HTTP/1.1") == std::string::npos);
  Visitor comes(proxy);
  comes.carry(pipelines.jar());
  CHECK(is_in(comes.visit()));
  read_until(sends_more, "\"position\":1,");
  CHECK(proxy.metric_becomes(kOpenStreams, 1));
  CHECK(shop.requests().size() == 2);
}

TEST_CASE("an event stream is given up once its client has taken nothing for 60 s") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Visitor polls(proxy);
  polls.join();
  Visitor follows(proxy);
  follows.join();
  CHECK(patience_of_connections(proxy.port()) == std::vector<unsigned>{0, 0});  // the control
  follow_place(follows);
  std::vector<unsigned> patience = patience_of_connections(proxy.port());
  std::ranges::sort(patience);
  CHECK(patience == std::vector<unsigned>{0, 60'000});
}

TEST_CASE("an event stream keeps its configuration until a reload has to make room") {
  Shop shop;
  const auto settings = [&shop](int drain_timeout) {
    const json more{{"limits", {{"drain_timeout_ms", drain_timeout}}}};
    return configuration({shop.address()}, selling(always(), more));
  };
  ProxyUnderTest proxy(settings(60'000));
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  std::vector<Visitor> visitors;
  const auto follow = [&] {
    Visitor& visitor = visitors.emplace_back(proxy);
    visitor.join();
    follow_place(visitor);
  };
  for (int n = 0; n < 16; ++n) {
    follow();
    REQUIRE(proxy.reload(settings(n == 15 ? 0 : 60'000)).status() == 200);
  }
  CHECK(proxy.metric_becomes(kOpenStreams, 16));
  follow();
  CHECK(proxy.reload(settings(60'000)).status() == 200);
  CHECK(proxy.metric_becomes(kOpenStreams, 16));
  const std::string told = visitors[0].client().read_to_end();
  CHECK(told.find("event: status") != std::string::npos);
  CHECK_FALSE(visitors[1].client().is_closed(Milliseconds{0}));
}

TEST_CASE("visitors' event streams leave tunnels to the backend, and count as streams") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}},
                                               {{"limits", {{"tunnels", 4}}}}));
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.visit()));
  Visitor second(proxy);
  second.join();
  {
    Visitor first(proxy);
    first.join();
    follow_place(first);
    CHECK(proxy.metric_becomes(kOpenStreams, 1));
    CHECK(second.ask("GET", "/_spillway/rooms/sale/events", "").status() == 409);
  }
  CHECK(proxy.metric_becomes(kOpenStreams, 0));
  follow_place(second);
}

TEST_CASE("a ticket has one event stream, the newest") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.visit()));
  Visitor first(proxy);
  first.join();
  Visitor other_tab(proxy);
  other_tab.carry(first.jar());
  follow_place(first);
  CHECK(proxy.metric_becomes(kOpenStreams, 1));
  follow_place(other_tab);
  read_until(first, "event: superseded\ndata: {}\n\n");
  CHECK(proxy.metric_becomes(kOpenStreams, 1));
  read_until(other_tab, "\"state\":\"waiting\"");
}
