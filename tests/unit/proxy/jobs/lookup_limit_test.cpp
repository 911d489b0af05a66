// How often clients may ask after their jobs.
#include "proxy/jobs/lookup_limit.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::proxy;

namespace {

constexpr TimePoint kStart{std::chrono::hours(1)};

// Of so many questions at one moment, those that pass.
int passed(LookupLimit& limit, TenantId tenant, int asked, TimePoint now) {
  int count = 0;
  for (int n = 0; n < asked; ++n) count += limit.take(tenant, now) ? 0 : 1;
  return count;
}

}  // namespace

TEST_CASE("a tenant has a quarter of the rate, all have the whole of it") {
  LookupLimit limit;
  limit.set_rate(100);
  CHECK(passed(limit, TenantId{1}, 1000, kStart) == 25);
  CHECK(passed(limit, TenantId{2}, 1000, kStart) == 25);
  CHECK(passed(limit, TenantId{3}, 1000, kStart) == 25);
  CHECK(passed(limit, TenantId{4}, 1000, kStart) == 25);
  CHECK(passed(limit, TenantId{5}, 1000, kStart) == 0);
  CHECK(limit.take(TenantId{5}, kStart) == LookupLimit::kLater);
}

TEST_CASE("one that asks all the time leaves the others theirs, second after second") {
  LookupLimit limit;
  limit.set_rate(100);
  for (int second = 0; second < 10; ++second) {
    const TimePoint now = kStart + std::chrono::seconds(second);
    CHECK(passed(limit, TenantId{1}, 1000, now) == 25);
    CHECK(passed(limit, TenantId{2}, 20, now) == 20);
  }
}

TEST_CASE("what all have used up costs a tenant nothing of its own") {
  LookupLimit limit;
  limit.set_rate(4);
  for (std::uint64_t n = 1; n <= 4; ++n) CHECK_FALSE(limit.take(TenantId{n}, kStart));
  for (int n = 0; n < 10; ++n) CHECK(limit.take(TenantId{9}, kStart));
  const TimePoint later = kStart + std::chrono::milliseconds(250);
  CHECK_FALSE(limit.take(TenantId{9}, later));
}

TEST_CASE("a low rate lets single questions pass, and a new rate counts at once") {
  LookupLimit limit;
  limit.set_rate(0.1);
  CHECK_FALSE(limit.take(TenantId{1}, kStart));
  CHECK(limit.take(TenantId{1}, kStart + std::chrono::seconds(1)));
  limit.set_rate(1e6);
  CHECK_FALSE(limit.take(TenantId{1}, kStart + std::chrono::minutes(1)));
}
