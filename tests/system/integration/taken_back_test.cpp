// Which slots are taken back from slow clients: below a lowered limit as many as exceed it, and for
// lower classes where slow clients of higher ones hold many.
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

constexpr const char* kSlotsTaken = R"(spillway_inflight{upstream="app"})";
constexpr const char* kTakenBack = R"(spillway_slots_taken_back_total{phase="answer"})";

// No memory and no file has room for the large bodies, and nothing is shed.
nlohmann::json with(int slots, const ScriptedPeer& peer, std::size_t file_bytes = 20'000'000) {
  const nlohmann::json allow = {{"strategy", "allow"}};
  const auto route = [](const char* name, const char* path, const char* traffic_class) {
    return nlohmann::json{{"name", name}, {"match", {{"path", path}}}, {"class", traffic_class}};
  };
  return configuration(
      {peer.address()},
      {{"dispatch", {{"concurrency", slots}}},
       {"limits",
        {{"buffer_bytes", 0}, {"temp_file_bytes", file_bytes}, {"drain_timeout_ms", 30'000}}},
       {"classes",
        {{{"name", "P0"}, {"max_wait_ms", kSanitized ? 3000 : 500}, {"sla_ms", 5000}},
         {{"name", "P1"}, {"max_wait_ms", 3000}, {"sla_ms", 5000}},
         {{"name", "P2"}}}},
       {"overload", {{"rules", {{"P0", allow}, {"P1", allow}, {"P2", allow}}}}},
       {"routes",
        {route("checkout", "/pay/**", "P0"), route("search", "/find/**", "P1"),
         route("export", "/export/**", "P2")}}});
}

// Answers at once, and what ends in "held" when it is told to.
struct Backend {
  const std::string body = pattern(12'000'000);
  Event go;
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const std::string_view target = request->target();
      if (target.ends_with("held") && !proxy.wait(go)) return;
      if (!proxy.send(ok(target.ends_with("large") ? body : "done"))) return;
    }
  }};
};

std::vector<RawClient> dawdlers(const ProxyUnderTest& proxy, int count, std::string_view target) {
  std::vector<RawClient> all;
  for (int n = 0; n < count; ++n) all.emplace_back(proxy.port(), 4096).send(get(target));
  for (RawClient& one : all) CHECK(one.read_head().status() == 200);
  return all;
}

// Takes this much every 20 ms, until it has all.
class SteadyClient {
 public:
  SteadyClient(const ProxyUnderTest& proxy, std::string_view target, std::size_t each,
               std::size_t size)
      : client_(proxy.port(), 65'536) {
    CHECK(client_.send(get(target)).read_head().status() == 200);
    thread_ = std::thread([this, each, size] {
      const Event never;
      while (taken_ < size) {
        const std::size_t got = client_.read_bytes(std::min(each, size - taken_)).size();
        if (got == 0) return;
        taken_ += got;
        if (!is_over_) never.wait(Milliseconds(20));
      }
    });
  }
  ~SteadyClient() {
    if (thread_.joinable()) thread_.join();
  }
  // Until it has taken so much; what it takes at first earns it no pauses.
  void await(std::size_t size) const {
    const Event never;
    for (const Deadline soon(kPatience); taken_ < size && !soon.passed();)
      never.wait(Milliseconds(5));
  }
  // From now on as fast as it can; what it has got then.
  std::size_t takes_all() {
    is_over_ = true;
    thread_.join();
    return taken_;
  }

 private:
  RawClient client_;
  std::atomic<bool> is_over_{false};
  std::atomic<std::size_t> taken_{0};
  std::thread thread_;
};

}  // namespace

TEST_CASE(
    "while slow clients hold more slots than a lowered limit has, P0 is served all the same") {
  constexpr int kBefore = 16;
  constexpr int kAfter = 4;
  Backend backend;
  ProxyUnderTest proxy(with(kBefore, backend.peer));
  const auto slow = dawdlers(proxy, kBefore - 1, "/export/large");
  SteadyClient steady(proxy, "/export/large", 50'000, backend.body.size());
  CHECK(proxy.metric_becomes(kSlotsTaken, kBefore));
  steady.await(1'500'000);
  CHECK(proxy.reload(with(kAfter, backend.peer)).status() == 200);
  RawClient payer(proxy.port());
  CHECK(payer.ask(get("/pay/x")).body == "done");
  // As many as exceed the limit, and the one; one more where a slot is granted just then.
  const double taken = proxy.metric(kTakenBack);
  CHECK(taken >= kBefore - kAfter + 1);
  CHECK(taken <= kBefore - kAfter + 2);
  CHECK(payer.ask(get("/pay/x")).body == "done");
  CHECK(proxy.metric(kTakenBack) == taken);  // there is a free one
  CHECK(steady.takes_all() == backend.body.size());
}

TEST_CASE("P1 gets a slot of slow P0 clients if they hold many, and none of those that earn it") {
  constexpr int kSlots = 8;
  Backend backend;
  const ProxyUnderTest proxy(with(kSlots, backend.peer));
  RawClient seeker(proxy.port());
  {
    const auto slow = dawdlers(proxy, 2, "/pay/large");
    std::vector<RawClient> busy;
    for (int n = 2; n < kSlots; ++n) busy.emplace_back(proxy.port()).send(get("/pay/held"));
    CHECK(proxy.metric_becomes(kSlotsTaken, kSlots));
    CHECK(seeker.ask(get("/find/x")).status() == 503);
    CHECK(proxy.metric(kTakenBack) == 0);
    backend.go.set();
    for (RawClient& one : busy) CHECK(one.read_response().body == "done");
  }
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
  const auto slow = dawdlers(proxy, kSlots - 1, "/pay/large");
  // Twice the rate: it would not do for P0.
  SteadyClient steady(proxy, "/pay/large", 1000, backend.body.size());
  CHECK(proxy.metric_becomes(kSlotsTaken, kSlots));
  for (int n = 0; n < 3; ++n) CHECK(seeker.ask(get("/find/x")).body == "done");
  CHECK(proxy.metric(kTakenBack) >= 1);
  CHECK(steady.takes_all() == backend.body.size());
}

TEST_CASE("P0 gets a worker of slow P0 clients that hold all, where the limit has more slots") {
  constexpr int kWorkers = 4;
  constexpr int kSlots = 64;
  std::counting_semaphore<kWorkers> workers(kWorkers);
  const std::string piece(65'536, 'x');
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      workers.acquire();
      const bool is_large = request->target().ends_with("large");
      // More than the kernel takes.
      bool is_taken = proxy.send(is_large ? "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
                                          : ok("done"));
      while (is_large && is_taken) is_taken = proxy.send(piece);
      workers.release();
      if (!is_taken) return;
    }
  });
  const ProxyUnderTest proxy(with(kSlots, peer, 0));
  RawClient payer(proxy.port());
  for (int n = 0; n < 50; ++n) CHECK(payer.ask(get("/pay/x")).body == "done");  // is learned
  const auto slow = dawdlers(proxy, kWorkers, "/pay/large");
  std::vector<RawClient> others;
  for (int n = 0; n < kWorkers; ++n) others.emplace_back(proxy.port()).send(get("/pay/x"));
  CHECK(payer.ask(get("/pay/x")).body == "done");
  for (RawClient& one : others) CHECK(one.read_response().body == "done");
  // At most one for each that was late.
  const double taken = proxy.metric(kTakenBack);
  CHECK(taken >= 1);
  CHECK(taken <= kWorkers);
  CHECK(proxy.metric_becomes(kSlotsTaken, kWorkers - taken));
}

}  // namespace spillway::support
