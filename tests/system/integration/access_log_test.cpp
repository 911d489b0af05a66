// What the access log tells about a decision: enough to see why, without asking anybody.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_process.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/access_line.hpp"
#include "system/integration/overloaded.hpp"
#include "system/integration/refusal.hpp"
#include "system/integration/wire.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

std::string with_id(const std::string& target, const std::string& id) {
  return get(target, "X-Request-Id: " + id + "\r\n");
}

}  // namespace

TEST_CASE("the access log tells why a request was denied or degraded or let pass") {
  Backend backend;
  ProxyProcess proxy(overloadable(
      backend.peer.address(), {{"log", {{"access_sample", 1}}},
                               {"dispatch", {{"concurrency", 7}}},
                               {"overload",
                                {{"rules",
                                  {{"P1", {{"strategy", "degrade"}, {"mode", "skip_downstream"}}},
                                   {"P2", {{"strategy", "deny"}, {"probability", 1}}}}}}}}));
  RawClient client(proxy.port());
  CHECK(client.ask(with_id("/p2", "early-1")).status() == 200);
  overload_by_errors(client);
  check_refusal(client.ask(with_id("/p2/x?y=1", "denied-1")), 503, "P2", "ERROR_BURST");
  CHECK(client.ask(with_id("/p1", "degraded-1")).status() == 200);
  CHECK(client.ask(with_id("/p0", "passed-1")).status() == 200);

  const json degraded_line = access_line(proxy, "degraded-1");
  CHECK(degraded_line["mode"] == "skip_downstream");
  CHECK(degraded_line["reason"] == "ERROR_BURST");
  CHECK_FALSE(degraded_line.contains("cache"));

  const json early = access_line(proxy, "early-1");
  CHECK(early["event"] == "access");
  CHECK(early["outcome"] == "forwarded");
  CHECK(early["decision"]["state"] == "NORMAL");
  CHECK(early["decision"]["verdict"] == "allow");

  const json denied = access_line(proxy, "denied-1");
  CHECK(denied["path"] == "/p2/x");
  CHECK(denied["route"] == "p2");
  CHECK(denied["class"] == "P2");
  CHECK(denied["status"] == 503);
  CHECK(denied["outcome"] == "denied");
  CHECK(denied["reason"] == "ERROR_BURST");
  const json& why = denied["decision"];
  CHECK(why["state"] == "OVERLOADED");
  CHECK(why["overload"] == "ERROR_BURST");
  CHECK(why["rule"] == "deny");
  CHECK(why["verdict"] == "deny");
  CHECK(why["reason"] == "ERROR_BURST");
  CHECK(why["probability"] == 1);
  CHECK(why["draw"] >= 0);
  CHECK(why["draw"] < 1);
  CHECK(why["limit"] == 7);
  CHECK(why["deadline_ms"] == 3'600'000);

  const json degraded = access_line(proxy, "degraded-1");
  CHECK(degraded["outcome"] == "degraded");
  CHECK(degraded["decision"]["rule"] == "degrade");
  CHECK(degraded["decision"]["verdict"] == "degrade");

  const json passed = access_line(proxy, "passed-1");
  CHECK(passed["outcome"] == "forwarded");
  CHECK(passed["decision"]["state"] == "OVERLOADED");
  CHECK(passed["decision"]["rule"] == "allow");
  CHECK(passed["decision"]["verdict"] == "allow");
  CHECK(passed["decision"]["reason"] == "");
}

TEST_CASE("the access log tells the size of what Spillway says itself") {
  Backend backend;
  ProxyProcess proxy(configuration({backend.peer.address()}, {{"log", {{"access_sample", 1}}}}));
  RawClient client(proxy.port());
  const std::string id = "X-Request-Id: own-";
  const Message answer =
      client.ask("PUT / HTTP/1.1\r\nHost: a\r\n" + id + "1\r\nContent-Length: 104857601\r\n\r\n");
  CHECK(answer.status() == 413);
  CHECK(answer.body.find("The body is longer than 104857600 bytes (limits.body_bytes).") !=
        std::string::npos);
  const json line = access_line(proxy, "own-1");
  CHECK(line["bytes"] == answer.body.size());
  CHECK(line["detail"] == "The body is longer than 104857600 bytes (limits.body_bytes).");
}

TEST_CASE("a request that is too long is told which limit it exceeds") {
  Backend backend;
  ProxyProcess proxy(configuration({backend.peer.address()}));
  const auto detail = [&](const std::string& request) {
    RawClient client(proxy.port());
    return json::parse(client.ask(request).body)["detail"].get<std::string>();
  };
  const std::string begin = "GET / HTTP/1.1\r\nHost: a\r\n";
  CHECK(detail(begin + "X: " + std::string(70'000, 'x') + "\r\n\r\n") ==
        "The header section is longer than 65536 bytes (limits.header_bytes).");
  CHECK(detail("GET /" + std::string(9'000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n") ==
        "The request line is longer than 8192 bytes.");
  std::string many = begin;
  for (int n = 0; n < 130; ++n) many += "X: y\r\n";
  CHECK(detail(many + "\r\n") == "The header section has more than 128 fields.");
  CHECK(detail(std::string("\x16\x03\x01\x02\x00\x01", 6)) ==
        "This is TLS; the port speaks plain HTTP.");
}

TEST_CASE("a peer that is not trusted and sends X-Forwarded-For is told of once") {
  Backend backend;
  ProxyProcess proxy(configuration({backend.peer.address()}));
  RawClient client(proxy.port());
  for (int n = 0; n < 3; ++n)
    CHECK(client.ask(get("/", "X-Forwarded-For: 192.0.2.1\r\n")).status() == 200);
  CHECK(
      proxy.process().wait_for_output("\"event\":\"untrusted_forwarding\",\"peer\":\"127.0.0.1\""));
  const std::string& log = proxy.process().err();
  const auto first = log.find("untrusted_forwarding");
  CHECK(log.find("untrusted_forwarding", first + 1) == std::string::npos);
}

TEST_CASE("the access log tells of the gate's refusal though the rules let the request try") {
  Backend backend;
  ProxyProcess proxy(overloadable(backend.peer.address(), {{"log", {{"access_sample", 1}}},
                                                           {"dispatch", {{"concurrency", 1}}},
                                                           {"classes", patient_classes(4, 30)}}));
  RawClient holder(proxy.port()), waiting(proxy.port());
  holder.send(get("/p0/held"));
  REQUIRE(backend.holds(1));
  check_refusal(waiting.ask(with_id("/p1", "vain-1")), 503, "P1", "QUEUE_TIMEOUT");
  const json line = access_line(proxy, "vain-1");
  CHECK(line["outcome"] == "expired");
  CHECK(line["reason"] == "QUEUE_TIMEOUT");
  CHECK(line["wait_ms"] >= 30);
  CHECK(line["decision"]["verdict"] == "allow");
  CHECK(line["decision"]["reason"] == "QUEUE_TIMEOUT");
  CHECK(line["decision"]["limit"] == 1);
}

TEST_CASE("the access log tells the limit in force, not how far it may rise") {
  Backend backend;
  ProxyProcess proxy(
      overloadable(backend.peer.address(),
                   {{"log", {{"access_sample", 1}}},
                    {"dispatch", {{"concurrency", {{"min", 1}, {"max", 900}, {"initial", 9}}}}}}));
  RawClient client(proxy.port());
  CHECK(client.ask(with_id("/p0", "found-1")).status() == 200);
  CHECK(access_line(proxy, "found-1")["decision"]["limit"] == 9);
}

TEST_CASE("the access log names the client and the server that answered, with the attempt") {
  const RefusingPort down;
  ScriptedPeer up(ok("up"));
  ProxyProcess proxy(configuration({down.address(), up.address()},
                                   never_shed({{"workers", 1},
                                               {"log", {{"access_sample", 1}}},
                                               {"trusted_peers", {"127.0.0.1"}},
                                               {"app", {{"balance", "round_robin"}}}})));
  RawClient client(proxy.port());
  CHECK(client.ask(with_id("/", "plain-1")).body == "up");
  CHECK(
      client
          .ask(get("/", "X-Request-Id: behind-1\r\nX-Forwarded-For: 203.0.113.7, 2001:db8::5\r\n"))
          .body == "up");

  const json plain = access_line(proxy, "plain-1");
  CHECK(plain["client"] == "127.0.0.1");
  CHECK_FALSE(plain.contains("peer"));
  CHECK(plain["server"] == up.address());
  CHECK_FALSE(plain.contains("error"));
  CHECK_FALSE(plain.contains("detail"));
  const json behind = access_line(proxy, "behind-1");
  CHECK(behind["client"] == "2001:db8::5");
  CHECK(behind["peer"] == "127.0.0.1");
  CHECK(behind["server"] == up.address());
  // One of the two had to be passed by on the way to the other.
  CHECK(plain["attempts"].get<int>() + behind["attempts"].get<int>() == 3);
}

TEST_CASE("the access log tells what exactly was wrong") {
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n");
  const RefusingPort down;
  const auto logged = [](const std::string& server) {
    return configuration({server}, never_shed({{"log", {{"access_sample", 1}}}}));
  };
  ProxyProcess invalid(logged(peer.address()));
  CHECK(RawClient(invalid.port()).ask(with_id("/", "invalid-1")).status() == 502);
  const json line = access_line(invalid, "invalid-1");
  CHECK(line["reason"] == "UPSTREAM_INVALID");
  CHECK(line["error"] == "http_protocol_error");
  CHECK(line["detail"] == "The length of the message is ambiguous or malformed.");
  CHECK(line["server"] == peer.address());
  CHECK(line["attempts"] == 1);

  CHECK(RawClient(invalid.port())
            .ask("GET / HTTP/1.1\r\nHost: a b\r\nX-Request-Id: bad-1\r\n\r\n")
            .status() == 400);
  const json bad = access_line(invalid, "bad-1");
  CHECK(bad["reason"] == "BAD_REQUEST");
  CHECK(bad["error"] == "http_request_error");
  CHECK(bad["detail"] == "The Host field is missing, repeated or not valid.");
  CHECK_FALSE(bad.contains("server"));
  CHECK(bad["attempts"] == 0);

  ProxyProcess refused(logged(down.address()));
  CHECK(RawClient(refused.port()).ask(with_id("/", "refused-1")).status() == 502);
  const json gone = access_line(refused, "refused-1");
  CHECK(gone["reason"] == "UPSTREAM_UNAVAILABLE");
  CHECK(gone["error"] == "connection_refused");
  CHECK(gone["server"] == down.address());
}

}  // namespace spillway
