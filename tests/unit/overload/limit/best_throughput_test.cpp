#include "overload/limit/best_throughput.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

struct Course {
  BestThroughput best;
  double carried = 0;

  // Whole requests succeed, a tick is 100 ms.
  void run(Duration time, double at_work, double succeeded, double admitted) {
    for (Duration passed{0}; passed < time; passed += 100ms) {
      carried += succeeded * 0.1;
      const auto whole = static_cast<std::uint32_t>(carried);
      carried -= whole;
      best.step({.span = 100ms,
                 .slot_seconds = at_work * 0.1,
                 .succeeded = double(whole),
                 .admitted = admitted * 0.1});
    }
  }
};

}  // namespace

TEST_CASE("the best throughput and the requests at work with it") {
  Course course;
  CHECK(course.best.at_work() == 0);
  CHECK_FALSE(course.best.has_collapsed());
  course.run(10s, 4, 20, 20);
  CHECK(course.best.at_work() == doctest::Approx(4).epsilon(0.1));
  course.run(10s, 10, 50, 50);
  CHECK(course.best.at_work() == doctest::Approx(10).epsilon(0.1));
  course.run(10s, 3, 15, 15);  // a quiet time
  CHECK(course.best.at_work() == doctest::Approx(10).epsilon(0.1));
  CHECK_FALSE(course.best.has_collapsed());
}

TEST_CASE("more work that brings less is a collapse") {
  Course course;
  course.run(10s, 4, 20, 20);
  course.run(2s, 16, 4, 20);
  CHECK(course.best.has_collapsed());
}

TEST_CASE("what only looks like a collapse") {
  SUBCASE("a queue at an upstream that does what it can") {
    Course course;
    course.run(10s, 4, 20, 20);
    course.run(10s, 60, 20, 25);
    CHECK_FALSE(course.best.has_collapsed());
  }
  SUBCASE("long requests in place of short ones") {
    Course course;
    course.run(10s, 4, 20, 20);
    course.run(10s, 30, 3, 5);
    CHECK_FALSE(course.best.has_collapsed());
  }
  SUBCASE("a pause, with no more requests at work than before") {
    Course course;
    course.run(10s, 4, 20, 20);
    course.run(2s, 6, 2, 20);
    CHECK_FALSE(course.best.has_collapsed());
  }
  SUBCASE("a beginning that is not known") {
    Course course;
    course.run(10s, 64, 1, 20);
    CHECK_FALSE(course.best.has_collapsed());
  }
}

TEST_CASE("the best is forgotten over minutes") {
  Course course;
  course.run(10s, 4, 20, 20);
  course.run(30min, 4, 4, 20);  // five times slower since, and for good
  course.run(10s, 14, 4, 20);
  CHECK_FALSE(course.best.has_collapsed());
}
