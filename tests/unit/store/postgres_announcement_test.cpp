#include "store/postgres/postgres_announcement.hpp"

#include <doctest/doctest.h>

namespace spillway::store {
namespace {

TEST_CASE("a lane that is announced is read as it was") {
  for (const jobs::Lane& lane :
       {jobs::Lane{0, "a", TenantId{0}}, jobs::Lane{255, "ex port", TenantId{~std::uint64_t{0}}}}) {
    const auto text = announcement(lane);
    REQUIRE(text);
    CHECK(read_announcement(*text) == lane);
  }
}

TEST_CASE("a lane whose name PostgreSQL would not take is not announced") {
  CHECK(announcement({0, std::string(7000, 'a'), TenantId{0}}));
  CHECK_FALSE(announcement({0, std::string(7001, 'a'), TenantId{0}}));
}

TEST_CASE("what is no announcement is not heard") {
  for (const char* text : {"", " ", "1", "1 2", "1 2 ", "256 2 a", "-1 2 a", "x 2 a", "1 x a",
                           "1  a", "1 99999999999999999999 a"}) {
    CAPTURE(text);
    CHECK_FALSE(read_announcement(text));
  }
}

}  // namespace
}  // namespace spillway::store
