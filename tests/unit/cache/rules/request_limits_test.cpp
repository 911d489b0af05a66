#include "cache/rules/request_limits.hpp"

#include <doctest/doctest.h>

#include "unit/cache/rules/messages.hpp"

using namespace spillway;
using namespace spillway::cache;
using std::chrono::seconds;

namespace {

bool takes_stored(std::string_view control, const StoredAge& stored) {
  const http::FieldList fields = fields_of({{"Cache-Control", control}});
  return accepts(http::request_cache_control(fields), stored);
}

constexpr StoredAge kFresh{seconds(40), seconds(20), seconds(30)};
constexpr StoredAge kStale{seconds(70), seconds(-10), seconds(30)};
constexpr StoredAge kNeverStale{seconds(70), seconds(-10), seconds(0)};

}  // namespace

TEST_CASE("what the client says of stored answers is honoured") {
  // RFC 9111 section 5.2.1
  struct Case {
    std::string_view control;
    bool fresh;
    bool stale;
    bool never_stale;
  };
  const Case cases[] = {
      {"", true, false, false},
      {"no-cache", false, false, false},
      {"no-store", true, false, false},  // it may still be answered
      {"only-if-cached", true, false, false},
      {"max-age=0", false, false, false},
      {"max-age=39", false, false, false},
      {"max-age=40", true, false, false},
      {"max-age=70", true, false, false},
      {"max-age=x", false, false, false},
      {"min-fresh=20", true, false, false},
      {"min-fresh=21", false, false, false},
      {"min-fresh=0", true, false, false},
      {"min-fresh=x", false, false, false},
      {"max-stale", true, true, false},
      {"max-stale=10", true, true, false},
      {"max-stale=9", true, false, false},
      {"max-stale=0", true, false, false},
      {"max-stale=x", true, false, false},
      {"max-stale, max-age=60", true, false, false},
      {"max-stale, max-age=70", true, true, false},
      {"max-stale, min-fresh=1", true, false, false},
      {"max-stale, no-cache", false, false, false},
  };
  for (const Case& one : cases) {
    CAPTURE(one.control);
    CHECK(takes_stored(one.control, kFresh) == one.fresh);
    CHECK(takes_stored(one.control, kStale) == one.stale);
    CHECK(takes_stored(one.control, kNeverStale) == one.never_stale);
  }
}

TEST_CASE("max-stale does not reach beyond what the answer allows") {
  CHECK(takes_stored("max-stale", {seconds(90), seconds(-30), seconds(30)}));
  CHECK_FALSE(takes_stored("max-stale", {seconds(91), seconds(-31), seconds(30)}));
}

TEST_CASE("an answer is stale from the moment its lifetime is over") {
  CHECK(takes_stored("", {seconds(60), Duration(1), seconds(30)}));
  CHECK_FALSE(takes_stored("", {seconds(60), Duration(0), seconds(30)}));
  // max-age=0 does not take even what was stored just now
  CHECK_FALSE(takes_stored("max-age=0", {Duration(1), seconds(60), seconds(30)}));
}

TEST_CASE("Pragma asks for a validation as no-cache does") {
  const http::FieldList fields = fields_of({{"Pragma", "no-cache"}});
  CHECK_FALSE(accepts(http::request_cache_control(fields), kFresh));
}
