#include "bench/crowd/order.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "made_up.hpp"

using namespace spillway;
using namespace spillway::crowd;

TEST_CASE("visitors who are called as they came do not overtake") {
  const std::vector<Record> records{served(0, 10), served(1, 10.5), served(2, 30)};
  const Order order = order_of(records);
  CHECK(order.compared == 3);
  CHECK(order.overtakes == 0);
}

TEST_CASE("who is called before one that came earlier overtakes it") {
  std::vector<Record> records{served(0, 20), served(1, 10)};
  CHECK(order_of(records).overtakes == 1);
  SUBCASE("also one that is never called") {
    records[0].called.reset();
    records[0].fate = Fate::waiting;
    CHECK(order_of(records).overtakes == 1);
  }
  SUBCASE("but not one that had no place yet") {
    records[0].joined = at(15);
    CHECK(order_of(records).compared == 0);
  }
  SUBCASE("nor one that may have counted as away") {
    records[0].was_late = true;
    CHECK(order_of(records).compared == 0);
  }
  SUBCASE("nor one that does not come when it is called, gives up, or never comes back") {
    for (const Manner manner : {Manner::elsewhere, Manner::impatient, Manner::glancing}) {
      records[0].manner = manner;
      CHECK(order_of(records).compared == 0);
    }
  }
  SUBCASE("nor where the two may have come, or been called, in the other order") {
    records[0].arrived->to = at(2).to;
    CHECK(order_of(records).compared == 0);
    records[0] = served(0, 20);
    records[0].called->from = at(9).from;
    CHECK(order_of(records).compared == 0);
  }
}

TEST_CASE("the call was as long ago as is missing of the time to come in") {
  const Span asked = at(100);
  const Span called = called_at(asked, Milliseconds(30'000), Milliseconds(28'500));
  CHECK(called.from == asked.from - Milliseconds(1'500));
  CHECK(called.to == asked.to - Milliseconds(1'500));
}
