#include "bench/load/awaited.hpp"

#include <doctest/doctest.h>

using namespace spillway::load;

TEST_CASE("an attempt is waited for from its beginning to its end") {
  Awaited awaited(2);
  CHECK_FALSE(awaited.wanted({0, 1}));
  awaited.begin({0, 1});
  CHECK(awaited.waits({0, 1}));
  CHECK(awaited.wanted({0, 1}));
  CHECK_FALSE(awaited.wanted({1, 1}));
  awaited.end({0, 1}, false);
  CHECK_FALSE(awaited.waits({0, 1}));
  CHECK_FALSE(awaited.wanted({0, 1}));
}

TEST_CASE("while a client tries again its former attempt is not awaited") {
  Awaited awaited(1);
  awaited.begin({0, 1});
  awaited.end({0, 1}, false);
  awaited.begin({0, 2});
  CHECK(awaited.wanted({0, 2}));
  CHECK_FALSE(awaited.wanted({0, 1}));
}

TEST_CASE("what is done for a request after its answer is no waste") {
  Awaited awaited(1);
  awaited.begin({0, 1});
  awaited.end({0, 1}, true);
  CHECK_FALSE(awaited.waits({0, 1}));
  CHECK(awaited.wanted({0, 1}));
}

TEST_CASE("a number that is not of the schedule is not awaited") {
  CHECK_FALSE(Awaited(1).wanted({1, 1}));
}
