// Clients that take stored responses slowly, or that are slow to take one that is being stored, do
// not keep the store from storing others, nor from answering them.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cache/rules/reading.hpp"
#include "support/places.hpp"
#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/origin.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

constexpr std::size_t kEntry = std::size_t{12} << 20;  // more than the buffers of a connection hold
constexpr int kReaders = 8;
constexpr std::size_t kMaxBytes = kReaders * kEntry * 11 / 10;

// Large responses below /large, all of them storable.
ScriptedPeer::Script origin() {
  return [](PeerConnection& connection) {
    while (const auto request = connection.read_request()) {
      const bool is_large = request->target().starts_with("/large");
      const std::string body(is_large ? kEntry : 1000, 'x');
      if (!connection.send(ok(body, "Cache-Control: max-age=3600\r\n"))) return;
    }
  };
}

json settings(const ScriptedPeer& peer) {
  json config = configuration({peer.address()}, never_shed({{"workers", 1}}));
  config["limits"]["min_rate_bytes"] = 1;
  config["default_route"]["cache"] = {
      {"max_bytes", kMaxBytes}, {"max_entry_bytes", kEntry + (1 << 20)}, {"serve", "fresh"}};
  return config;
}

bool is_stored(std::uint16_t port, const std::string& target) {
  RawClient client(port);
  const Message answer = client.ask(get(target));
  return field(answer, "Cache-Status").find("stored") != std::string::npos;
}

// Asks for others, ten a second, until one is stored.
void await_stored(std::uint16_t port) {
  const Event never;
  const Deadline deadline(Milliseconds{20'000});
  for (int asked = 0; !is_stored(port, "/large/other" + std::to_string(asked)); ++asked) {
    REQUIRE(!deadline.passed());
    CHECK_FALSE(never.wait(Milliseconds{100}));
  }
}

TEST_CASE("slow readers that pin all of the store let go of it when others need the room") {
  ScriptedPeer peer(origin());
  const ProxyUnderTest proxy(settings(peer));
  for (int n = 0; n < kReaders; ++n) {
    CAPTURE(n);
    CHECK(is_stored(proxy.port(), "/large/" + std::to_string(n)));
  }
  std::vector<RawClient> readers;
  for (int n = 0; n < kReaders; ++n) {
    readers.emplace_back(proxy.port(), 4096);
    readers.back().send(get("/large/" + std::to_string(n)));
    CHECK(field(readers.back().read_head(), "Cache-Status").starts_with("spillway; hit"));
  }
  CHECK_FALSE(is_stored(proxy.port(), "/large/new"));  // as yet
  await_stored(proxy.port());
  CHECK(readers.front().read_to_end().size() < kEntry);  // cut off, not left waiting
}

TEST_CASE("slow clients whose responses are being stored give their room to others") {
  ScriptedPeer peer(origin());
  json config = settings(peer);
  config["limits"]["temp_file_bytes"] = 0;  // or all of them would soon be whole
  const ProxyUnderTest proxy(config);
  std::vector<RawClient> takers;
  for (int n = 0; n < kReaders; ++n) {  // half of them fill what there is for filling
    takers.emplace_back(proxy.port(), 4096);
    takers.back().send(get("/large/" + std::to_string(n), "Connection: close\r\n"));
    CHECK(takers.back().read_head().status() == 200);
  }
  CHECK_FALSE(is_stored(proxy.port(), "/large/new"));
  await_stored(proxy.port());
  CHECK(takers.front().read_to_end().size() == kEntry);  // it only is not stored
}

// Of a reader that takes its response at some hundred B/s.
void take_some(RawClient& reader) {
  try {
    reader.read_bytes(400, Milliseconds{1000});
  } catch (const std::exception&) {  // it has been cut off
  }
}

TEST_CASE("a response to a client that has left ends, also when its former request timed out") {
  ScriptedPeer peer([](PeerConnection& connection) {
    while (const auto request = connection.read_request()) {
      if (request->target() == "/hangs") continue;
      if (!connection.send(ok("stored", "Cache-Control: max-age=3600\r\n"))) return;
    }
  });
  ProxyProcess proxy(settings(peer));
  REQUIRE(is_stored(proxy.port(), "/stored"));
  RawClient client(proxy.port());
  REQUIRE(client.ask(get("/hangs", "X-Request-Deadline: 100ms\r\n")).status() == 504);
  proxy.process().signal(SIGSTOP);  // so that it gets the request and the reset at once
  client.send(get("/stored")).reset();
  proxy.process().signal(SIGCONT);
  RawClient other(proxy.port());  // of the only worker
  CHECK(other.ask(get("/stored")).status() == 200);
}

// An operator's look at the proxy while it is at work.
struct Look {
  explicit Look(const ProxyProcess& proxy)
      : text(RawClient(proxy.admin_port())
                 .ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
                 .body),
        memory(proxy.memory()) {}
  double sample(const std::string& name) const {
    const std::string begin = "\n" + name + " ";
    const std::size_t at = text.find(begin);
    return at == std::string::npos ? 0 : std::stod(text.substr(at + begin.size()));
  }
  double of_cache(const std::string& what) const {
    return sample("spillway_cache_" + what + "{route=\"default\"}");
  }
  double cut_off() const { return sample("spillway_slow_clients_total{phase=\"answer\"}"); }

  std::string text;
  std::size_t memory;
};

TEST_CASE("slow readers of more than the store holds keep others neither from it nor out of it") {
  constexpr int kOthers = 3;
  constexpr std::size_t kBuffers = std::size_t{64} << 20;  // limits.buffer_bytes
  ScriptedPeer peer(origin());
  const ProxyProcess proxy(settings(peer));
  for (int n = 0; n < kReaders; ++n) is_stored(proxy.port(), "/large/" + std::to_string(n));
  const Look before(proxy);
  CHECK(before.of_cache("entries") == kReaders);

  const Deadline grace(std::chrono::duration_cast<Milliseconds>(cache::kReadingGrace * 4 / 5));
  std::vector<RawClient> readers;  // three of each stored one, and of four that are not
  for (int n = 0; n < 3 * (kReaders + 4); ++n) {
    readers.emplace_back(proxy.port(), 4096);
    readers.back().send(get("/large/" + std::to_string(n % (kReaders + 4)))).read_head();
  }
  const bool is_new_stored = is_stored(proxy.port(), "/large/new");
  if (!grace.passed()) CHECK_FALSE(is_new_stored);  // the control: they do hold all of it

  std::size_t most = 0;
  const Event never;
  const Deadline deadline(Milliseconds{60'000});
  for (int served = 0; served < kOthers;) {
    REQUIRE(!deadline.passed());
    for (RawClient& reader : readers) take_some(reader);
    const std::string target = "/large/other" + std::to_string(served);
    const Message answer = RawClient(proxy.port()).ask(get(target));
    CHECK(answer.body.size() == kEntry);
    served += field(answer, "Cache-Status").starts_with("spillway; hit") ? 1 : 0;
    const Look now(proxy);
    most = std::max(most, now.memory);
    CHECK(now.of_cache("bytes") <= kMaxBytes);
    never.wait(Milliseconds{300});
  }
  const Look after(proxy);
  MESSAGE("memory at first ", before.memory >> 20, " MiB, at most ", most >> 20, " MiB; stored ",
          after.of_cache("stores_total"), "; cut off ", after.cut_off());
  CHECK(before.cut_off() == 0);
  CHECK(after.cut_off() >= kOthers);
  CHECK(after.of_cache("stores_total") >= kReaders + kOthers);
  CHECK(after.of_cache("evictions_total") >= kOthers);
  if (!is_sanitized()) CHECK(most < before.memory + kBuffers);
}

}  // namespace
}  // namespace spillway::support
