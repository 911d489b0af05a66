// The caps of a route hold over all proxies on a store.
#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <thread>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/fleet/fleet.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr std::size_t kCap = 4;
constexpr std::chrono::milliseconds kLease{3000};
constexpr Milliseconds kEach{20};  // a job ends so often

// Several proxies before one backend.
struct Fleet {
  std::unique_ptr<ProxyProcess> join() const {
    json settings = fleet_settings(url, kLease, kCap);
    settings["upstreams"][0]["servers"] = json::array({backend.address()});
    return std::make_unique<ProxyProcess>(settings);
  }
  // So many more, which end one after another as long as `ends` is there.
  void order(const ProxyProcess& proxy, std::size_t jobs) {
    for (std::size_t n = 0; n < jobs; ++n)
      REQUIRE(RawClient(proxy.port()).ask(post("/order", "one of each")).status() == 202);
    ordered += jobs;
  }
  bool comes_to_be_done() const {
    const std::string all = std::to_string(ordered);
    for (const Deadline deadline(Milliseconds(30'000)); !deadline.passed();)
      if (Postgres::ask(url, "SELECT count(*) FROM spillway.ended") == all) return true;
    return false;
  }

  Postgres postgres;
  const std::string url = postgres.create_database();
  HoldingBackend backend{"backend", 0};
  std::size_t ordered = 0;
};

class Ends {
 public:
  explicit Ends(HoldingBackend& backend)
      : thread_([this, &backend] {
          for (; !is_over_; Event().wait(kEach)) backend.answer(1);
        }) {}
  ~Ends() {
    is_over_ = true;
    thread_.join();
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("a cap of four is four in three proxies, when one joins, is killed, and is stopped") {
  Fleet fleet;
  const auto first = fleet.join();
  fleet.order(*first, 40);
  REQUIRE(fleet.backend.comes_to_hold(kCap));
  REQUIRE(comes_to_share(fleet.url, "4"));
  const auto second = fleet.join();
  const auto third = fleet.join();
  // Jobs that are not over keep their places.
  REQUIRE(comes_to_share(fleet.url, "4 0 0"));
  {
    const Ends ends(fleet.backend);
    REQUIRE(comes_to_share(fleet.url, "2 1 1"));
    fleet.order(*third, 40);
    CHECK(fleet.comes_to_be_done());
  }
  CHECK(fleet.backend.most_held() == kCap);

  fleet.order(*first, 40);
  fleet.order(*third, 40);
  {
    const Ends ends(fleet.backend);
    third->process().signal(SIGKILL);
    REQUIRE(comes_to_share(fleet.url, "2 2"));
    second->process().signal(SIGTERM);
    REQUIRE(comes_to_share(fleet.url, "4"));
    CHECK(second->process().wait(kPatience) == 0);
    CHECK(fleet.comes_to_be_done());
  }
  CHECK(fleet.backend.most_held() == kCap);
  MESSAGE(fleet.ordered, " jobs, ", fleet.backend.came().size(), " attempts, at most ",
          fleet.backend.most_held(), " at a time");
}

TEST_CASE("a proxy that is killed and started again has its share when its old lease is over") {
  Fleet fleet;
  auto first = fleet.join();
  fleet.order(*first, 8);
  REQUIRE(fleet.backend.comes_to_hold(kCap));
  first->process().signal(SIGKILL);
  const auto again = fleet.join();
  REQUIRE(comes_to_share(fleet.url, "4 0"));
  REQUIRE(comes_to_share(fleet.url, "4"));
  const Ends ends(fleet.backend);
  CHECK(fleet.comes_to_be_done());
  CHECK(fleet.backend.most_held() == kCap);
}
