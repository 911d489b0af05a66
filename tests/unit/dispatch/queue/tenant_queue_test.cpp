#include "dispatch/queue/tenant_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "unit/dispatch/desk.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

// Jain, Chiu, Hawe: 1 is fair, 1/n means that one of n got all.
double jain(const std::vector<double>& got) {
  double sum = 0, squares = 0;
  for (const double one : got) {
    sum += one;
    squares += one * one;
  }
  return sum * sum / (static_cast<double>(got.size()) * squares);
}

// Tenants 1, 2, ... before one class's queue.
struct Line {
  TenantQueue queue;
  std::deque<Waiter> waiters;
  std::vector<Waiter*> idle;
  TimePoint now = TimePoint{} + 1h;
  std::map<std::uint64_t, double> got;  // milliseconds by tenant

  Waiter& join(std::uint64_t tenant, double cost = 1, float weight = 1) {
    if (idle.empty()) idle.push_back(&waiters.emplace_back());
    Waiter& waiter = *idle.back();
    idle.pop_back();
    waiter.tenant = TenantId{tenant};
    waiter.tenant_weight = weight;
    waiter.cost = cost;
    waiter.arrived = now += 1us;
    queue.push(waiter);
    return waiter;
  }
  Waiter& serve() {
    Waiter& waiter = *queue.next();
    queue.remove(waiter);
    queue.served(waiter);
    got[static_cast<std::uint64_t>(waiter.tenant)] += waiter.cost;
    idle.push_back(&waiter);
    return waiter;
  }
  std::vector<double> shares(std::uint64_t tenants) const {
    std::vector<double> out;
    for (std::uint64_t i = 1; i <= tenants; ++i) out.push_back(got.contains(i) ? got.at(i) : 0);
    return out;
  }
};

}  // namespace

TEST_CASE("a single tenant is served first in first out, or the newest first") {
  for (const bool newest_first : {false, true}) {
    Line line;
    line.queue.set_newest_first(newest_first);
    std::vector<Waiter*> order;
    for (int i = 0; i < 5; ++i) order.push_back(&line.join(1, 1 + i));
    if (newest_first) std::reverse(order.begin(), order.end());
    for (Waiter* expected : order) CHECK(&line.serve() == expected);
    CHECK(line.queue.empty());
    CHECK(line.queue.next() == nullptr);
  }
}

TEST_CASE(
    "with the newest first a class is judged by its oldest waiter, unless that one never leaves") {
  Line line;
  Waiter& oldest = line.join(1);
  line.join(1);
  Waiter& newest = line.join(1);
  CHECK(line.queue.foremost() == &oldest);
  line.queue.set_newest_first(true);
  CHECK(line.queue.foremost() == &newest);  // as it would for good, which would hold all others up
  oldest.expires_at = line.now + 1s;
  CHECK(line.queue.foremost() == &oldest);
}

TEST_CASE("tenants with one waiter each are served in order of arrival, or the newest first") {
  for (const bool newest_first : {false, true}) {
    Line line;
    line.queue.set_newest_first(newest_first);
    Random random(9);
    std::vector<Waiter*> order;
    for (int i = 0; i < 12; ++i) order.push_back(&line.join(random.next(), 1 + i % 7));
    if (newest_first) std::reverse(order.begin(), order.end());
    CHECK(line.queue.last_of_fattest() != order.front());
    for (Waiter* expected : order) CHECK(&line.serve() == expected);
  }
}

TEST_CASE("the newest first: tenants that always wait still share equally") {
  Line line;
  line.queue.set_newest_first(true);
  for (std::uint64_t tenant = 1; tenant <= 5; ++tenant)
    for (int i = 0; i < 20; ++i) line.join(tenant);
  for (int i = 0; i < 10'000; ++i) line.join(static_cast<std::uint64_t>(line.serve().tenant));
  CHECK(jain(line.shares(5)) > 0.999);
}

TEST_CASE("a tenant with ten times the waiters gets as many turns as each other") {
  Line line;
  for (int i = 0; i < 500; ++i) line.join(1);
  for (std::uint64_t tenant = 2; tenant <= 10; ++tenant)
    for (int i = 0; i < 50; ++i) line.join(tenant);
  for (int i = 0; i < 400; ++i) line.serve();
  CHECK(jain(line.shares(10)) > 0.999);
}

TEST_CASE("shares are equal in cost, not in count") {
  Line line;
  const auto cost = [](std::uint64_t tenant) { return tenant == 1 ? 100.0 : 5.0 * tenant; };
  for (std::uint64_t tenant = 1; tenant <= 8; ++tenant)
    for (int i = 0; i < 20; ++i) line.join(tenant, cost(tenant));
  for (int i = 0; i < 20'000; ++i) {
    const auto tenant = static_cast<std::uint64_t>(line.serve().tenant);
    line.join(tenant, cost(tenant));
  }
  CHECK(jain(line.shares(8)) > 0.999);
}

TEST_CASE("a single dear request at a time is no advantage") {
  Line line;
  for (int i = 0; i < 50; ++i) line.join(1);
  for (int i = 0; i < 50; ++i) line.join(2);
  line.join(3, 50);
  for (int i = 0; i < 20'000; ++i) {
    const auto tenant = static_cast<std::uint64_t>(line.serve().tenant);
    line.join(tenant, tenant == 3 ? 50 : 1);  // tenant 3's queue is empty in between
  }
  CHECK(jain(line.shares(3)) > 0.99);
}

TEST_CASE("shares are in proportion to weights") {
  Line line;
  const auto weight = [](std::uint64_t tenant) {
    return tenant == 1 ? 4.0f : tenant == 2 ? 0.5f : 1;
  };
  for (std::uint64_t tenant = 1; tenant <= 4; ++tenant)
    for (int i = 0; i < 20; ++i) line.join(tenant, 1, weight(tenant));
  for (int i = 0; i < 13'000; ++i) {
    const auto tenant = static_cast<std::uint64_t>(line.serve().tenant);
    line.join(tenant, 1, weight(tenant));
  }
  CHECK(line.got[1] == doctest::Approx(8000).epsilon(0.01));
  CHECK(line.got[2] == doctest::Approx(1000).epsilon(0.01));
  CHECK(line.got[3] == doctest::Approx(2000).epsilon(0.01));
}

TEST_CASE("each tenant is served in order whatever the others do") {
  Line line;
  Random random(7);
  std::map<TenantId, TimePoint> last;
  for (int i = 0; i < 20'000; ++i) {
    if (line.queue.waiting() < 100) line.join(1 + random.next() % 20, 1 + 10 * random.uniform());
    if (random.uniform() < 0.6 && !line.queue.empty()) {
      const Waiter& served = line.serve();
      CHECK(served.arrived > last[served.tenant]);
      last[served.tenant] = served.arrived;
    }
  }
}

TEST_CASE("more tenants than flows share them, and none is forgotten") {
  Line line;
  Random random(3);
  std::uint32_t waiting = 0;
  std::vector<Waiter*> present;
  for (int i = 0; i < 200'000; ++i) {
    const double draw = random.uniform();
    if (draw < 0.5 && waiting < 1000) {
      present.push_back(&line.join(random.next(), random.uniform() < 0.01 ? 1000 : 1));
      ++waiting;
    } else if (draw < 0.75 && waiting > 0) {
      const Waiter& served = line.serve();
      std::erase(present, &served);
      --waiting;
    } else if (waiting > 0) {  // cancelled
      Waiter* const one = present[random.next() % present.size()];
      line.queue.remove(*one);
      line.idle.push_back(one);
      std::erase(present, one);
      --waiting;
    }
    REQUIRE(line.queue.waiting() == waiting);
    REQUIRE((line.queue.next() == nullptr) == (waiting == 0));
  }
  while (!line.queue.empty()) {
    std::erase(present, &line.serve());
  }
  CHECK(present.empty());
}

TEST_CASE("the fattest tenant's youngest waiter is evicted first") {
  Line line;
  line.join(1, 10);
  for (int i = 0; i < 5; ++i) line.join(2, 1);
  Waiter& dear = line.join(1, 10);
  Waiter& last = line.join(3, 1);
  CHECK(line.queue.last_of_fattest() == &dear);  // 20 ms of tenant 1, 5 ms of tenant 2
  CHECK(line.queue.youngest() == &last);
  line.queue.set_newest_first(true);
  CHECK(line.queue.last_of_fattest() == line.queue.oldest());
}

TEST_CASE("equals give up the waiter of all that would be served last") {
  Line line;
  for (const std::uint64_t tenant : {3, 1, 2}) line.join(tenant);
  CHECK(line.queue.last_of_fattest() == line.queue.youngest());
  line.queue.set_newest_first(true);
  CHECK(line.queue.last_of_fattest() == line.queue.oldest());
}

TEST_CASE("a newcomer's turns count its tenant's waiters and one of each other") {
  Line line;
  for (int i = 0; i < 100; ++i) line.join(1);
  for (std::uint64_t tenant = 2; tenant <= 5; ++tenant) line.join(tenant);
  Waiter newcomer;
  newcomer.tenant = TenantId{9};
  CHECK(line.queue.turns_before(newcomer) == doctest::Approx(5));
  newcomer.tenant = TenantId{2};
  CHECK(line.queue.turns_before(newcomer) == doctest::Approx(1 + 2 * 4));
  newcomer.tenant_weight = 4;
  CHECK(line.queue.turns_before(newcomer) == doctest::Approx(1 + 1.25 * 4));
  newcomer.tenant_weight = 1;
  Line single;
  for (int i = 0; i < 30; ++i) single.join(1);
  newcomer.tenant = TenantId{1};
  CHECK(single.queue.turns_before(newcomer) == 30);
}

TEST_CASE(
    "a full queue is shared by tenants: the fattest gives way, but not to one that is as fat") {
  Desk desk;
  desk.classes[1].max_queue = 4;
  desk.settings.evict.clear();
  desk.arrive(kP1);  // runs
  std::vector<Waiter*> heavy;
  for (int i = 0; i < 4; ++i) heavy.push_back(&desk.arrive(kP1, {.tenant = TenantId{1}}));
  desk.arrive(kP1, {.tenant = TenantId{1}});
  CHECK(desk.last.reason == Reason::queue_full);
  for (int i = 0; i < 2; ++i) {
    desk.arrive(kP1, {.tenant = TenantId{2}});
    CHECK(desk.last.kind == Offer::Kind::queued);
    CHECK(desk.last.evicted == heavy[3 - i]);
    CHECK(heavy[3 - i]->state == Waiter::State::evicted);
  }
  desk.arrive(kP1, {.tenant = TenantId{2}});
  CHECK(desk.last.reason == Reason::queue_full);
  CHECK(desk->totals(kP1).evicted == 2);
  CHECK(desk->queued(kP1) == 4);
}

namespace {

// Jain's index of what ten tenants get of one slot, the first offering ten times what each other
// does, together twice what can be served. `told_apart` false: the scheduler sees one tenant.
double fairness_of_class(bool told_apart) {
  Desk desk;
  desk.classes[1].max_queue = 64;
  Random random(5);
  std::vector<double> got(10);
  std::map<const Waiter*, std::size_t> owner;
  Waiter* running = nullptr;
  const auto pass_on = [&](Waiter* next) {
    running = next;
    if (next != nullptr) got[owner[next]] += 1;
  };
  for (int i = 0; i < 40'000; ++i) {
    const auto draw = static_cast<std::size_t>(random.uniform() * 19);
    const std::size_t tenant = draw < 10 ? 0 : draw - 9;
    Waiter& waiter =
        desk.arrive(kP1, {.max_wait = 500ms, .tenant = TenantId{told_apart ? 1 + tenant : 0}});
    owner[&waiter] = tenant;
    if (desk.last.kind == Offer::Kind::granted) pass_on(&waiter);
    desk.pass(5ms);
    while (desk->expire(desk.now) != nullptr) {
    }
    if (i % 2 == 1 && running != nullptr) pass_on(desk.release(kP1));
  }
  return jain(got);
}

}  // namespace

TEST_CASE(
    "Jain's index inside a class is at least 0.98 where one tenant offers ten times as much") {
  CHECK(fairness_of_class(true) >= 0.98);
  CHECK(fairness_of_class(false) < 0.8);  // negative control: first in, first out
}
