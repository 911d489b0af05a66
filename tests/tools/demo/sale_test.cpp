#include "sale.hpp"

#include <doctest/doctest.h>

#include "visits.hpp"

using namespace spillway;
using namespace spillway::demo;

namespace {

const TimePoint kStart = TimePoint() + std::chrono::hours(1);

}  // namespace

TEST_CASE("the sale has a page, a count and orders") {
  Sale sale("<p>hello");
  const auto ask = [&](const char* method, const char* target) {
    return sale.answer({method, target, "id=1"}, kStart);
  };
  CHECK(ask("GET", "/sale?from=mail").body == "<p>hello");
  CHECK(ask("GET", "/sale").content_type == "text/html; charset=utf-8");
  CHECK(ask("POST", "/sale/buy").body == R"({"order":1})");
  CHECK(ask("GET", "/sale/sold").body == R"({"sold":1})");
  CHECK(ask("GET", "/sale/buy").status == 404);
  CHECK(ask("GET", "/other").status == 404);
}

TEST_CASE("the sale reports what it saw") {
  Sale sale("");
  for (const char* pass : {"id=1", "id=2", "id=1", ""}) sale.answer({"GET", "/sale", pass}, kStart);
  sale.answer({"GET", "/other", ""}, kStart);
  const auto report = parse_report(sale.answer({"GET", "/report", ""}, kStart).body);
  REQUIRE(report);
  CHECK(report->answered == 4);
  CHECK(report->visitors == 2);
  CHECK(report->without_pass == 1);
  CHECK(!parse_report("{}"));
  CHECK(!parse_report("no"));
}

TEST_CASE("visitors are at the site at a time if one comes before another's last request") {
  Visits visits;
  const auto request = [&](const char* pass, int second) {
    visits.request(pass, kStart + std::chrono::seconds(second));
  };
  request("a", 0);
  request("b", 1);
  request("a", 2);
  request("c", 3);
  request("b", 4);
  request("c", 5);
  CHECK(visits.visitors() == 3);
  CHECK(visits.most_at_once(kStart + std::chrono::seconds(5)) == 2);
  SUBCASE("what was seen once is remembered when the visitors are forgotten") {
    const TimePoint later = kStart + std::chrono::hours(1);
    CHECK(visits.most_at_once(later) == 2);
    visits.request("d", later);
    CHECK(visits.most_at_once(later) == 2);
    CHECK(visits.visitors() == 4);
  }
}
