// The caps of routes over all proxies on a store: one proxy's part, as sentences.
#include "jobs/cap_shares.hpp"

#include <doctest/doctest.h>

namespace spillway::jobs {
namespace {

const CapId kCap{"export", CapKind::concurrency};

CapShares::Caps cap(std::int64_t most, std::int64_t in_use = 0) {
  return {{kCap, {.most = most, .in_use = in_use}}};
}
CapParts holds(std::int64_t held, bool shares = true) { return {{kCap, {held, shares}}}; }

// One of number 10, with the others as it looks at them.
struct One {
  One() { shares.join(10); }
  CapPart tell(std::int64_t most, std::int64_t in_use = 0, bool takes_part = true) {
    return shares.plan(cap(most, in_use), takes_part).at(kCap);
  }
  std::int64_t look(const CapShares::Others& others) {
    shares.learn(others);
    return shares.share(kCap);
  }
  // Told and looked until nothing changes, with the others as they are.
  std::int64_t settle(std::int64_t most, const CapShares::Others& others, std::int64_t in_use = 0) {
    int rounds = 0;
    do {
      tell(most, in_use);
      look(others);
      REQUIRE(++rounds < 5);
    } while (!shares.is_settled());
    return shares.share(kCap);
  }
  CapShares shares;
};

}  // namespace

TEST_CASE("a cap is divided evenly, and what is left over goes to the first") {
  struct Case {
    std::int64_t cap, among, first, second, third;
  };
  for (const Case& each : {Case{4, 1, 4, 0, 0}, Case{4, 2, 2, 2, 0}, Case{4, 3, 2, 1, 1},
                           Case{2, 3, 1, 1, 0}, Case{1, 3, 1, 0, 0}, Case{5, 3, 2, 2, 1}}) {
    CAPTURE(each.cap);
    CAPTURE(each.among);
    CHECK(equal_share(each.cap, each.among, 0) == each.first);
    if (each.among > 1) CHECK(equal_share(each.cap, each.among, 1) == each.second);
    if (each.among > 2) CHECK(equal_share(each.cap, each.among, 2) == each.third);
  }
  CHECK(equal_share(4, 0, 0) == 0);
}

TEST_CASE("one that is alone has the whole cap once it has told so and looked again") {
  One one;
  CHECK(one.shares.share(kCap) == 0);
  CHECK(one.tell(4) == CapPart{4, true});
  CHECK_MESSAGE(one.look({}) == 0, "another may have told the same at the same time");
  CHECK_FALSE(one.shares.is_settled());
  CHECK(one.tell(4) == CapPart{4, true});
  CHECK(one.look({}) == 4);
  CHECK(one.shares.is_settled());
}

TEST_CASE("what another holds is not taken, and its part is as it shares or not") {
  CHECK(One().settle(4, {{9, holds(0)}}) == 2);
  CHECK(One().settle(4, {{9, holds(3)}}) == 1);
  CHECK(One().settle(4, {{9, holds(4)}}) == 0);
  CHECK_MESSAGE(One().settle(4, {{9, holds(1, false)}}) == 3, "one that drains");
  CHECK_MESSAGE(One().settle(4, {{9, {{{"other", CapKind::concurrency}, {4, true}}}}}) == 4,
                "another route");
  CHECK_MESSAGE(One().settle(4, {{9, {{{"export", CapKind::rate}, {4, true}}}}}) == 4,
                "another cap of the route");
  CHECK(One().settle(5, {{9, holds(0)}}) == 2);
  CHECK_MESSAGE(One().settle(5, {{11, holds(0)}}) == 3, "the lowest number comes first");
  CHECK(One().settle(1, {{9, holds(0)}}) == 0);
}

TEST_CASE("when another joins, what is not in use is given up at once, the rest as jobs end") {
  One one;
  REQUIRE(one.settle(4, {}) == 4);
  CHECK(one.tell(4, 3) == CapPart{4, true});
  CHECK(one.look({{11, holds(0)}}) == 4);
  CHECK_FALSE(one.shares.is_settled());
  CHECK(one.tell(4, 3) == CapPart{3, true});
  CHECK_MESSAGE(one.shares.share(kCap) == 2, "nothing more is begun");
  CHECK(one.look({{11, holds(0)}}) == 2);
  CHECK(one.shares.is_settled());
  CHECK(one.tell(4, 1) == CapPart{2, true});
}

TEST_CASE("of two that take the same at the same time not both get it") {
  One early, late;
  late.shares.join(20);
  // One that ended has left four; a third one that only one of them sees has joined.
  early.tell(4);
  early.look({});
  late.tell(4);
  late.look({{10, holds(4)}});
  early.tell(4);
  CHECK(early.look({{20, holds(4)}}) == 0);
  late.tell(4);
  CHECK(late.look({{10, holds(4)}}) == 0);
  // Each then goes back to its part.
  CHECK(early.tell(4) == CapPart{0, true});
  CHECK(late.tell(4) == CapPart{0, true});
  early.look({{20, holds(0)}});
  late.look({{10, holds(0)}});
  CHECK(early.settle(4, {{20, holds(0)}}) == 2);
  CHECK(late.settle(4, {{10, holds(2)}}) == 2);
}

TEST_CASE("one that drains holds no more than it uses, and does not count") {
  One one;
  REQUIRE(one.settle(4, {}) == 4);
  CHECK(one.tell(4, 3, false) == CapPart{3, false});
  CHECK(one.look({}) == 0);
  CHECK(one.tell(4, 0, false) == CapPart{0, false});
}

TEST_CASE("a cap that is lowered lets what runs end, and one that is raised is used") {
  One one;
  REQUIRE(one.settle(8, {}) == 8);
  CHECK(one.tell(4, 7) == CapPart{7, true});
  CHECK(one.look({}) == 4);
  CHECK(one.tell(4, 4) == CapPart{4, true});
  CHECK(one.settle(6, {}) == 6);
  CHECK_MESSAGE(one.shares.plan({}, true).empty(), "it is capped no more");
  CHECK(one.shares.share(kCap) == 0);
}

// Else what it uses could be more than the others see.
TEST_CASE("what the others may have been told of is not taken back without telling them") {
  One one;
  REQUIRE(one.settle(4, {}) == 4);
  one.look({{11, holds(0)}});
  CHECK(one.tell(4) == CapPart{2, true});  // whether that has reached the store is not known
  CHECK(one.tell(4) == CapPart{2, true});
  one.look({});  // the other has ended
  CHECK(one.tell(4) == CapPart{4, true});
  CHECK(one.look({}) == 2);
  CHECK(one.tell(4) == CapPart{4, true});
  CHECK(one.look({}) == 4);
}

}  // namespace spillway::jobs
