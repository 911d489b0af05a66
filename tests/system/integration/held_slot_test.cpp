// What holds a slot, and for how long: no request that is not yet sent, and an abandoned request
// for as long as the upstream is at work on it.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/stopwatch.hpp"
#include "system/integration/wire.hpp"
#include "system/integration/workshop.hpp"

namespace spillway::support {
namespace {

constexpr const char* kSlotsTaken = R"(spillway_inflight{upstream="app"})";
constexpr std::size_t kSlotsByDefault = 64;  // the default

const std::string kExportPost = "POST /export/x HTTP/1.1\r\nHost: a.example\r\n";

using Goodbye = void (*)(RawClient&);
const Goodbye kGoodbyes[] = {[](RawClient& client) { client.close(); },
                             [](RawClient& client) { client.reset(); },
                             [](RawClient& client) { client.half_close(); }};

// Does something every 50 ms until it says stop, or for so long; how long that took.
template <class Step>
Milliseconds every_50_ms(Milliseconds most, const Step& step) {
  const Stopwatch stopwatch;
  const Event never;
  while (stopwatch.elapsed() < most && step()) never.wait(Milliseconds(50));
  return stopwatch.elapsed();
}

}  // namespace

TEST_CASE("a request holds no slot before the first 64 KiB of its body are read") {
  struct Variant {
    const char* name;
    std::string begin, rest;
  };
  const std::string large = pattern(70'000);
  const Variant variants[] = {
      {"expecting", kExportPost + "Content-Length: 1\r\nExpect: 100-continue\r\n\r\n", "x"},
      {"counted", kExportPost + "Content-Length: 1\r\n\r\n", "x"},
      {"chunks expecting",
       kExportPost + "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n", chunked({"x"})},
      {"within a chunk", kExportPost + "Transfer-Encoding: chunked\r\n\r\n5\r\nab",
       "cde\r\n0\r\n\r\n"},
      {"large expecting", kExportPost + "Content-Length: 70000\r\nExpect: 100-continue\r\n\r\n",
       large},
      {"large announced", kExportPost + "Content-Length: 70000\r\n\r\n", large},
      {"large trickled", kExportPost + "Content-Length: 70000\r\n\r\n" + large.substr(0, 60'000),
       large.substr(60'000)},
      {"pipelined",
       get("/export/1") + kExportPost + "Content-Length: 1\r\nExpect: 100-continue\r\n\r\n", "x"}};
  ScriptedPeer peer(ok("done"));
  // A busy machine must not make a refusal of the many that come at once.
  const auto patient = [](const char* name) -> nlohmann::json {
    return {{"name", name}, {"max_wait_ms", 10'000}, {"sla_ms", 20'000}};
  };
  const nlohmann::json allow = {{"strategy", "allow"}};
  const ProxyUnderTest proxy(
      peer.address(),
      {{"classes", {patient("P0"), patient("P2")}},
       {"overload", {{"rules", {{"P0", allow}, {"P2", allow}}}}},
       {"routes",
        {{{"name", "checkout"}, {"match", {{"path", "/pay"}}}, {"class", "P0"}},
         {{"name", "export"}, {"match", {{"path", "/export/**"}}}, {"class", "P2"}}}}});
  for (const Variant& variant : variants) {
    CAPTURE(variant.name);
    std::vector<RawClient> silent;
    for (std::size_t n = 0; n < kSlotsByDefault + 6; ++n)
      silent.emplace_back(proxy.port()).send(variant.begin);
    // They are all there.
    const bool is_told = variant.begin.find("Expect") != std::string::npos;
    for (RawClient& one : silent) {
      if (variant.begin.starts_with("GET")) CHECK(one.read_response().status() == 200);
      if (is_told) CHECK(one.read_response().status() == 100);
    }
    RawClient payer(proxy.port());
    for (int n = 0; n < 5; ++n) CHECK(payer.ask(get("/pay")).status() == 200);
    CHECK(proxy.metric(kSlotsTaken) == 0);
    CHECK(silent.back().ask(variant.rest).body == "done");
  }
}

TEST_CASE("request_buffering off: a body holds a slot once its first 64 KiB have come") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (proxy.read_head()) proxy.wait_closed();
  });
  const ProxyUnderTest proxy(peer.address(), streamed());
  RawClient client(proxy.port());
  client.send(kExportPost + "Content-Length: 100000\r\n\r\n" + pattern(70'000));
  CHECK(proxy.metric_becomes(kSlotsTaken, 1));
}

TEST_CASE("however their clients leave no more requests are at work than there are slots") {
  for (const Goodbye leave : kGoodbyes) {
    Workshop shop;
    const ProxyUnderTest proxy(shop.peer.address(), with_so_few_slots(4));
    for (std::size_t n = 1; n <= 4; ++n) {
      RawClient client(proxy.port());
      client.send(get("/"));
      CHECK(shop.is_asked(n));
      leave(client);
    }
    std::vector<RawClient> waiting;
    for (int n = 0; n < 3; ++n) waiting.emplace_back(proxy.port()).send(get("/"));
    CHECK(proxy.metric_becomes(R"(spillway_queue_depth{upstream="app",class="P0"})", 3));
    CHECK(proxy.metric_becomes("spillway_abandoned_requests", 4));
    CHECK(proxy.metric(kSlotsTaken) == 4);
    shop.go.set();  // the upstream has ended them: their slots are free
    for (RawClient& one : waiting) CHECK(one.read_response().body == "done");
    CHECK(shop.most_at_work() == 4);
    CHECK(proxy.metric_becomes(kSlotsTaken, 0));
    CHECK(proxy.metric("spillway_abandoned_requests") == 0);
  }
}

TEST_CASE("requests whose deadline passes are at work no more often than there are slots") {
  Workshop shop;
  auto settings = with_so_few_slots(4);
  settings["app"] = {{"retries", {{"attempts", 0}}}};
  const ProxyUnderTest proxy(shop.peer.address(), settings);
  const std::string hurried = get("/", "X-Request-Deadline: 40ms\r\n");
  for (std::size_t n = 1; n <= 4; ++n) CHECK(RawClient(proxy.port()).ask(hurried).status() == 504);
  CHECK(shop.is_asked(4));
  for (int n = 0; n < 10; ++n) CHECK(RawClient(proxy.port()).ask(hurried).status() == 503);
  CHECK(shop.most_at_work() == 4);
  CHECK(proxy.metric(kSlotsTaken) == 4);
  shop.go.set();
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
}

TEST_CASE("where answers are quick an abandoned request keeps its slot for two seconds") {
  Event never;
  std::atomic<bool> stalls{false};
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (proxy.read_request()) {
      if (stalls) proxy.wait(never);
      if (!proxy.send(ok("done"))) return;
    }
  });
  const ProxyUnderTest proxy(peer.address(), [] {
    auto settings = with_so_few_slots(1);
    settings["workers"] = 1;
    return settings;
  }());
  RawClient quick(proxy.port());
  for (int n = 0; n < 30; ++n) CHECK(quick.ask(get("/")).status() == 200);
  stalls = true;
  RawClient leaver(proxy.port());
  leaver.send(get("/"));
  CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 31; }));
  leaver.close();
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));  // not response_timeout_ms
}

TEST_CASE("where nothing is known an abandoned request keeps its slot for the response timeout") {
  Workshop shop;
  auto settings = with_so_few_slots(1);
  settings["app"] = {{"response_timeout_ms", 500}};
  const ProxyUnderTest proxy(shop.peer.address(), settings);
  RawClient leaver(proxy.port());
  leaver.send(get("/"));
  CHECK(shop.is_asked(1));
  leaver.close();
  const Event nothing;
  CHECK_FALSE(nothing.wait(200ms));
  CHECK(proxy.metric(kSlotsTaken) == 1);
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
}

TEST_CASE(
    "a response that is taken slowly holds no slot while memory has room for the rest of it") {
  const std::string body = pattern(1'500'000);
  const std::string counted = ok(body);
  const std::string in_chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                chunked({body.substr(1), "the last"});
  for (const std::string& answer : {counted, in_chunks, ok(body.substr(0, 200'000))}) {
    CAPTURE(answer.size());
    ScriptedPeer peer(answer);
    const ProxyUnderTest proxy(peer.address(), with_so_few_slots(1));
    std::vector<RawClient> dawdlers;
    for (int n = 0; n < 6; ++n) {
      dawdlers.emplace_back(proxy.port(), 4096).send(get("/"));
      CHECK(dawdlers.back().read_head().status() == 200);
      CHECK(proxy.metric_becomes(kSlotsTaken, 0));
    }
    CHECK(proxy.metric_becomes("spillway_slots_awaiting_client", 0));
    const std::string all = answer.substr(answer.find("\r\n\r\n") + 4);
    for (RawClient& one : dawdlers) CHECK((one.read_bytes(all.size()) == all));
    CHECK(proxy.metric_becomes("spillway_body_buffer_bytes", 0));
    CHECK(peer.seen().connections <= 2);  // kept, one by each worker
  }
}

TEST_CASE("what does not fit into the memory for slow clients holds its slot as before") {
  const std::string body = pattern(12'000'000);
  for (const int buffer : {0, 64'000'000}) {
    CAPTURE(buffer);
    ScriptedPeer peer(ok(body));
    auto settings = with_so_few_slots(1);
    settings["limits"]["buffer_bytes"] = buffer;
    const ProxyUnderTest proxy(peer.address(), settings);
    RawClient dawdler(proxy.port(), 4096);
    CHECK(dawdler.send(get("/")).read_head().status() == 200);
    CHECK(proxy.metric_becomes("spillway_slots_awaiting_client", 1));
    CHECK(proxy.metric(kSlotsTaken) == 1);
    CHECK(proxy.metric("spillway_body_buffer_bytes") == 0);
    CHECK((dawdler.read_bytes(body.size()) == body));
    CHECK(proxy.metric_becomes(kSlotsTaken, 0));
  }
}

TEST_CASE("the memory for slow clients is bounded and goes back when they leave") {
  constexpr int kBytes = 8'000'000;
  ScriptedPeer endless([](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (proxy.send("10000\r\n" + std::string(0x10000, 'x') + "\r\n")) {
    }
  });
  auto settings = with_so_few_slots(64);
  settings["limits"]["buffer_bytes"] = kBytes;
  const ProxyUnderTest proxy(endless.address(), settings);
  std::vector<RawClient> dawdlers;
  for (int n = 0; n < 50; ++n) dawdlers.emplace_back(proxy.port(), 4096).send(get("/"));
  CHECK(proxy.metric_becomes("spillway_slots_awaiting_client", 50));
  const double most = proxy.metric("spillway_body_buffer_bytes");
  CHECK(most > 0);
  CHECK(most <= kBytes);
  dawdlers.clear();
  CHECK(proxy.metric_becomes("spillway_body_buffer_bytes", 0));
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
}

TEST_CASE("a slot for which others wait is taken back from a client that moves too few bytes") {
  const std::string large = ok(pattern(64'000'000));
  for (const bool uploads : {false, true}) {
    CAPTURE(uploads);
    ScriptedPeer peer([&](PeerConnection& proxy) {
      while (const auto head = proxy.read_head()) {
        if (head->target() == "/quick") {
          proxy.send(ok("done"));
        } else if (head->method() == "POST") {
          proxy.skip_bytes(9'000'000);
          return;
        } else {
          proxy.send(large);
        }
      }
    });
    const ProxyUnderTest proxy(peer.address(), with_so_few_slots(1));
    RawClient slow(proxy.port(), 4096);
    if (uploads) {
      slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n" + pattern(70'000));
      CHECK(proxy.metric_becomes(kSlotsTaken, 1));
    } else {
      CHECK(slow.send(get("/")).read_head().status() == 200);
    }
    const auto dawdle = [&] {  // a third of the rate
      if (uploads) return slow.try_send(std::string(250, 'x')) && !slow.has_bytes(0ms);
      return slow.read_bytes(250).size() == 250;
    };
    // As long as its slot is of use to no other, its pace is its own business.
    every_50_ms(2500ms, [&] { return dawdle(); });
    CHECK(proxy.metric_becomes("spillway_slots_awaiting_client", 1));
    RawClient other(proxy.port());
    const Stopwatch stopwatch;
    CHECK(other.ask(get("/quick")).body == "done");
    CHECK(stopwatch.elapsed() < 15 * kSoon);
    if (uploads) {
      const Message answer = slow.read_response();
      CHECK(answer.status() == 408);
      CHECK(answer.body.find("SLOW_CLIENT") != std::string::npos);
    } else {
      slow.read_to_end();
      CHECK(slow.was_reset());
    }
    CHECK(proxy.metric_becomes(std::string("spillway_slots_taken_back_total{phase=\"") +
                                   (uploads ? "body" : "answer") + "\"}",
                               1));
    CHECK(proxy.metric_becomes(R"(spillway_errors_total{class="P0",reason="SLOW_CLIENT"})", 1));
  }
}

TEST_CASE("a client at slot_rate_bytes keeps its slot where few slots wait for clients") {
  const std::string body = pattern(8'000'000);
  Event go;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() == "/held" && !proxy.wait(go)) return;
      if (!proxy.send(ok(request->target() == "/large" ? body : "done"))) return;
    }
  });
  nlohmann::json settings = with_so_few_slots(8);
  settings["limits"]["buffer_bytes"] = 0;
  const ProxyUnderTest proxy(peer.address(), settings);
  RawClient steady(proxy.port(), 65'536);
  CHECK(steady.send(get("/large")).read_head().status() == 200);
  std::vector<RawClient> busy;
  for (int n = 0; n < 7; ++n) busy.emplace_back(proxy.port()).send(get("/held"));
  CHECK(proxy.metric_becomes(kSlotsTaken, 8));
  RawClient other(proxy.port());
  other.send(get("/quick"));
  std::size_t got = 0;
  every_50_ms(2500ms, [&] {  // five times the rate, and a third of what it rises to at most
    got += steady.read_bytes(4000).size();
    return true;
  });
  CHECK_FALSE(other.has_bytes(0ms));
  CHECK(proxy.metric("spillway_slots_awaiting_client") == 1);
  go.set();
  CHECK(other.read_response().body == "done");
  CHECK((steady.read_bytes(body.size() - got) == body.substr(got)));
  CHECK(proxy.metric(R"(spillway_slots_taken_back_total{phase="answer"})") == 0);
}

TEST_CASE("P0 gets a slot in time from clients that take little, and that come back in step") {
  constexpr int kSlots = 16;
  const std::string body = pattern(12'000'000);
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request())
      if (!proxy.send(ok(request->target() == "/pay" ? "done" : body))) return;
  });
  const nlohmann::json allow = {{"strategy", "allow"}};
  const nlohmann::json settings = {
      {"dispatch", {{"concurrency", kSlots}}},
      // No file has room for such a body.
      {"limits", {{"buffer_bytes", 0}, {"temp_file_bytes", 20'000'000}}},
      {"classes",
       {{{"name", "P0"}, {"max_wait_ms", kSanitized ? 3000 : 500}, {"sla_ms", 5000}},
        {{"name", "P2"}}}},
      {"overload", {{"rules", {{"P0", allow}, {"P2", allow}}}}},
      {"routes",
       {{{"name", "checkout"}, {"match", {{"path", "/pay"}}}, {"class", "P0"}},
        {{"name", "export"}, {"match", {{"path", "/export/**"}}}, {"class", "P2"}}}}};
  // What each takes at first buys it time, up to the credit.
  for (const std::size_t at_first : {0, 200'000}) {
    CAPTURE(at_first);
    const ProxyUnderTest proxy(peer.address(), settings);
    std::vector<RawClient> dawdlers;
    RawClient payer(proxy.port());
    for (int round = 0; round < 4; ++round) {
      const int cut_off = kSlots - static_cast<int>(proxy.metric(kSlotsTaken));
      for (int n = 0; n < cut_off; ++n)
        dawdlers.emplace_back(proxy.port(), 4096).send(get("/export/large"));
      for (int n = 0; n < cut_off; ++n) {
        RawClient& one = dawdlers[dawdlers.size() - 1 - static_cast<std::size_t>(n)];
        CHECK(one.read_head().status() == 200);
        CHECK(one.read_bytes(at_first).size() == at_first);
      }
      CHECK(proxy.metric_becomes(kSlotsTaken, kSlots));
      const Message answer = payer.ask(get("/pay"));
      CHECK(answer.status() == 200);
      CHECK(answer.body == "done");
    }
    CHECK(proxy.metric(R"(spillway_slots_taken_back_total{phase="answer"})") >= 4);
  }
}

}  // namespace spillway::support
