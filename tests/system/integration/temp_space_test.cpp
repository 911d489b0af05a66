// Clients whose bodies take disk space give way once others find none, unless they are quick.
#include <doctest/doctest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <string>

#include "cache/rules/reading.hpp"
#include "support/event.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

constexpr std::size_t kLarge = 12'000'000;
constexpr int kSixteenSlots = 16;
constexpr const char* kHeldSlots = R"(spillway_inflight{upstream="app"})";
constexpr const char* kSpaceMissed = R"(spillway_temp_files_unavailable_total{reason="limit"})";
constexpr const char* kTooSlowTakers = R"(spillway_slow_clients_total{phase="answer"})";
constexpr const char* kTooSlowSenders = R"(spillway_slow_clients_total{phase="body"})";

// Each body has just room in its part of the space, and about ten in all of it.
json settings(const TemporaryDirectory& directory) {
  return never_shed({{"dispatch", {{"concurrency", kSixteenSlots}}},
                     {"limits",
                      {{"buffer_bytes", 0},
                       {"temp_file_bytes", 100'000'000},
                       {"temp_file_directory", directory.path().string()},
                       {"min_rate_bytes", 0}}}});
}

// Takers of large responses, each with an address of its own.
struct Takers {
  explicit Takers(std::uint16_t its_port) : port(its_port) {}

  RawClient& add() {
    const std::string from = "127.0.1." + std::to_string(all.size() + 1);
    RawClient& taker = all.emplace_back(port, 4096, from.c_str());
    CHECK(taker.send(get("/large")).read_head().status() == 200);
    return taker;
  }
  // At 300 B/s, if asked ten times a second.
  void take_slowly() {
    for (RawClient& taker : all) taker.read_bytes(30);
  }

  std::uint16_t port;
  std::deque<RawClient> all;
};

}  // namespace

TEST_CASE("slow clients give disk space to others that find none; a quick one keeps its own") {
  const std::string body(kLarge, 'x');
  const TemporaryDirectory directory;
  ScriptedPeer peer(ok(body));
  const ProxyUnderTest proxy(peer.address(), settings(directory));
  RawClient sender(proxy.port(), 0, "127.0.0.2");
  sender.send(std::string_view(post("/upload", body)).substr(0, 1'000'000));
  RawClient quick(proxy.port(), 4096, "127.0.0.3");
  CHECK(quick.send(get("/large")).read_head().status() == 200);
  Takers slow(proxy.port());
  constexpr int kFirst = 4;
  for (int n = 0; n < kFirst; ++n) slow.add();
  CHECK(proxy.metric_becomes("spillway_temp_files_total", kFirst + 2));
  CHECK(proxy.metric_becomes(kHeldSlots, 0));

  // The control: while there is space, slow clients are not cut off.
  constexpr std::size_t kPiece = 50'000;
  std::size_t taken = 0;
  const Event never;
  for (const Deadline grace(std::chrono::seconds(1) +
                            std::chrono::duration_cast<Milliseconds>(cache::kReadingGrace));
       !grace.passed(); never.wait(100ms)) {
    slow.take_slowly();
    taken += quick.read_bytes(kPiece).size();
  }
  CHECK(proxy.metric(kSpaceMissed) == 0);
  CHECK(proxy.metric(kTooSlowTakers) + proxy.metric(kTooSlowSenders) == 0);

  for (int n = 0; n < 10; ++n) slow.add();
  CHECK(proxy.state_becomes([&](const json&) { return proxy.metric(kSpaceMissed) > 0; }));
  CHECK(proxy.state_becomes([&](const json&) {
    taken += quick.read_bytes(kPiece).size();
    return proxy.metric(kTooSlowTakers) >= kFirst;
  }));
  for (int n = 0; n < kFirst; ++n) CHECK(slow.all[n].read_to_end().size() < kLarge);
  CHECK(sender.read_response().status() == 408);
  CHECK(proxy.metric(kTooSlowSenders) == 1);
  slow.all.clear();
  CHECK(proxy.metric_becomes(kHeldSlots, 0));
  CHECK(proxy.metric("spillway_temp_file_bytes") > 0);  // the quick one's
  CHECK(quick.read_bytes(kLarge - taken).size() == kLarge - taken);
}

}  // namespace spillway::support
