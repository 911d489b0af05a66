// Clients that take nothing while others wait for their slots: however many come one after the
// other, a request of P0 gets a slot in time. And whom that does not harm.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/stopwatch.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

constexpr const char* kSlotsTaken = R"(spillway_inflight{upstream="app"})";
constexpr const char* kTakenBack = R"(spillway_slots_taken_back_total{phase="answer"})";
constexpr std::size_t kLargeBody = 12'000'000;  // more than the buffers of both connections hold
// For how long a request of P0 may wait.
constexpr Milliseconds kWait{4000};

// Sends what ends in "large" in pieces of this size, and answers what ends in "held" when it is
// told to.
struct LargeBackend {
  explicit LargeBackend(std::size_t its_piece) : piece(its_piece) {}

  const std::size_t piece;
  const std::string body = pattern(kLargeBody);
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (!request->target().ends_with("large")) {
        if (!proxy.send(ok("done"))) return;
        continue;
      }
      bool is_taken = proxy.send(
          "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
      for (std::size_t at = 0; is_taken && at < body.size(); at += piece)
        is_taken = proxy.send(std::string_view(body).substr(at, piece));
      if (!is_taken) return;
    }
  }};
};

// So many bytes of one body may be kept in memory, and so many in a file.
nlohmann::json with(const ScriptedPeer& peer, int slots, std::size_t memory, std::size_t in_file,
                    Milliseconds wait = kWait) {
  const nlohmann::json allow = {{"strategy", "allow"}};
  return configuration(
      {peer.address()},
      {{"workers", 1},
       {"dispatch", {{"concurrency", slots}}},
       {"limits", {{"buffer_bytes", memory * 32}, {"temp_file_bytes", in_file * 8}}},
       {"classes",
        {{{"name", "P0"},
          {"max_wait_ms", wait.count() * (kSanitized ? 10 : 1)},
          {"max_queue", 1000},
          {"sla_ms", 20'000}},
         {{"name", "P1"}}}},
       {"overload", {{"rules", {{"P0", allow}, {"P1", allow}}}}},
       {"default_route", {{"class", "P0"}}}});
}

// Clients that ask again and again, on so many connections: one of them always waits for a slot.
class WaitingCrowd {
 public:
  WaitingCrowd(const ProxyUnderTest& proxy, int size) {
    for (int n = 0; n < size; ++n)
      threads_.emplace_back([this, port = proxy.port()] {
        RawClient one(port);
        while (!is_over_) served_ += one.ask(get("/quick")).status() == 200 ? 1 : 0;
      });
  }
  ~WaitingCrowd() {
    is_over_ = true;
    for (std::thread& each : threads_) each.join();
  }
  int served() const { return served_; }

 private:
  std::atomic<bool> is_over_{false};
  std::atomic<int> served_{0};
  std::vector<std::thread> threads_;
};

// Asks for a large response and takes nothing; as soon as it is cut off, again. So many at a time.
class Returning {
 public:
  Returning(const ProxyUnderTest& proxy, int size) {
    for (int n = 0; n < size; ++n)
      threads_.emplace_back([this, port = proxy.port()] {
        while (!is_over_) {
          RawClient one(port, 4096);
          one.send(get("/large"));
          const Event never;
          // What it says meanwhile would belong to its next request.
          while (!is_over_ && one.try_send("G")) never.wait(Milliseconds{10});
          ++times_;
        }
      });
  }
  ~Returning() {
    is_over_ = true;
    for (std::thread& each : threads_) each.join();
  }
  int times() const { return times_; }

 private:
  std::atomic<bool> is_over_{false};
  std::atomic<int> times_{0};
  std::vector<std::thread> threads_;
};

// What the client gets that takes so many bytes each 100 ms, for so long, and then all the rest.
std::string take_slowly(RawClient& client, std::size_t each, int times) {
  std::string got;
  const Event never;
  for (int n = 0; n < times; ++n) {
    got += client.read_bytes(each);
    never.wait(Milliseconds{100});
  }
  return got + client.read_bytes(kLargeBody - got.size());
}

}  // namespace

TEST_CASE("P0 gets a slot in time behind a line of P0 clients that take nothing") {
  constexpr int kSlots = 16;
  struct Case {
    int clients;
    std::size_t piece;
  };
  // Of small pieces a pipe is full with few bytes in it.
  for (const auto& [clients, piece] : {Case{12 * kSlots, kLargeBody}, Case{10 * kSlots, 1000}}) {
    CAPTURE(piece);
    LargeBackend backend(piece);
    const ProxyUnderTest proxy(with(backend.peer, kSlots, 0, 0));
    std::vector<RawClient> line;
    for (int n = 0; n < clients; ++n) line.emplace_back(proxy.port(), 4096).send(get("/large"));
    RawClient payer(proxy.port());
    const Stopwatch stopwatch;
    CHECK(payer.ask(get("/pay")).body == "done");
    MESSAGE("it waited for ", stopwatch.elapsed().count(), " ms behind ", clients);
    if (!kSanitized) CHECK(stopwatch.elapsed() < kWait);
    CHECK(proxy.metric(kTakenBack) >= clients - 2 * kSlots);
  }
}

TEST_CASE("P0 is served by fewer workers than slots while P0 clients that take nothing come back") {
  constexpr int kWorkers = 4;
  std::counting_semaphore<kWorkers> workers(kWorkers);
  const std::string body = pattern(kLargeBody);
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      workers.acquire();
      const bool is_taken = proxy.send(request->target() == "/large" ? ok(body) : ok("done"));
      workers.release();
      if (!is_taken) return;
    }
  });
  const ProxyUnderTest proxy(with(peer, 64, 0, 0));
  RawClient payer(proxy.port());
  for (int n = 0; n < 50; ++n) CHECK(payer.ask(get("/pay")).body == "done");  // is learned
  std::vector<RawClient> others;
  for (int n = 0; n < 2; ++n) others.emplace_back(proxy.port());
  const Returning crowd(proxy, 2 * kWorkers);
  CHECK(proxy.metric_becomes("spillway_slots_awaiting_client", kWorkers));
  const Stopwatch stopwatch;
  constexpr int kRequests = 5;
  for (int n = 0; n < kRequests; ++n) {
    for (RawClient& one : others) one.send(get("/pay"));
    CHECK(payer.ask(get("/pay")).body == "done");
    for (RawClient& one : others) CHECK(one.read_response().body == "done");
  }
  MESSAGE(kRequests, " requests took ", stopwatch.elapsed().count(), " ms, cut off were ",
          crowd.times());
  // One slot a second would be too few.
  if (!kSanitized) CHECK(stopwatch.elapsed() < kRequests * kWait);
}

TEST_CASE("a slow client keeps a response for which there is room, however many wait") {
  for (const bool in_memory : {true, false}) {
    CAPTURE(in_memory);
    LargeBackend backend(kLargeBody);
    const std::size_t room = 2 * kLargeBody;
    const ProxyUnderTest proxy(with(backend.peer, 2, in_memory ? room : 0, in_memory ? 0 : room));
    std::vector<RawClient> slow;
    for (int n = 0; n < 2; ++n) slow.emplace_back(proxy.port(), 65'536).send(get("/large"));
    const WaitingCrowd crowd(proxy, 8);
    for (RawClient& one : slow) {
      CHECK(one.read_head().status() == 200);
      CHECK((take_slowly(one, 5000, 10) == backend.body));  // 50 kB/s
    }
    CHECK(proxy.metric(kTakenBack) == 0);
    CHECK(crowd.served() > 10);
  }
}

TEST_CASE(
    "a client that pauses keeps a response for which there is room, however short others wait") {
  LargeBackend backend(kLargeBody);
  // 36 ms of pause.
  const ProxyUnderTest proxy(with(backend.peer, 1, 0, 2 * kLargeBody, Milliseconds{500}));
  for (int n = 0; n < 8; ++n) {
    RawClient slow(proxy.port(), 4096);
    CHECK(slow.send(get("/large")).read_head().status() == 200);
    CHECK(proxy.metric_becomes("spillway_slots_awaiting_client", 1));
    CHECK(RawClient(proxy.port()).ask(get("/quick")).body == "done");
    CHECK((slow.read_bytes(kLargeBody) == backend.body));
  }
  CHECK(proxy.metric(kTakenBack) == 0);
}

TEST_CASE("a client that takes nothing keeps its slot as long as none waits for it") {
  LargeBackend backend(kLargeBody);
  const ProxyUnderTest proxy(with(backend.peer, 2, 0, 0));
  RawClient dawdler(proxy.port(), 4096);
  CHECK(dawdler.send(get("/large")).read_head().status() == 200);
  CHECK(proxy.metric_becomes("spillway_slots_awaiting_client", 1));
  const Event never;
  RawClient other(proxy.port());
  for (int n = 0; n < 20; ++n) {
    CHECK(other.ask(get("/quick")).body == "done");
    never.wait(Milliseconds{100});
  }
  CHECK((dawdler.read_bytes(kLargeBody) == backend.body));
  CHECK(proxy.metric(kTakenBack) == 0);
}

TEST_CASE("a client that takes much pauses for a while, though others wait and no room is left") {
  LargeBackend backend(kLargeBody);
  const ProxyUnderTest proxy(with(backend.peer, 1, 0, 0));
  RawClient quick(proxy.port(), 65'536);
  CHECK(quick.send(get("/large")).read_head().status() == 200);
  std::string got = quick.read_bytes(3'000'000);
  RawClient other(proxy.port());
  other.send(get("/quick"));
  CHECK(proxy.metric_becomes(R"(spillway_queue_depth{upstream="app",class="P0"})", 1));
  const Event never;
  never.wait(kWait / 8);  // half of the time for which it may
  got += quick.read_bytes(kLargeBody - got.size());
  CHECK((got == backend.body));
  CHECK(other.read_response().body == "done");
  CHECK(proxy.metric(kTakenBack) == 0);
}

}  // namespace spillway::support
