#include "resilience/server_set.hpp"

#include <doctest/doctest.h>

namespace spillway::resilience {

TEST_CASE("a set holds the servers from 0 to 63") {
  CHECK(ServerSet::first(0).empty());
  CHECK(ServerSet::first(64).size() == 64);
  CHECK(ServerSet::first(64).contains(63));
  ServerSet set = ServerSet::first(3);
  CHECK(set.size() == 3);
  CHECK_FALSE(set.contains(3));
  set.insert(63);
  set.erase(0);
  CHECK(set.front() == 1);
  CHECK(set.nth(0) == 1);
  CHECK(set.nth(1) == 2);
  CHECK(set.nth(2) == 63);
  set.erase(2);
  set.erase(2);
  CHECK(set.size() == 2);
}

TEST_CASE("sets are joined and taken from one another") {
  const ServerSet low = ServerSet::first(2), lower = ServerSet::first(1);
  CHECK((low - lower).front() == 1);
  CHECK((low & lower) == lower);
  CHECK((low | lower) == low);
  CHECK((lower - low).empty());
}

}  // namespace spillway::resilience
