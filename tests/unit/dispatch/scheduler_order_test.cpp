// The order within a class: by tenant, the newest first while newcomers say so.
#include <doctest/doctest.h>

#include <vector>

#include "unit/dispatch/desk.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

constexpr Terms kNewestFirst{.newest_first = true};

}  // namespace

TEST_CASE("the newest waiter goes first while newcomers say so, and then the oldest again") {
  Desk desk;
  desk.arrive(kP1);  // runs
  std::vector<Waiter*> waiters;
  for (int i = 0; i < 4; ++i) waiters.push_back(&desk.arrive(kP1, kNewestFirst));
  CHECK(desk.release(kP1) == waiters[3]);
  CHECK(desk.release(kP1) == waiters[2]);
  Waiter& last = desk.arrive(kP1);
  CHECK(desk.release(kP1) == waiters[0]);
  CHECK(desk.release(kP1) == waiters[1]);
  CHECK(desk.release(kP1) == &last);
}

TEST_CASE("the order of one class does not change that of another") {
  Desk desk;
  desk.settings.discipline = config::Discipline::rr;
  desk.arrive(kP1);
  Waiter& p0 = desk.arrive(kP0);
  Waiter& p0_later = desk.arrive(kP0);
  desk.arrive(kP1, kNewestFirst);
  Waiter& p1_later = desk.arrive(kP1, kNewestFirst);
  const Waiter* first = desk.release(kP1);
  const Waiter* second = desk.release(first->traffic_class);
  CHECK((first == &p0) != (second == &p0));
  CHECK((first == &p1_later) != (second == &p1_later));
  CHECK(p0_later.state == Waiter::State::queued);
}

TEST_CASE("tenants take turns by weight, each served in its own order") {
  Desk desk;
  desk.arrive(kP1);
  std::vector<Waiter*> one, two;
  for (int i = 0; i < 8; ++i) one.push_back(&desk.arrive(kP1, {.tenant = TenantId{1}}));
  for (int i = 0; i < 8; ++i)
    two.push_back(&desk.arrive(kP1, {.tenant = TenantId{2}, .tenant_weight = 2}));
  std::vector<Waiter*> served;
  for (int i = 0; i < 12; ++i) served.push_back(desk.release(kP1));
  std::size_t of_one = 0, of_two = 0;
  for (Waiter* waiter : served) {
    const bool is_one = waiter->tenant == TenantId{1};
    CHECK(waiter == (is_one ? one[of_one] : two[of_two]));
    ++(is_one ? of_one : of_two);
  }
  CHECK(of_one == 4);
  CHECK(of_two == 8);
}

TEST_CASE("a request of a quiet tenant is not refused for another's queue") {
  Desk desk;
  desk.teach(10ms, kP1);
  desk.arrive(kP1);  // runs
  for (int i = 0; i < 50; ++i) desk.arrive(kP1, {.max_wait = 10s, .tenant = TenantId{1}});
  desk.arrive(kP1, {.max_wait = 100ms, .tenant = TenantId{1}});
  CHECK(desk.last.reason == Reason::queue_wait_risk);
  desk.arrive(kP1, {.max_wait = 100ms, .tenant = TenantId{2}});
  CHECK(desk.last.kind == Offer::Kind::queued);
  CHECK(*desk.last.predicted_wait < 50ms);
}
