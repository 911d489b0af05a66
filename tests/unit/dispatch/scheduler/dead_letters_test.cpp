#include "dispatch/scheduler/dead_letters.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

DeadLetter letter(std::string_view path) {
  return {.reason = Reason::queue_timeout,
          .traffic_class = ClassId{2},
          .route = RouteId{7},
          .at = TimePoint{} + 1h,
          .waited = 100ms,
          .method = "GET",
          .path = path,
          .request_id = "r-1",
          .tenant = "acme"};
}

}  // namespace

TEST_CASE("a dead letter says what expired and how") {
  DeadLetters letters(4);
  letters.record(letter("/reports/1"));
  REQUIRE(letters.size() == 1);
  const DeadLetter kept = letters[0];
  CHECK(kept.reason == Reason::queue_timeout);
  CHECK(kept.traffic_class == ClassId{2});
  CHECK(kept.route == RouteId{7});
  CHECK(kept.at == TimePoint{} + 1h);
  CHECK(kept.waited == 100ms);
  CHECK(kept.method == "GET");
  CHECK(kept.path == "/reports/1");
  CHECK(kept.request_id == "r-1");
  CHECK(kept.tenant == "acme");
}

TEST_CASE("texts are kept when the request is gone and cut where they are long") {
  DeadLetters letters(1);
  {
    const std::string text(1000, 'x');
    DeadLetter long_one = letter(text);
    long_one.method = long_one.request_id = long_one.tenant = text;
    letters.record(long_one);
  }
  CHECK(letters[0].method == std::string(16, 'x'));
  CHECK(letters[0].path == std::string(160, 'x'));
  CHECK(letters[0].request_id == std::string(64, 'x'));
  CHECK(letters[0].tenant == std::string(64, 'x'));
}

TEST_CASE("a full ring overwrites the oldest and counts all") {
  DeadLetters letters(3);
  for (int i = 0; i < 8; ++i) {
    letters.record(letter("/" + std::to_string(i)));
    CHECK(letters.size() == std::min<std::size_t>(letters.total(), 3));
  }
  CHECK(letters.total() == 8);
  CHECK(letters[0].path == "/5");
  CHECK(letters[1].path == "/6");
  CHECK(letters[2].path == "/7");
}

TEST_CASE("a ring without room counts and keeps none") {
  DeadLetters letters(0);
  letters.record(letter("/"));
  CHECK(letters.size() == 0);
  CHECK(letters.total() == 1);
}
