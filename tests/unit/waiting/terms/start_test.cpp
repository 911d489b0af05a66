// The announced start of a waiting room, and the draw of places.
#include "waiting/terms/start.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "unit/waiting/crowd.hpp"
#include "unit/waiting/tide.hpp"
#include "waiting/token/token.hpp"

namespace spillway::waiting {
namespace {

const Time kOpens = kStart + std::chrono::minutes(10);

HmacKey some_key(std::uint8_t first = 0) {
  HmacKey key;
  for (std::size_t n = 0; n < key.size(); ++n) key[n] = static_cast<std::uint8_t>(first + n);
  return key;
}

enum class By : std::uint8_t { arrival, lot };

Terms starting(By by, std::uint32_t active_sessions = 10, Time at = kOpens) {
  Terms terms = terms_for(active_sessions);
  terms.start.at = at;
  terms.abandon = std::chrono::hours(1);  // nobody polls until then
  if (by == By::lot) terms.start.draw = some_key();
  return terms;
}

// A waiting room with its clock.
struct Prelude {
  explicit Prelude(const Terms& terms) : room(terms) { room.tick(now, kHealthy); }

  void pass_until(Time until) {
    while (now < until) room.tick(now += kTick, kHealthy);
  }
  WaitingRoom::View join(std::uint64_t number) {
    const auto contact = room.join(id_of(number), now, now);
    REQUIRE(contact.view);
    return *contact.view;
  }
  WaitingRoom::View hear(std::uint64_t number) {
    const auto view = room.hear(id_of(number), now);
    REQUIRE(view);
    return *view;
  }

  WaitingRoom room;
  Time now = kStart;
};

// Of `count` visitors who come one after another until shortly before the start, the mean place of
// the first half of them, of 0 to 1.
double place_of_early_birds(By by, std::uint64_t count) {
  Terms terms = starting(by);
  terms.max_wait = std::chrono::hours(24);
  Prelude scene(terms);
  for (std::uint64_t n = 0; n < count; ++n) {
    scene.now += Milliseconds(100);
    scene.join(n);
  }
  double sum = 0;
  for (std::uint64_t n = 0; n < count / 2; ++n)
    sum += static_cast<double>(scene.room.inspect(id_of(n), scene.now)->view.ahead);
  return sum / static_cast<double>(count / 2) / static_cast<double>(count - 1);
}

}  // namespace

TEST_CASE("a lot is the beginning of an HMAC that everybody can compute") {
  CHECK(lot_of(some_key(), *parse_ticket_id("00000000000000000000000000000001")) == 0xdd82a576d9);
  CHECK(lot_of(some_key(), *parse_ticket_id("0123456789abcdef0123456789abcdef")) == 0x66fc66f257);
}

TEST_CASE("before the start everybody waits, nobody is called, and all learn of it soon after") {
  for (const By by : {By::arrival, By::lot}) {
    Prelude scene(starting(by));
    CHECK(scene.room.arrive(scene.now) == WaitingRoom::Door::wait);
    const WaitingRoom::View view = scene.join(1);
    CHECK(view.begins == kOpens);
    CHECK(view.why == (by == By::lot ? Why::lot : Why::early));
    CHECK_FALSE(view.estimate);
    CHECK(view.poll == scene.room.terms().longest_poll);
    scene.pass_until(kOpens - std::chrono::seconds(12));
    scene.now = kOpens - Milliseconds(11'500);
    const Milliseconds spread = spread_of(id_of(1), scene.room.terms().longest_poll);
    CHECK(scene.hear(1).poll ==
          std::min(std::chrono::seconds(12) + spread, scene.room.terms().longest_poll));
    scene.pass_until(kOpens - kTick);
    CHECK(scene.hear(1).state == TicketState::waiting);
    CHECK(scene.hear(1).poll <= scene.room.terms().longest_poll);
    scene.pass_until(kOpens + kTick);
    CHECK(scene.hear(1).state == TicketState::processing);
    CHECK(scene.room.claim(id_of(1), scene.now));
    CHECK(scene.room.arrive(scene.now) == WaitingRoom::Door::enter);
  }
}

TEST_CASE("who has come before the start stands by lot, whoever comes later behind, by arrival") {
  Prelude scene(starting(By::lot, 1));
  std::vector<std::uint64_t> order;
  for (std::uint64_t n = 0; n < 50; ++n) {
    scene.join(n);
    order.push_back(n);
    scene.now += Milliseconds(10);
  }
  std::ranges::sort(order, {}, [](std::uint64_t n) { return lot_of(some_key(), id_of(n)); });
  REQUIRE_FALSE(std::ranges::is_sorted(order));
  scene.pass_until(kOpens);
  for (std::uint64_t n = 50; n < 60; ++n) {
    scene.now += Milliseconds(10);
    scene.join(n);
    order.push_back(n);
  }
  for (std::size_t n = 0; n < order.size(); ++n)
    CHECK(scene.room.inspect(id_of(order[n]), scene.now)->view.ahead == n);
  const auto listed = scene.room.list_line(std::nullopt, 100, scene.now);
  REQUIRE(listed.size() == 60);
  const WaitingRoom::Report& last = listed[29];
  const auto rest = scene.room.list_line(
      WaitingRoom::Cursor{.joined = last.view.joined, .id = last.id, .priority = 0}, 100,
      scene.now);
  REQUIRE(rest.size() == 30);
  CHECK(rest.front().id == id_of(order[30]));
}

TEST_CASE("the order that was drawn is the same after a restart") {
  Prelude scene(starting(By::lot));
  scene.room.keep_journal();
  for (std::uint64_t n = 0; n < 100; ++n) {
    scene.now += Milliseconds(10);
    scene.join(n);
  }
  std::vector<Place> places;
  scene.room.look_up(*scene.room.take_changed(), scene.now, places);
  std::ranges::reverse(places);
  Prelude after(starting(By::lot));
  after.room.restore({scene.now, places}, scene.now);
  for (std::uint64_t n = 0; n < 100; ++n) {
    CHECK(after.room.inspect(id_of(n), scene.now)->view.ahead ==
          scene.room.inspect(id_of(n), scene.now)->view.ahead);
  }
}

TEST_CASE("to come early is no advantage where places are drawn") {
  // A standard deviation of the mean of 1000 ranks among 2000 is 0.0065.
  CHECK(place_of_early_birds(By::lot, 2000) == doctest::Approx(0.5).epsilon(0.06));
  CHECK(place_of_early_birds(By::arrival, 2000) < 0.26);  // the control
}

TEST_CASE("a start that is put off takes in those who come until then") {
  const Time later = kOpens + std::chrono::minutes(30);
  const auto run = [&](bool is_put_off) {
    Prelude scene(starting(By::lot, 1, is_put_off ? kOpens : later));
    for (std::uint64_t n = 0; n < 40; ++n) {
      if (n == 20 && is_put_off) scene.room.set_terms(starting(By::lot, 1, later), scene.now);
      scene.now += Milliseconds(10);
      scene.join(n);
    }
    std::vector<std::size_t> places;
    for (std::uint64_t n = 0; n < 40; ++n)
      places.push_back(scene.room.inspect(id_of(n), scene.now)->view.ahead);
    return places;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("a stamp from before the start that becomes a ticket after it is not drawn") {
  Prelude scene(starting(By::lot, 1));
  for (std::uint64_t n = 0; n < 20; ++n) scene.join(n);
  scene.pass_until(kOpens);
  scene.room.keep_journal();
  const Time arrived = kOpens - std::chrono::seconds(30);
  for (std::uint64_t n = 20; n < 40; ++n) {
    const auto contact = scene.room.join(id_of(n), arrived, scene.now);
    REQUIRE(contact.view);
    CHECK(contact.view->ahead >= 20);
    CHECK(contact.view->joined == kOpens);
    // What the visitor carries says so too.
    const Token stamp{TokenKind::stamp, id_of(n), 0, arrived, 0};
    CHECK(ticket_of(stamp, contact.view->joined).time == kOpens);
  }
  std::vector<Place> places;
  scene.room.look_up(*scene.room.take_changed(), scene.now, places);
  for (std::uint64_t n = 0; n < 20; ++n)
    scene.room.look_up(std::vector{id_of(n)}, scene.now, places);
  Prelude after(starting(By::lot, 1));
  after.now = scene.now;
  after.room.restore({scene.now, places}, scene.now);
  for (std::uint64_t n = 0; n < 40; ++n) {
    CHECK(after.room.inspect(id_of(n), scene.now)->view.ahead ==
          scene.room.inspect(id_of(n), scene.now)->view.ahead);
  }
  // Without a draw the place is by the arrival in the stamp.
  Prelude plain(starting(By::arrival, 1));
  plain.join(0);
  plain.pass_until(kOpens);
  CHECK(plain.room.join(id_of(1), arrived, plain.now).view->joined == arrived);
}

TEST_CASE("after a restart a ticket token from before the start is drawn, and a stamp is not") {
  Prelude scene(starting(By::lot, 1));
  scene.pass_until(kOpens - std::chrono::seconds(1));
  scene.room.restore({kOpens - std::chrono::seconds(20), {}}, scene.now);
  scene.now = kOpens + kTick;
  const Time arrived = kOpens - std::chrono::seconds(10);
  scene.room.recover(id_of(1), arrived, scene.now);
  CHECK(scene.room.inspect(id_of(1), scene.now)->view.joined == arrived);
  CHECK(scene.room.join(id_of(2), arrived, scene.now).view->joined == kOpens);
}

TEST_CASE("places that are still to be drawn are not shown, also while it is paused") {
  for (const By by : {By::arrival, By::lot}) {
    Prelude scene(starting(by));
    scene.join(1);
    scene.room.pause(true);
    const WaitingRoom::View view = scene.hear(1);
    CHECK(view.why == Why::paused);
    CHECK(view.is_drawn_later == (by == By::lot));
    scene.room.pause(false);
    scene.pass_until(kOpens + kTick);
    CHECK_FALSE(scene.hear(1).is_drawn_later);
  }
}

TEST_CASE("the time before a start is not counted as one without entries") {
  const auto rate_after = [](bool is_put_off) {
    TidePlay play(long_line(20), {.streams = {{0, 0.3}}, .at_first = 200, .stay = 100});
    play.pass(std::chrono::minutes(30));
    const double before = play.counts().entry.per_second.value();
    Terms terms = long_line(20);
    if (is_put_off) {
      terms.start.at = play.now() + std::chrono::minutes(20);
    } else {
      terms.active_sessions = 1;  // the control: nobody comes in, and it counts
    }
    play.room().set_terms(terms, play.now());
    play.pass(std::chrono::minutes(20));
    return play.counts().entry.per_second.value() / before;
  };
  CHECK(rate_after(true) == doctest::Approx(1));
  CHECK(rate_after(false) < 0.7);
}

TEST_CASE("a start that is over stays in force, unless it is put off into the future") {
  const auto places = [](const WaitingRoom& room, Time now) {
    std::vector<std::size_t> all;
    for (std::uint64_t n = 0; n < 40; ++n) all.push_back(room.inspect(id_of(n), now)->view.ahead);
    return all;
  };
  Prelude scene(starting(By::lot, 1));
  for (std::uint64_t n = 0; n < 40; ++n) {
    scene.now += Milliseconds(10);
    scene.join(n);
  }
  scene.pass_until(kOpens);
  const auto drawn = places(scene.room, scene.now);
  for (const Terms& other : {terms_for(1), starting(By::lot, 1, kOpens - std::chrono::minutes(9)),
                             starting(By::arrival, 1)}) {
    scene.room.set_terms(other, scene.now);
    CHECK(places(scene.room, scene.now) == drawn);
    CHECK(scene.room.terms().start == starting(By::lot, 1).start);
  }
  // The control: by arrival, from now on.
  scene.room.set_terms(starting(By::arrival, 1, kOpens + std::chrono::hours(1)), scene.now);
  CHECK(std::ranges::is_sorted(places(scene.room, scene.now)));
}

TEST_CASE("whoever was called when the start is put off waits for it, unless called by hand") {
  const auto run = [](Time until) {
    Prelude scene(starting(By::lot, 3));
    scene.pass_until(kOpens - std::chrono::seconds(20));
    for (std::uint64_t n = 0; n < 10; ++n) scene.join(n);
    const auto by_hand = scene.room.call_next(scene.now);
    REQUIRE(std::holds_alternative<TicketId>(by_hand));
    scene.pass_until(kOpens + kTick);
    REQUIRE(scene.room.counts(scene.now).processing > 1);
    scene.room.set_terms(starting(By::lot, 3, until), scene.now);
    scene.room.tick(scene.now += kTick, kHealthy);
    CHECK(scene.room.inspect(std::get<TicketId>(by_hand), scene.now)->view.state ==
          TicketState::processing);
    const Counts counts = scene.room.counts(scene.now);
    CHECK(counts.processing + counts.waiting == 10);
    return counts.processing;
  };
  CHECK(run(kOpens + std::chrono::hours(1)) == 1);
  CHECK(run(kOpens) > 1);  // the control: it is not put off
}

TEST_CASE("before a draw only the number of tickets turns visitors away") {
  for (const By by : {By::arrival, By::lot}) {
    Terms terms = starting(by);
    terms.per_minute = 1;
    terms.max_wait = std::chrono::minutes(5);
    terms.max_tickets = 50;
    Prelude scene(terms);
    std::size_t tickets = 0;
    for (std::uint64_t n = 0; n < 100; ++n)
      tickets += scene.room.join(id_of(n), scene.now, scene.now).view ? 1 : 0;
    CHECK(tickets == (by == By::lot ? 50 : 5));
  }
}

TEST_CASE("before a start no rate that was measured before turns visitors away") {
  Terms terms = long_line(20);
  terms.max_wait = std::chrono::minutes(5);
  TidePlay play(terms, {.streams = {{0, 5}}, .at_first = 20, .stay = 100});
  play.pass(std::chrono::minutes(20));
  CHECK(play.room().ask_for_ticket(play.now()) == WaitingRoom::Door::full);  // the control
  terms.start.at = play.now() + std::chrono::hours(1);
  play.room().set_terms(terms, play.now());
  CHECK(play.room().ask_for_ticket(play.now()) == WaitingRoom::Door::wait);
}

TEST_CASE("those who wait for a start learn of it one after another, whatever their lot") {
  const Milliseconds most = starting(By::lot).longest_poll;
  std::vector<std::size_t> of_second(30);
  std::size_t low = 0;
  Milliseconds sum{};
  for (std::uint64_t n = 0; n < 3000; ++n) {
    const Milliseconds spread = spread_of(id_of(n), most);
    REQUIRE(spread < most);
    ++of_second[static_cast<std::size_t>(spread.count() / 1000)];
    if (lot_of(some_key(), id_of(n)) >> 39 != 0) continue;
    ++low;
    sum += spread;
  }
  CHECK(std::ranges::max(of_second) < 150);  // 100 of each, standard deviation 10
  // Of a uniform distribution from 0 to 29 s the deviation of the mean of 1500 is 0.22 s.
  CHECK(static_cast<double>(sum.count()) / static_cast<double>(low) ==
        doctest::Approx(14'500).epsilon(0.07));
  Prelude scene(starting(By::lot));
  for (std::uint64_t n = 0; n < 200; ++n) scene.join(n);
  scene.pass_until(kOpens - std::chrono::seconds(10));
  for (std::uint64_t n = 0; n < 200; ++n) {
    const Milliseconds poll = scene.hear(n).poll;
    CHECK(poll >= std::chrono::seconds(10));
    CHECK(poll <= most);
  }
}

TEST_CASE("a stamp from right before the start finds the waiting room open right after it") {
  const auto after = [](Milliseconds later) {
    Prelude scene(starting(By::lot));
    scene.pass_until(kOpens - kTick);
    CHECK(scene.room.arrive(scene.now) == WaitingRoom::Door::wait);
    scene.pass_until(kOpens + later);
    return scene.room.arrive(scene.now);
  };
  CHECK(after(std::chrono::seconds(22)) == WaitingRoom::Door::wait);
  CHECK(after(std::chrono::seconds(30)) == WaitingRoom::Door::enter);  // the control
}

TEST_CASE("a rise by the draw is no rise") {
  Prelude scene(starting(By::lot, 1));
  for (std::uint64_t n = 0; n < 30; ++n) scene.join(n);
  scene.pass_until(kOpens - kTick);
  for (std::uint64_t n = 0; n < 30; ++n) scene.hear(n);
  scene.pass_until(kOpens + kTick);
  for (std::uint64_t n = 0; n < 30; ++n) CHECK(scene.hear(n).why == Why::none);
}

}  // namespace spillway::waiting
