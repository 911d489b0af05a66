#include "jobs/tenant_quota.hpp"

#include <doctest/doctest.h>

#include <array>

namespace spillway::jobs {
namespace {

template <std::size_t kTenants>
std::array<std::uint64_t, kTenants> filled(std::uint64_t most) {
  std::array<std::uint64_t, kTenants> its{};
  std::uint64_t waiting = 0;
  for (bool has_any = true; has_any;) {
    has_any = false;
    for (std::uint64_t& one : its) {
      if (!tenant_has_room(one, waiting, most)) continue;
      ++one;
      ++waiting;
      has_any = true;
    }
  }
  return its;
}

TEST_CASE("tenants have the same, and leave room for one more") {
  CHECK(filled<1>(1000)[0] == 750);
  for (const std::uint64_t its : filled<2>(700)) CHECK(its == 300);
  for (const std::uint64_t its : filled<3>(1000)) CHECK(its == 300);
  CHECK(tenant_has_room(0, 999, 1000));
  CHECK_FALSE(tenant_has_room(0, 1000, 1000));
}

TEST_CASE("of little room each has one at least") {
  CHECK(filled<1>(1)[0] == 1);
  CHECK(filled<1>(2)[0] == 2);
  CHECK(filled<1>(4)[0] == 3);
}

TEST_CASE("before room is scarce each tenant has some, even one alone") {
  constexpr std::uint64_t kMost = 40;
  for (std::uint64_t waiting = 0; waiting <= kMost + 1; ++waiting)
    CHECK(is_room_scarce(waiting, kMost) == !tenant_has_room(waiting, waiting, kMost));
  CHECK_FALSE(is_room_scarce(29, kMost));
  CHECK(is_room_scarce(30, kMost));
  CHECK(is_room_scarce(0, 0));
}

}  // namespace
}  // namespace spillway::jobs
