// How long an abandoned request keeps its slot is learned from abandoned requests too.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

constexpr int kSlots = 2;

// Takes its time over each request, and sees nothing of a client that leaves.
struct Backend {
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      most_at_work = std::max<int>(most_at_work, ++at_work);
      const Event nothing;
      nothing.wait(Milliseconds{request->target() == "/dear" ? 250 : takes_ms.load()});
      --at_work;
      if (!proxy.send(ok("done"))) return;
    }
  }};
  std::atomic<int> takes_ms{10};
  std::atomic<int> at_work{0};
  std::atomic<int> most_at_work{0};

  bool is_asked(std::size_t requests) const {
    return peer.wait_until([=](const auto& seen) { return seen.requests >= requests; });
  }
};

nlohmann::json few_slots() {
  return never_shed({{"workers", 1},
                     {"dispatch", {{"concurrency", kSlots}}},
                     {"classes", {{{"name", "P0"}, {"max_wait_ms", 10'000}, {"sla_ms", 20'000}}}},
                     {"overload", {{"rules", {{"P0", {{"strategy", "allow"}}}}}}}});
}

}  // namespace

TEST_CASE(
    "where every client leaves early the slots are held as long as the upstream works all the "
    "same") {
  Backend backend;
  const ProxyUnderTest proxy(backend.peer.address(), few_slots());
  RawClient patient(proxy.port());
  std::size_t asked = 0;
  for (; asked < 30; ++asked) CHECK(patient.ask(get("/")).body == "done");
  backend.takes_ms = 250;  // from now on no client waits for its answer
  const auto leave = [&](int clients) {
    for (int n = 0; n < clients; ++n) {
      RawClient leaver(proxy.port());
      leaver.send(get("/"));
      CHECK(backend.is_asked(++asked));
    }
  };
  leave(60);
  CHECK(backend.most_at_work > kSlots);  // what was learned was no longer true
  leave(2 * kSlots);                     // those are over by the end of this
  backend.most_at_work = 0;
  leave(12);
  CHECK(backend.most_at_work <= kSlots);
}

TEST_CASE("thirty quick requests for each slow one that is abandoned do not free its slot early") {
  Backend backend;
  backend.takes_ms = 1;
  const ProxyUnderTest proxy(backend.peer.address(), few_slots());
  RawClient patient(proxy.port());
  std::size_t asked = 0;
  const auto quick = [&](int requests) {
    for (int n = 0; n < requests; ++n) CHECK(patient.ask(get("/")).body == "done");
    asked += static_cast<std::size_t>(requests);
  };
  const auto leave = [&](int clients) {
    for (int n = 0; n < clients; ++n) {
      RawClient leaver(proxy.port());
      leaver.send(get("/dear"));
      CHECK(backend.is_asked(++asked));
      leaver.close();
      quick(30);
    }
  };
  quick(30);
  leave(10);
  backend.most_at_work = 0;
  leave(20);
  CHECK(backend.most_at_work <= kSlots);
}

}  // namespace spillway::support
