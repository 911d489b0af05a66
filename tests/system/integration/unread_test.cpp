// Workers with more to do than they can: how long requests wait unread is seen, and makes the state
// by which the lowest class is refused, on the workers that lag.
//
// What makes work is requests with a long head that are answered from the cache: a worker parses
// and judges in some hundred microseconds what a client sends in some ten. Each of the clients asks
// again when it is answered, so on any machine they wait for one another at the worker; there are
// more of them until they wait for long enough.
#include <doctest/doctest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/open_load.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "support/sockets.hpp"
#include "system/integration/overloaded.hpp"
#include "system/integration/refusal.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

std::string with_long_head() {
  std::string lines;
  for (int n = 0; n < 100; ++n)
    lines += "X-Field-" + std::to_string(n) + ": " + std::string(600, 'a') + "\r\n";
  return get("/stored", lines);
}

// Clients that ask for the same without a pause, all on one thread.
class RestlessClients {
 public:
  explicit RestlessClients(std::uint16_t port) : port_(port), set_(::epoll_create1(EPOLL_CLOEXEC)) {
    REQUIRE(set_ >= 0);
    watch(end_.descriptor());
    thread_ = std::thread([this] { run(); });
  }
  ~RestlessClients() {
    end_.set();
    thread_.join();
    for (const int socket : sockets_) ::close(socket);
    ::close(set_);
  }
  RestlessClients(const RestlessClients&) = delete;
  RestlessClients& operator=(const RestlessClients&) = delete;

  void add() {
    const int socket = connect_to_loopback(port_);
    sockets_.push_back(socket);
    watch(socket);
    ask(socket);
  }
  // One that says nothing.
  void add_silent() { sockets_.push_back(connect_to_loopback(port_)); }
  std::size_t lost() const { return lost_; }

 private:
  void watch(int descriptor) const {
    epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
    REQUIRE(::epoll_ctl(set_, EPOLL_CTL_ADD, descriptor, &event) == 0);
  }
  void ask(int socket) {
    if (send_all(socket, request_, Deadline()) != Sent::all) ++lost_;
  }
  void run() {
    std::array<epoll_event, 64> events{};
    std::array<char, 4096> block{};
    while (!end_.is_set()) {
      const int count = ::epoll_wait(set_, events.data(), events.size(), kPatience.count());
      for (int n = 0; n < count; ++n) {
        const int socket = events[n].data.fd;
        if (socket == end_.descriptor()) return;
        const ssize_t got = ::recv(socket, block.data(), block.size(), MSG_DONTWAIT);
        if (got <= 0) {
          ++lost_;
          ::epoll_ctl(set_, EPOLL_CTL_DEL, socket, nullptr);
        } else if (block[static_cast<std::size_t>(got) - 1] == '!') {  // the end of the answer
          ask(socket);
        }
      }
    }
  }

  const std::uint16_t port_;
  const int set_;
  const std::string request_ = with_long_head();
  Event end_;
  std::vector<int> sockets_;
  std::atomic<std::size_t> lost_{0};
  std::thread thread_;
};

// P2 is denied on /probe, /stored is answered from the cache.
struct CrowdedProxy {
  static json settings(const std::string& server, int workers, bool regulate) {
    json stored = route("stored", "P1");
    stored["cache"] = {{"max_bytes", 1 << 20}, {"serve", "fresh"}};
    return overloadable(server,
                        {{"workers", workers},
                         {"overload", {{"regulate", regulate}}},
                         {"more_routes", json::array({stored})}},
                        {{"event_loop_lag_ms", kEnterMs}}, {{"event_loop_lag_ms", kExitMs}});
  }

  explicit CrowdedProxy(int workers, bool regulate)
      : proxy(settings(backend.address(), workers, regulate)) {}

  bool lags() const { return proxy.state()["upstreams"][0]["reason"] == "EVENT_LOOP_LAG"; }
  double lag_of(int worker) const {
    return proxy.metric("spillway_event_loop_lag_seconds{worker=\"" + std::to_string(worker) +
                        "\"}");
  }

  static constexpr int kEnterMs = 60, kExitMs = 30;
  ScriptedPeer backend{ok("!", "Cache-Control: max-age=3600\r\n")};
  ProxyUnderTest proxy;
};

constexpr std::size_t kMoreClients = 100, kMostClients = 4000;

}  // namespace

TEST_CASE("requests that wait unread at a worker are its lag and make it refuse the lowest class") {
  raise_descriptor_limit();
  CrowdedProxy scene(1, false);
  RawClient client(scene.proxy.port());
  REQUIRE(client.ask(get("/stored")).status() == 200);
  CHECK(client.ask(get("/probe")).status() == 200);

  RestlessClients crowd(scene.proxy.port());
  for (std::size_t clients = 0; !scene.lags(); clients += kMoreClients) {
    REQUIRE(clients < kMostClients);
    for (std::size_t n = 0; n < kMoreClients; ++n) crowd.add();
    REQUIRE(client.ask(get("/stored")).status() == 200);  // behind all of them
  }
  Message refused = client.ask(get("/probe"));
  for (const Deadline deadline; refused.status() == 200 && !deadline.passed();)
    refused = client.ask(get("/probe"));  // the plan is on its way to the worker
  check_refusal(refused, 503, "P2", "EVENT_LOOP_LAG");
  for (int n = 0; n < 3; ++n) CHECK(client.ask(get("/p0")).status() == 200);
  bool is_told = false;
  for (const Deadline deadline; !is_told && !deadline.passed();)
    is_told = scene.lag_of(0) * 1000 >= CrowdedProxy::kEnterMs;
  CHECK(is_told);
  CHECK(crowd.lost() == 0);
}

// Connections go to the worker that has the fewest: in turns, while none is closed.
TEST_CASE("a worker that lags refuses requests that the other one serves") {
  raise_descriptor_limit();
  CrowdedProxy scene(2, true);
  RawClient calm(scene.proxy.port());
  REQUIRE(calm.ask(get("/stored")).status() == 200);
  RawClient busy(scene.proxy.port());
  CHECK(busy.ask(get("/probe")).status() == 200);

  RestlessClients crowd(scene.proxy.port());
  for (std::size_t clients = 0; !scene.lags(); clients += kMoreClients) {
    REQUIRE(clients < kMostClients);
    for (std::size_t n = 0; n < kMoreClients; ++n) {
      crowd.add_silent();
      crowd.add();
    }
    REQUIRE(busy.ask(get("/stored")).status() == 200);
  }
  // On a busy machine the other may lag for a while, too.
  int in_a_row = 0;
  for (const Deadline deadline(8 * kPatience); in_a_row < 5 && !deadline.passed();) {
    const Message there = busy.ask(get("/probe"));
    const bool is_served_here = calm.ask(get("/probe")).status() == 200;
    if (there.status() != 200) check_refusal(there, 503, "P2", "EVENT_LOOP_LAG");
    if (!is_served_here)
      in_a_row = 0;
    else if (there.status() != 200)
      ++in_a_row;
  }
  CHECK(in_a_row == 5);
  CHECK(busy.ask(get("/p0")).status() == 200);
  CHECK(crowd.lost() == 0);
}

// The control, by number alone: half of them each.
TEST_CASE("clients that come while a worker lags get the other one") {
  raise_descriptor_limit();
  CrowdedProxy scene(2, true);
  RawClient calm(scene.proxy.port()), busy(scene.proxy.port());
  REQUIRE(calm.ask(get("/stored")).status() == 200);
  RestlessClients crowd(scene.proxy.port());
  for (std::size_t clients = 0; scene.lag_of(1) - scene.lag_of(0) < 0.12; clients += kMoreClients) {
    REQUIRE(clients < kMostClients);
    for (std::size_t n = 0; n < kMoreClients; ++n) {
      crowd.add_silent();
      crowd.add();
    }
    REQUIRE(busy.ask(get("/stored")).status() == 200);
  }
  const auto connections = [&] {
    return scene.proxy.state()["workers"][0]["connections"].get<int>();
  };
  std::vector<RawClient> newcomers;
  bool has_all = false;
  for (const Deadline deadline; !has_all && !deadline.passed();) {
    const int before = connections();
    for (int n = 0; n < 10; ++n) newcomers.emplace_back(scene.proxy.port());
    CHECK(newcomers.back().ask(get("/stored")).status() == 200);
    has_all = connections() - before == 10;
  }
  CHECK(has_all);
}
