// The memory in which bodies of requests wait that are being deferred: what has not come takes none
// of it.
#include <doctest/doctest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr int kLongest = 100'000;
const std::vector<const char*> kAddresses{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5",
                                          "127.0.0.6", "127.0.0.7", "127.0.0.8", "127.0.0.9"};
constexpr int kEach = 6;

json with_little_memory(const std::string& directory) {
  return deferring({{"jobs", {{"max_body_bytes", kLongest}}},
                    {"limits",
                     {{"buffer_bytes", 32 * kLongest},
                      {"min_rate_bytes", 0},
                      {"temp_file_directory", directory}}}});
}

std::string upload(const std::string& lines) {
  return "POST /export/slow HTTP/1.1\r\nHost: localhost\r\n" + lines + "\r\n";
}

}  // namespace

TEST_CASE("clients that send no body keep no memory from those whose requests are deferred") {
  ScriptedPeer backend(ok("hi"));
  const TemporaryDirectory directory;
  const ProxyUnderTest proxy(backend.address(), with_little_memory(directory.path().string()));
  std::string framing = "Content-Length: 100000\r\n";
  SUBCASE("of a known length") {}
  SUBCASE("in chunks") { framing = "Transfer-Encoding: chunked\r\n"; }
  std::deque<RawClient> silent;
  for (const char* address : kAddresses) {
    for (int n = 0; n < kEach; ++n) {
      RawClient& one = silent.emplace_back(proxy.port(), 0, address);
      one.send(upload("Expect: 100-continue\r\n" + framing));
      CHECK(one.read_head().status() == 100);  // its body is being read
    }
  }
  CHECK(proxy.metric("spillway_body_buffer_bytes") == 0);
  RawClient honest(proxy.port());
  CHECK(honest.ask(post("/export/1", "x")).status() == 202);
  CHECK(honest.ask(post("/export/2", std::string(kLongest, 'x'))).status() == 202);
}

TEST_CASE("clients that send most of a body and stop leave a file to those that are deferred") {
  ScriptedPeer backend(ok("hi"));
  const TemporaryDirectory directory;
  const ProxyUnderTest proxy(backend.address(), with_little_memory(directory.path().string()));
  std::deque<RawClient> slow;
  for (const char* address : kAddresses) {
    for (int n = 0; n < kEach; ++n) {
      slow.emplace_back(proxy.port(), 0, address)
          .send(upload("Content-Length: 100000\r\n") + std::string(99'000, 'x'));
    }
  }
  // Blocks of more than 64 KiB: another one does not fit.
  const Deadline deadline;
  while (proxy.metric("spillway_body_buffer_bytes") < 32 * kLongest - 64 * 1024 &&
         !deadline.passed()) {
  }
  CHECK_FALSE(deadline.passed());
  RawClient honest(proxy.port());
  CHECK(honest.ask(post("/export/1", "x")).status() == 202);
  CHECK(honest.ask(post("/export/2", std::string(kLongest, 'x'))).status() == 202);
  for (RawClient& one : slow) CHECK(one.ask(std::string(1000, 'x')).status() == 202);
}
