#include "overload/control/returning_state.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

TEST_CASE("a state has come back if it begins within a minute of its end, until it ends") {
  constexpr TimePoint kStart{1h};
  ReturningState state;
  state.step(false, kStart);
  CHECK_FALSE(state.came_back());  // the first one
  state.step(true, kStart + 10s);
  CHECK_FALSE(state.came_back());
  state.step(false, kStart + 70s);
  CHECK(state.came_back() == kStart + 70s);
  state.step(false, kStart + 10min);
  CHECK(state.came_back() == kStart + 70s);
  state.step(true, kStart + 11min);
  CHECK_FALSE(state.came_back());
  state.step(false, kStart + 12min + 1ms);  // too late
  CHECK_FALSE(state.came_back());
}

TEST_CASE("after forget_last() the next state does not count as returned, the one after it does") {
  constexpr TimePoint kStart{1h};
  ReturningState state;
  state.step(false, kStart);
  state.step(true, kStart + 1s);
  state.forget_last();
  state.step(false, kStart + 2s);
  CHECK_FALSE(state.came_back());
  state.step(true, kStart + 3s);
  state.step(false, kStart + 4s);
  CHECK(state.came_back() == kStart + 4s);
}

TEST_CASE("a state is taken for the first one once it was told to forget") {
  constexpr TimePoint kStart{1h};
  ReturningState state;
  state.step(false, kStart);
  state.step(true, kStart + 1s);
  state.step(false, kStart + 2s);
  state.forget();
  state.step(false, kStart + 3s);
  CHECK_FALSE(state.came_back());
}
