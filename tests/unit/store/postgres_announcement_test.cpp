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

TEST_CASE("a cancel that is told is read as it was, and is no lane") {
  for (const auto cause : {jobs::Cause::cancelled_by_client, jobs::Cause::cancelled_by_operator}) {
    const AskedCancel cancel{{{1, 2, 3, 0xff}}, cause};
    const std::string text = announcement(cancel);
    CHECK(read_cancel(text) == cancel);
    CHECK_FALSE(read_announcement(text));
    CHECK_FALSE(read_cancel(text + "0"));
    CHECK_FALSE(read_cancel(text.substr(0, text.size() - 1)));
  }
  CHECK_FALSE(read_cancel("cancel answered 0102030000000000000000000000000a"));
  CHECK_FALSE(read_cancel(announcement(jobs::Lane{1, "cancel", TenantId{2}}).value()));
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
