#include "bench/overload/metrics_page.hpp"

#include <doctest/doctest.h>

#include "bench/overload/peer_process.hpp"

using namespace spillway::bench;

TEST_CASE("the series of a counter are added up") {
  const std::string_view page =
      "# HELP changes_total Changes.\n# TYPE changes_total counter\n"
      "changes_total{to=\"OVERLOADED\",reason=\"QUEUE_FULL\"} 2\nchanges_total{to=\"NORMAL\"} 1\n"
      "changes_total_other 40\nother{name=\"changes_total\"} 50\nchanges_total 4";
  CHECK(sum_of(page, "changes_total") == 7);
  CHECK_FALSE(sum_of(page, "changes"));
  CHECK_FALSE(sum_of("", "changes_total"));
}

TEST_CASE("a proxy that does not answer has no metrics") { CHECK_FALSE(metrics_page(free_port())); }
