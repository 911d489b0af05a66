// What expires in the live queue of a route with `defer`, and the operator's store of dead letters.
#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "system/integration/jobs_operator.hpp"
#include "system/integration/refusal.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

// One slot, which a client holds; others wait for 20 ms. Of the route only those that ask for it
// are deferred, so that the others expire.
class Impatient {
 public:
  explicit Impatient(json defer = json{{"when", "prefer"}}, json more = json::object())
      : proxy(peer_.address(), settings(std::move(defer), std::move(more))),
        desk{proxy.admin_port()},
        holder_(proxy.port()) {
    holder_.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
    REQUIRE(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 1));
  }
  ~Impatient() { let_go(); }

  void let_go() { go_.set(); }
  Message ask(std::string_view body = "order 7", std::string_view lines = "") {
    return RawClient(proxy.port()).ask(post("/export/1?x=1", body, lines));
  }
  double lost(const std::string& cause) const {
    return proxy.metric("spillway_dead_letters_lost_total{cause=\"" + cause + "\"}");
  }
  std::size_t letters() const { return desk.get("/jobs?cause=expired_in_queue").at("jobs").size(); }
  std::vector<Message> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  static json settings(json defer, json more) {
    json all{{"store", {{"url", "memory:"}}},
             {"workers", 1},
             {"dispatch", {{"concurrency", 1}, {"expire_policy", "dead_letter"}}},
             {"classes",
              {{{"name", "P0"}, {"max_wait_ms", 60000}, {"sla_ms", 60000}},
               {{"name", "P1"}, {"max_wait_ms", 60000}, {"sla_ms", 60000}},
               {{"name", "P2"}, {"max_wait_ms", 20}, {"sla_ms", 60000}}}},
             {"routes",
              {{{"name", "export"},
                {"match", {{"path", "/export/**"}}},
                {"class", "P2"},
                {"defer", std::move(defer)}},
               {{"name", "held"}, {"match", {{"path", "/held"}}}, {"class", "P0"}}}}};
    all.merge_patch(more);
    return all;
  }

  Event go_;
  mutable std::mutex mutex_;
  std::vector<Message> requests_;
  ScriptedPeer peer_{[this](PeerConnection& connection) {
    while (const auto request = connection.read_request()) {
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(*request);
      }
      if (request->target() == "/held" && !connection.wait(go_)) return;
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  }};

 public:
  ProxyUnderTest proxy;
  Operator desk;

 private:
  RawClient holder_;
};

}  // namespace

TEST_CASE("a request that expires in the live queue is a dead letter, which can be replayed") {
  Impatient impatient;
  const Message answer = impatient.ask("order 7", "X-Kept: yes\r\nIdempotency-Key: \"k-7\"\r\n");
  check_refusal(answer, 503, "P2", "QUEUE_TIMEOUT");
  CHECK_FALSE(answer.field("Location"));
  REQUIRE(impatient.desk.come_to(1, "state=dead&cause=expired_in_queue&route=export"));
  const json listed = impatient.desk.get("/jobs?state=dead").at("jobs").at(0);
  CHECK(listed.at("method") == "POST");
  CHECK(listed.at("target") == "/export/1?x=1");
  CHECK(listed.at("attempts") == 0);
  const std::string id = listed.at("id");
  const json job = impatient.desk.get("/jobs/" + id);
  CHECK(job.at("body").at("text") == "order 7");
  CHECK(job.at("head").get<std::string>().find("X-Kept: yes\r\n") != std::string::npos);
  CHECK(job.at("history").empty());
  CHECK(impatient.proxy.metric_becomes(R"(spillway_jobs_dead_total{cause="expired_in_queue"})", 1));
  CHECK(impatient.proxy.metric("spillway_jobs_accepted_total") == 0);

  impatient.let_go();
  impatient.desk.post("/jobs/replay", {{"id", id}, {"dry_run", false}});
  REQUIRE(impatient.desk.come_to(1, "state=succeeded"));
  const auto requests = impatient.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[1].start_line == "POST /export/1?x=1 HTTP/1.1");
  CHECK(requests[1].body == "order 7");
  CHECK(requests[1].field("Idempotency-Key") == "\"k-7\"");
}

TEST_CASE("its client may try again with the same Idempotency-Key") {
  Impatient impatient;
  const char* key = "Idempotency-Key: k\r\n";
  CHECK(impatient.ask("x", key).status() == 503);
  REQUIRE(impatient.desk.come_to(1, "state=dead"));
  CHECK(impatient.ask("y", std::string(key) + "Prefer: respond-async\r\n").status() == 202);
  // negative control: that of an accepted job is taken
  CHECK(impatient.ask("z", std::string(key) + "Prefer: respond-async\r\n").status() == 422);
}

TEST_CASE("what is deferred is no dead letter, what its client's own deadline ends is one") {
  Impatient impatient(json::object());
  CHECK(impatient.ask().status() == 202);
  CHECK(impatient.letters() == 0);
  CHECK(impatient.ask("x", "X-Request-Deadline: 5ms\r\n").status() == 503);
  CHECK(impatient.desk.come_to(1, "cause=expired_in_queue"));
}

TEST_CASE("without expire_policy dead_letter nothing is written, nor of what is only read") {
  {
    Impatient impatient(json{{"when", "prefer"}}, {{"dispatch", {{"expire_policy", "drop"}}}});
    CHECK(impatient.ask().status() == 503);
    CHECK(impatient.letters() == 0);
  }
  Impatient impatient;
  CHECK(RawClient(impatient.proxy.port()).ask(get("/export/1")).status() == 503);
  // negative control; what came before it would have been written before it
  CHECK(impatient.ask().status() == 503);
  REQUIRE(impatient.desk.come_to(1, "state=dead"));
  CHECK(impatient.lost("body") + impatient.lost("full") + impatient.lost("store") == 0);
}

TEST_CASE("a body that is too long is not kept, and counted") {
  Impatient impatient(json{{"when", "prefer"}, {"max_body_bytes", 8}});
  CHECK(impatient.ask("123456789").status() == 503);
  const Message chunked = RawClient(impatient.proxy.port())
                              .ask(
                                  "POST /export/1 HTTP/1.1\r\nHost: a\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n0\r\n\r\n");
  CHECK(chunked.status() == 503);
  CHECK(impatient.lost("body") == 2);
  CHECK(impatient.letters() == 0);
  // negative control
  CHECK(impatient.ask("12345678").status() == 503);
  CHECK(impatient.desk.come_to(1, "state=dead"));
}

TEST_CASE("a body that has not come whole is not kept, and counted") {
  Impatient impatient(json{{"when", "prefer"}},
                      {{"routes",
                        {{{"name", "export"},
                          {"match", {{"path", "/export/**"}}},
                          {"class", "P2"},
                          {"request_buffering", "off"},
                          {"defer", {{"when", "prefer"}, {"max_body_bytes", 1 << 20}}}},
                         {{"name", "held"}, {"match", {{"path", "/held"}}}, {"class", "P0"}}}}});
  RawClient client(impatient.proxy.port());
  client.send("POST /export/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" +
              std::string(100000, 'x'));
  CHECK(client.read_response().status() == 503);
  CHECK(impatient.lost("body") == 1);
  CHECK(impatient.letters() == 0);
}

TEST_CASE("no more dead letters of a route are kept than max_pending") {
  Impatient impatient(json{{"when", "prefer"}, {"max_pending", 2}});
  for (int n = 0; n < 4; ++n) CHECK(impatient.ask().status() == 503);
  CHECK(impatient.desk.come_to(2, "state=dead"));
  CHECK(impatient.lost("full") == 2);
  // The totals are read every second.
  const char* const dead = R"(spillway_jobs{route="export",state="dead"})";
  REQUIRE(impatient.proxy.metric_becomes(dead, 2));
  impatient.desk.post("/jobs/purge", {{"state", "dead"}, {"dry_run", false}, {"limit", 9}});
  REQUIRE(impatient.proxy.metric_becomes(dead, 0));
  CHECK(impatient.ask().status() == 503);
  CHECK(impatient.desk.come_to(1, "state=dead"));
}

TEST_CASE("a store that cannot be reached changes nothing for the client, and is counted") {
  Impatient impatient(json{{"when", "prefer"}},
                      {{"log", {{"level", "error"}}},
                       {"store", {{"url", "postgresql:///none?host=/nonexistent"}}}});
  check_refusal(impatient.ask(), 503, "P2", "QUEUE_TIMEOUT");
  CHECK(impatient.lost("store") == 1);
}
