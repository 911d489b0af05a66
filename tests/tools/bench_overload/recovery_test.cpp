#include "bench/overload/recovery.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace spillway;
using namespace spillway::bench;

namespace {

// So many tenths with that share of a hundred attempts.
void stretch(std::vector<Tenth>& tenths, int count, double share) {
  for (int i = 0; i < count; ++i) {
    tenths.push_back({100, static_cast<std::uint64_t>(share * 100)});
  }
}

// Two seconds before, one disturbed.
std::vector<Tenth> disturbed(double before) {
  std::vector<Tenth> tenths;
  stretch(tenths, 20, before);
  stretch(tenths, 10, 0.1);
  return tenths;
}

constexpr std::chrono::seconds kFrom{2}, kUntil{3}, kEnd{8};

}  // namespace

TEST_CASE("a contender that is as before at once has recovered after no time") {
  auto tenths = disturbed(1);
  stretch(tenths, 50, 1);
  const auto found = recovery(tenths, kFrom, kUntil, kEnd);
  REQUIRE(found.has_value());
  CHECK(found->seconds == 0);
  CHECK(found->within_cell);
}

TEST_CASE("recovery takes until the first whole second as good as before") {
  auto tenths = disturbed(1);
  stretch(tenths, 17, 0.2);
  stretch(tenths, 33, 1);
  const auto found = recovery(tenths, kFrom, kUntil, kEnd);
  REQUIRE(found.has_value());
  // The second from 1.6 on has a tenth of 0.2 and nine of 1: above 0.9.
  CHECK(found->seconds == doctest::Approx(1.6));
  CHECK(found->within_cell);
}

TEST_CASE("half a good second is no recovery") {
  auto tenths = disturbed(1);
  stretch(tenths, 10, 0.2);
  stretch(tenths, 5, 1);
  stretch(tenths, 35, 0.2);
  const auto found = recovery(tenths, kFrom, kUntil, kEnd);
  REQUIRE(found.has_value());
  CHECK(found->seconds == doctest::Approx(5));
  CHECK_FALSE(found->within_cell);
}

TEST_CASE("good is measured against what was there before") {
  auto tenths = disturbed(0.5);
  stretch(tenths, 50, 0.46);
  CHECK(recovery(tenths, kFrom, kUntil, kEnd)->within_cell);
  auto worse = disturbed(0.5);
  stretch(worse, 50, 0.44);
  CHECK_FALSE(recovery(worse, kFrom, kUntil, kEnd)->within_cell);
}

TEST_CASE("where nothing succeeded before there is nothing to return to") {
  auto tenths = disturbed(0);
  stretch(tenths, 50, 1);
  CHECK_FALSE(recovery(tenths, kFrom, kUntil, kEnd).has_value());
  CHECK_FALSE(recovery({}, kFrom, kUntil, kEnd).has_value());
}

TEST_CASE("what was sent after the end is not looked at") {
  auto tenths = disturbed(1);
  stretch(tenths, 50, 0.2);
  stretch(tenths, 20, 1);
  CHECK_FALSE(recovery(tenths, kFrom, kUntil, kEnd)->within_cell);
}
