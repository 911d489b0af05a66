// Clients that take stored responses slowly, or that are slow to take one that is being stored, do
// not keep the store from storing others.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/origin.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

constexpr std::size_t kEntry = std::size_t{12} << 20;  // more than the buffers of a connection hold
constexpr int kReaders = 8;

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
  config["default_route"]["cache"] = {{"max_bytes", kReaders * kEntry * 11 / 10},
                                      {"max_entry_bytes", kEntry + (1 << 20)},
                                      {"serve", "fresh"}};
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

}  // namespace
}  // namespace spillway::support
