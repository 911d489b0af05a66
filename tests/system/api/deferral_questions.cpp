#include "system/api/deferral_questions.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "system/integration/jobs_operator.hpp"

namespace spillway::api {

using nlohmann::json;
using support::Message;
using support::PeerConnection;
using support::post;
using support::RawClient;

namespace {

json settings() {
  json changes = support::deferring();
  for (json& route : changes["routes"]) {
    if (route["name"] == "mail") route["defer"]["require_idempotency_key"] = true;
    if (route["name"] == "export") route["defer"]["max_body_bytes"] = 8;
  }
  changes["routes"].push_back(
      {{"name", "live"}, {"match", {{"path", "/live/**"}}}, {"defer", json::object()}});
  changes["tenants"]["api_keys"] = json::array(
      {{{"name", "acme"}, {"key", "acme-key-0"}, {"budget", {{"rate", 0.001}, {"burst", 1}}}}});
  return changes;
}

}  // namespace

DeferralQuestions::DeferralQuestions()
    : peer_([this](PeerConnection& proxy) {
        while (const auto request = proxy.read_request()) {
          if (request->target() == "/live/held" && !proxy.wait(go_)) return;
          if (!proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")) return;
        }
      }),
      proxy_(peer_.address(), settings()),
      away_(peer_.address(),
            support::deferring({{"log", {{"level", "error"}}},
                                {"store", {{"url", "postgresql:///none?host=/nonexistent"}}}})) {}

Message DeferralQuestions::ask(std::string_view target, std::string_view body,
                               std::string_view lines) const {
  return RawClient(proxy_.port()).ask(post(target, body, lines));
}

Message DeferralQuestions::second_with_one_key() const {
  const std::string request = post("/live/held", "x", "Idempotency-Key: live-7\r\n");
  RawClient first(proxy_.port());
  first.send(request);
  REQUIRE(peer_.wait_until([&](const auto& seen) {
    for (const std::string& bytes : seen.received)
      if (bytes.find("/live/held") != std::string::npos) return true;
    return false;
  }));
  return RawClient(proxy_.port()).ask(request);
}

// Which is seen as it comes.
Message DeferralQuestions::too_long() const {
  return RawClient(proxy_.port())
      .ask("POST /export/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
           support::chunked({"123456789"}));
}

Message DeferralQuestions::beyond_budget() const {
  const char* const key = "X-Api-Key: acme-key-0\r\n";
  ask("/export/1", "x", key);
  return ask("/export/1", "x", key);
}

Questions DeferralQuestions::all() const {
  const std::string defer = "POST /{deferred} ";
  const char* const key = "Idempotency-Key: \"mail-7\"\r\n";
  return {
      {defer + "200",
       [this] { return ask("/export/1", "x", "Prefer: respond-async, wait=10\r\n"); }},
      {defer + "202", [=, this] { return ask("/mail/7", "a letter", key); }},
      {defer + "400", [this] { return ask("/mail/7", "x"); }},
      {defer + "409", [this] { return second_with_one_key(); }},
      {defer + "413", [this] { return too_long(); }},
      // After 202, as the map is in this order.
      {defer + "422", [=, this] { return ask("/mail/7", "bill", key); }},
      {defer + "429", [this] { return beyond_budget(); }},
      {defer + "503", [this] { return RawClient(away_.port()).ask(post("/export/9", "x")); }},
  };
}

}  // namespace spillway::api
