// How many heap allocations the proxy makes for a request once it is warm.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/child_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/allocations/counter.hpp"
#include "system/allocations/peers.hpp"

namespace spillway::allocations {
namespace {

using namespace support;
using nlohmann::json;

constexpr double kWarmUp = 10'000;
constexpr double kCounted = 20'000;
constexpr std::size_t kConnections = 64;
constexpr Milliseconds kLongest{60'000};

const json kOneWorker = json::parse(R"({
  "workers": 1,
  "routes": [{"name": "checkout", "match": {"path": "/checkout"}, "class": "P0"},
             {"name": "export", "match": {"path": "/export"}, "class": "P2"}]})");

// The id of the proxy's only worker thread.
int worker_thread() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name == "worker 0") return std::stoi(task.path().filename());
  }
  throw std::runtime_error("no thread is named \"worker 0\"");
}

struct Backend {
  explicit Backend(Milliseconds service) : process(backend_command(service)) {
    if (!process.wait_for_output("\n")) throw std::runtime_error("no backend");
  }
  std::string address() const {
    return "127.0.0.1:" + process.out().substr(0, process.out().find('\n'));
  }
  ChildProcess process;
};

// Lets the proxy get warm, then counts what its worker allocates while `sample` grows by kCounted.
double allocations_per_request(const ProxyUnderTest& proxy, const std::string& sample) {
  const Event never;
  const auto reaches = [&](double value) {
    const Deadline deadline(kLongest);
    // Now and then, so that looking does not slow down what is looked at.
    while (proxy.metric(sample) < value && !deadline.passed()) never.wait(50ms);
    REQUIRE(proxy.metric(sample) >= value);
  };
  reaches(kWarmUp);

  const int worker = worker_thread();
  remember_places_of(worker);
  const auto before = by_thread()[worker];
  REQUIRE(before > 0);  // it is counted: getting warm took some
  const double first = proxy.metric(sample);
  reaches(first + kCounted);
  const double requests = proxy.metric(sample) - first;
  const auto allocations = static_cast<double>(by_thread()[worker] - before);
  MESSAGE(allocations << " allocations for " << requests << " requests");
  if (allocations / requests >= 0.001) print_places();
  return allocations / requests;
}

// Overloaded for as long as its clients ask: they are more than its slots.
class Overloaded {
 public:
  // `export_route`: changes of that route.
  explicit Overloaded(std::string_view overload, int concurrency = 4,
                      const json& export_route = json::object())
      : backend_(5ms) {
    json settings = kOneWorker;
    if (!export_route.is_null()) settings["routes"][1].merge_patch(export_route);
    settings["trusted_peers"] = {"127.0.0.1/32"};
    settings["trusted_headers"]["tenant"] = "X-Tenant";
    settings["dispatch"]["concurrency"] = concurrency;
    settings["overload"] = json::parse(overload);
    proxy_ = std::make_unique<ProxyUnderTest>(backend_.address(), settings);
  }
  const ProxyUnderTest& operator*() const { return *proxy_; }
  const ProxyUnderTest* operator->() const { return proxy_.get(); }

 private:
  Backend backend_;
  std::unique_ptr<ProxyUnderTest> proxy_;
};

// A few of the first class keep the upstream overloaded whatever becomes of the others.
std::vector<std::string> mostly_exports() {
  std::vector<std::string> requests(kConnections, get("/export"));
  std::fill_n(requests.begin(), 8, get("/checkout"));
  return requests;
}

const std::string kDenied =
    R"(spillway_requests_total{route="export",class="P2",outcome="denied"})";

std::string denied(std::string_view reason) {
  return R"(spillway_denied_total{class="P2",reason=")" + std::string(reason) + "\"}";
}

}  // namespace

TEST_CASE("a forwarded keep-alive request allocates nothing once the proxy is warm") {
  const Backend backend(0ms);
  json settings = kOneWorker;
  SUBCASE("with a slot for each") {}
  SUBCASE("most of them waiting for a slot") { settings["dispatch"]["concurrency"] = 8; }
  const ProxyUnderTest proxy(backend.address(), settings);
  const ChildProcess clients(
      clients_command(proxy.port(), std::vector<std::string>(kConnections, get("/checkout"))));
  CHECK(allocations_per_request(
            proxy, R"(spillway_requests_total{route="checkout",class="P0",outcome="forwarded"})") <
        0.001);
}

TEST_CASE("a denied request allocates nothing once the proxy is warm") {
  const Overloaded proxy(R"({"rules": {"P2": {"strategy": "deny", "probability": 1}}})");
  const ChildProcess clients(clients_command(proxy->port(), mostly_exports()));
  CHECK(allocations_per_request(*proxy, kDenied) < 0.001);
}

TEST_CASE("a request beyond its class's budget allocates nothing once the proxy is warm") {
  const Overloaded proxy(
      R"({"rules": {"P2": {"strategy": "allow", "budget": {"rate": 1, "burst": 1}}}})");
  const ChildProcess clients(clients_command(proxy->port(), mostly_exports()));
  CHECK(allocations_per_request(*proxy, denied("BUDGET_EXCEEDED")) < 0.001);
}

TEST_CASE("a request beyond its tenant's share allocates nothing once the proxy is warm") {
  const Overloaded proxy(R"({"rules": {"P2": {"strategy": "deny", "probability": 0.5}}})");
  std::vector<std::string> requests(kConnections, get("/export", "X-Tenant: noisy\r\n"));
  for (std::size_t i = 0; i < 8; ++i)
    requests[i] = get("/export", "X-Tenant: quiet-" + std::to_string(i) + "\r\n");
  const ChildProcess clients(clients_command(proxy->port(), requests));
  CHECK(allocations_per_request(*proxy, denied("TENANT_SHARE")) < 0.001);
}

TEST_CASE("a degraded request allocates nothing once the proxy is warm") {
  std::string overload = R"("rules": {"P2": {"strategy": "degrade", "mode": "skip_downstream"}})";
  json changes;
  int concurrency = 4;
  SUBCASE("forwarded with less to do") {
    concurrency = 48;  // it needs slots, and an overload that they do not end
    overload += R"(, "regulate": false, "enter": {"inflight_ratio": 0.2},
                     "exit": {"inflight_ratio": 0.1})";
  }
  SUBCASE("answered with what is prepared") { changes["fallback"]["json"]["body"] = "{}"; }
  SUBCASE("answered with what is stored") {
    changes["cache"] = json::parse(R"({"max_bytes": 1048576, "ttl_ms": 3600000})");
    changes["rules"]["P2"]["mode"] = "stale_ok";
  }
  const Overloaded proxy("{" + overload + "}", concurrency, changes);
  const ChildProcess clients(clients_command(proxy->port(), mostly_exports()));
  CHECK(allocations_per_request(
            *proxy, R"(spillway_requests_total{route="export",class="P2",outcome="degraded"})") <
        0.001);
}

TEST_CASE("a refusal of the gate and what goes before it allocate nothing") {
  const Backend backend(5ms);
  json settings = kOneWorker;
  settings["classes"] = json::parse(R"([{"name": "P0"}, {"name": "P2", "max_queue": 1}])");
  settings["dispatch"]["concurrency"] = 8;
  // No state: all that is refused, the gate refuses.
  settings["overload"] =
      json::parse(R"({"enter_by": "score", "score": {"enter": 1000, "exit": 999}})");
  std::string sample = denied("QUEUE_FULL");
  SUBCASE("refused") {}
  SUBCASE("answered with what is stored") {
    settings["routes"][1]["cache"] = json::parse(R"({"max_bytes": 1048576, "ttl_ms": 3600000})");
    settings["routes"][1]["rules"]["P2"] =
        json::parse(R"({"strategy": "degrade", "mode": "stale_ok"})");
    sample = R"(spillway_degraded_total{class="P2",mode="stale_ok",reason="QUEUE_FULL"})";
  }
  const ProxyUnderTest proxy(backend.address(), settings);
  const ChildProcess clients(
      clients_command(proxy.port(), std::vector<std::string>(kConnections, get("/export"))));
  CHECK(allocations_per_request(proxy, sample) < 0.001);
}

TEST_CASE("an answer from the store allocates nothing once the proxy is warm") {
  const Backend backend(0ms);
  json settings = kOneWorker;
  settings["routes"][0]["cache"] =
      json::parse(R"({"max_bytes": 1048576, "ttl_ms": 3600000, "serve": "fresh"})");
  const ProxyUnderTest proxy(backend.address(), settings);
  const ChildProcess clients(
      clients_command(proxy.port(), std::vector<std::string>(kConnections, get("/checkout"))));
  CHECK(allocations_per_request(
            proxy, R"(spillway_requests_total{route="checkout",class="P0",outcome="cached"})") <
        0.001);
}

TEST_CASE("a request in shadow mode allocates nothing once the proxy is warm") {
  SUBCASE("that would be denied") {
    const Overloaded proxy(
        R"({"mode": "shadow", "rules": {"P2": {"strategy": "deny", "probability": 1}}})");
    const ChildProcess clients(clients_command(proxy->port(), mostly_exports()));
    CHECK(allocations_per_request(
              *proxy,
              R"(spillway_shadow_total{class="P2",outcome="denied",reason="QUEUE_WAIT_RISK"})") <
          0.001);
  }
  SUBCASE("whose ghost waits for a slot") {
    const Overloaded proxy(R"({"mode": "shadow"})", 8);
    const ChildProcess clients(
        clients_command(proxy->port(), std::vector<std::string>(kConnections, get("/checkout"))));
    CHECK(
        allocations_per_request(
            *proxy, R"(spillway_requests_total{route="checkout",class="P0",outcome="forwarded"})") <
        0.001);
    CHECK(proxy->metric(R"(spillway_queue_depth{upstream="app",class="P0"})") > 8);
  }
}

TEST_CASE("allocations are counted however they are asked for") {
  void* volatile block = nullptr;  // so that no allocation is optimized away
  const auto counted = [&](auto&& allocate) {
    const std::uint64_t before = by_this_thread();
    block = allocate();
    const std::uint64_t after = by_this_thread();
    std::free(block);
    return after - before;
  };
  CHECK(counted([] { return std::malloc(10); }) == 1);
  CHECK(counted([] { return std::calloc(10, 10); }) == 1);
  CHECK(counted([] { return std::realloc(nullptr, 10); }) == 1);
  CHECK(counted([] { return std::aligned_alloc(64, 64); }) == 1);
  CHECK(counted([] {
          void* aligned = nullptr;
          return ::posix_memalign(&aligned, 64, 64) == 0 ? aligned : nullptr;
        }) == 1);
  CHECK(counted([]() -> void* { return nullptr; }) == 0);

  const std::uint64_t before = by_this_thread();
  const auto object = std::make_unique<std::vector<int>>(10);
  CHECK(by_this_thread() - before == 2);
}

}  // namespace spillway::allocations

int main(int argc, char** argv) {
  spillway::allocations::play_peer(argc, argv);
  return doctest::Context(argc, argv).run();
}
