#include "bench/crowd/findings.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "made_up.hpp"

using namespace spillway;
using namespace spillway::crowd;

namespace {

struct Course {
  std::vector<Record> records{served(0, 10), served(1, 12), served(2, 12)};
  Findings findings{.active_sessions = 2,
                    .most_sessions = 2,
                    .of_site = demo::SaleReport{.answered = 9, .visitors = 3, .most_at_once = 2}};

  std::vector<std::string> complaints() {
    findings.records = records;
    return crowd::complaints(findings);
  }
  // One, that has `words` in it.
  bool complains_of(const std::string& words) {
    const auto list = complaints();
    return list.size() == 1 && list.front().find(words) != std::string::npos;
  }
};

}  // namespace

TEST_CASE("a course in order gives no reason to complain") {
  Course course;
  CHECK(course.complaints().empty());
  const std::string text = summary(course.findings);
  CHECK(text.find("at most 2: 2 by the proxy, 2 by the site") != std::string::npos);
  CHECK(text.find("by polls: 2.0 s (median), 2.0 s (95 %)") != std::string::npos);
}

TEST_CASE("each promise that is broken is complained of") {
  Course course;
  SUBCASE("somebody who stayed did not come in") {
    course.records.push_back({.fate = Fate::waiting, .arrived = at(3), .joined = at(4)});
    CHECK(course.complains_of("1 of 4 who stayed did not come in"));
    course.records.back().manner = Manner::impatient;
    CHECK(course.complaints().empty());
    course.records.back() = {.fate = Fate::refused, .arrived = at(3)};
    CHECK(course.complaints().empty());
  }
  SUBCASE("somebody was passed") {
    course.records[0].called = at(20);
    CHECK(course.complains_of("2 times somebody was called before one who had come earlier"));
  }
  SUBCASE("too many sessions") {
    course.findings.most_sessions = 3;
    CHECK(course.complains_of("the proxy had 3 sessions"));
  }
  SUBCASE("too many at the site") {
    course.findings.of_site->most_at_once = 3;
    CHECK(course.complains_of("the site saw 3 visitors at a time"));
  }
  SUBCASE("somebody at the site without a pass") {
    course.findings.of_site->without_pass = 1;
    CHECK(course.complains_of("1 requests of nobody who was let in"));
  }
  SUBCASE("a request was not served") {
    course.records[1].fate = Fate::failed;
    course.records[1].failure = "inside, and then GET /sale was answered 503";
    CHECK(course.complains_of("was answered 503"));
  }
  SUBCASE("nothing was seen") {
    course.findings.most_sessions.reset();
    CHECK(course.complains_of("the proxy did not say"));
    course.findings.most_sessions = 1;
    course.findings.of_site.reset();
    CHECK(course.complains_of("the site did not say"));
  }
  SUBCASE("nobody waited") {
    course.records.resize(1);
    CHECK(course.complains_of("nobody waited"));
  }
}

TEST_CASE("visitors are counted by where they are") {
  std::vector<Record> records(7);
  const Fate fates[] = {Fate::coming, Fate::waiting, Fate::waiting, Fate::inside,
                        Fate::left,   Fate::gone,    Fate::refused};
  for (std::size_t i = 0; i < records.size(); ++i) records[i].fate = fates[i];
  const Heads heads = heads_of(records);
  CHECK(heads.waiting == 2);
  CHECK(heads.inside == 1);
  CHECK(heads.gone == 1);
  CHECK(heads.refused == 1);
  CHECK(heads.failed == 0);
}
