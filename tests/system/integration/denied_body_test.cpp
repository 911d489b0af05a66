// What becomes of the body of a request that is denied at admission, before any of it is read.
#include <doctest/doctest.h>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

// Overloaded by errors of an upstream that is down: every request is denied at once.
struct Overloaded {
  Overloaded()
      : proxy(down.address(),
              {{"classes", {{{"name", "only"}}}},
               {"default_route", {{"class", "only"}}},
               {"overload",
                {{"regulate", false},  // all at once
                 {"tick_ms", 10},
                 {"cooldown_ms", 60'000},
                 {"rules", {{"only", {{"strategy", "deny"}, {"probability", 1}}}}}}}}),
        client(proxy.port()) {
    const Deadline deadline;
    while (client.ask(get("/")).status() != 503) REQUIRE_FALSE(deadline.passed());
  }

  void check_denied(bool kept) {
    const Message answer = client.read_response();
    CHECK(answer.status() == 503);
    CHECK(answer.body.find("ERROR_BURST") != std::string::npos);
    CHECK(answer.field("Connection").has_value() != kept);
  }

  RefusingPort down;
  ProxyUnderTest proxy;
  RawClient client;
};

TEST_CASE("requests behind a denied one with a small body are read from where it ends") {
  Overloaded overloaded;
  const std::string large_head = "X: " + std::string(20'000, 'x') + "\r\n";
  overloaded.client.send(post("/", pattern(60'000)) + post("/", "") + post("/", pattern(65'536)) +
                         get("/", large_head) + post("/", pattern(40'000), large_head) +
                         "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
                         chunked({"a", "bc"}, "X: 1\r\n") + get("/", "Connection: close\r\n"));
  for (int i = 0; i < 6; ++i) overloaded.check_denied(true);
  overloaded.check_denied(false);
  CHECK(overloaded.client.is_closed());
}

TEST_CASE("a denied request is answered before its small body has arrived") {
  Overloaded overloaded;
  const std::string request = post("/", pattern(60'000));
  overloaded.client.send(std::string_view(request).substr(0, 1'000));
  overloaded.check_denied(true);
  overloaded.client.send(std::string_view(request).substr(1'000));
  overloaded.client.send(get("/"));
  overloaded.check_denied(true);
}

TEST_CASE("a denied request whose body is large or of unknown size ends the connection") {
  for (const std::string& head :
       {std::string("Content-Length: 65537\r\n"), std::string("Transfer-Encoding: chunked\r\n"),
        std::string("Content-Length: 5\r\nExpect: 100-continue\r\n")}) {
    CAPTURE(head);
    Overloaded overloaded;
    overloaded.client.send("POST / HTTP/1.1\r\nHost: a.example\r\n" + head + "\r\n");
    overloaded.check_denied(false);
    overloaded.client.half_close();
    CHECK(overloaded.client.is_closed());
    CHECK_FALSE(overloaded.client.was_reset());
  }
}

TEST_CASE("a denied client that does not send the rest of its small body is let go") {
  Overloaded overloaded;
  overloaded.client.send(std::string_view(post("/", pattern(60'000))).substr(0, 1'000));
  overloaded.check_denied(true);
  overloaded.client.half_close();
  CHECK(overloaded.client.is_closed());
}

}  // namespace
}  // namespace spillway::support
