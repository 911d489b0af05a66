// A class that waits for its own max_inflight, which no slot of another one ends.
#include <doctest/doctest.h>

#include "unit/dispatch/desk.hpp"

namespace spillway::dispatch {

using namespace std::chrono_literals;
using Kind = Offer::Kind;

TEST_CASE("a class gives way to a higher one that waits for a slot, not for its own max_inflight") {
  for (const bool is_capped : {false, true}) {
    CAPTURE(is_capped);
    Desk desk(3);
    if (is_capped) desk.classes[1].max_inflight = 1;
    desk.teach(10ms, kP2);
    desk.arrive(kP1);
    desk.arrive(is_capped ? kP2 : kP1);
    desk.arrive(is_capped ? kP2 : kP1);
    desk.arrive(kP1);
    CHECK(desk->queued(kP1) == 1);
    CHECK((desk->wait_for_room(kP1, desk.now) == Duration{0}) == is_capped);
    desk.arrive(kP2, {.gives_way = true});
    CHECK(desk.last.kind == (is_capped ? Kind::queued : Kind::refused));
  }
}

TEST_CASE("a max_inflight that only the slots of others' reserves make is none") {
  Desk desk(4);
  desk.classes[0].reserved = 2;
  desk.classes[1].max_inflight = 2;  // all that P1 could have
  desk.teach(10ms, kP2);
  desk.arrive(kP1);
  desk.arrive(kP1);
  desk.arrive(kP1);
  CHECK(desk->queued(kP1) == 1);
  desk.arrive(kP2, {.gives_way = true});
  CHECK(desk.last.kind == Kind::refused);
}

}  // namespace spillway::dispatch
