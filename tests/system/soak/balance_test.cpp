#include "system/soak/balance.hpp"

#include <doctest/doctest.h>

#include <string>

namespace spillway::soak {
namespace {

const std::string kPage = R"(# HELP spillway_requests_total Requests by how they ended.
# TYPE spillway_requests_total counter
spillway_requests_total{route="a",class="P0",outcome="forwarded"} 90
spillway_requests_total{route="a",class="P0",outcome="denied"} 5
spillway_requests_total{route="b",class="P1",outcome="dropped"} 3
spillway_requests_total{route="b",class="P1",outcome="client_gone"} 2
spillway_requests_accepted_total 100
spillway_inflight{upstream="u"} 0
spillway_inflight_other 7
spillway_connections{side="client"} 4
spillway_connections{side="upstream"} 0
)";

}  // namespace

TEST_CASE("a family is summed over its labels and no other family") {
  CHECK(sum(kPage, "spillway_requests_total") == 100);
  CHECK(sum(kPage, "spillway_requests_total", R"(route="a")") == 95);
  CHECK(sum(kPage, "spillway_requests") == 0);
  CHECK(has(kPage, "spillway_inflight"));
  CHECK_FALSE(has(kPage, "spillway_tunnels"));
}

TEST_CASE("every accepted request is answered or dropped or left alone") {
  const Balance balance = balance_of(kPage);
  CHECK(balance.accepted == 100);
  CHECK(balance.answered == 95);
  CHECK(balance.dropped == 3);
  CHECK(balance.client_gone == 2);
  CHECK(balance.finished() == balance.accepted);
}

TEST_CASE("a request that was lost shows in the balance") {
  std::string page = kPage;
  page.replace(page.find(" 90"), 3, " 89");
  const Balance balance = balance_of(page);
  CHECK(balance.finished() != balance.accepted);
}

TEST_CASE("what still runs is named and nothing else") {
  CHECK(still_running(kPage) == R"(spillway_connections{side="client"} 4)");
  CHECK(still_running("spillway_inflight{upstream=\"u\"} 0\n") == "");
}

}  // namespace spillway::soak
