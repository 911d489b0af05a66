// A database that is away again and again, past the leases of all proxies.
#include <doctest/doctest.h>

#include <functional>
#include <thread>

#include "jobs/life.hpp"
#include "system/fleet/fleet.hpp"

using namespace spillway;
using namespace spillway::support;

namespace {

constexpr std::chrono::milliseconds kTwoSeconds{2000};
constexpr Milliseconds kLongOutage{30'000};

// Of the backends of two proxies together.
struct Pair {
  using Count = std::function<std::size_t(const HoldingBackend&)>;

  std::size_t sum(const Count& count) const { return count(first.backend) + count(second.backend); }
  bool comes_to(const Count& count, std::size_t wanted) const {
    const Deadline deadline(kLongOutage);
    while (sum(count) < wanted && !deadline.passed()) std::this_thread::yield();
    return sum(count) == wanted;
  }

  Postgres postgres{};
  const std::string url = postgres.create_database();
  Member first{"first", 0, fleet_settings(url, kTwoSeconds, 4)};
  Member second{"second", 0, fleet_settings(url, kTwoSeconds, 4)};
};

}  // namespace

TEST_CASE("a job outlives more outages of PostgreSQL than it may outlive proxies") {
  constexpr std::size_t kOutages = 5;
  static_assert(kOutages > jobs::kMostRecoveries + 1);
  Pair pair;
  const std::string location = pair.first.order();
  REQUIRE(location != "");
  const Pair::Count came = [](const HoldingBackend& one) { return one.came().size(); };
  const Pair::Count given_up = &HoldingBackend::given_up;
  for (std::size_t n = 1; n <= kOutages; ++n) {
    REQUIRE(pair.comes_to(came, n));
    pair.postgres.stop();
    REQUIRE(pair.comes_to(given_up, n));
    pair.postgres.start();
  }
  REQUIRE(pair.comes_to(came, kOutages + 1));
  pair.first.backend.answer_all();
  pair.second.backend.answer_all();
  for (const Deadline deadline(kLongOutage); !deadline.passed();)
    if (pair.first.state_of(location) == "succeeded") break;
  CHECK(Postgres::ask(pair.url, "SELECT attempts || ' ' || recoveries FROM spillway.ended") ==
        std::to_string(kOutages + 1) + " 0");
}
