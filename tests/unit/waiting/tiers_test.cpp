// Visitors of several tiers in a waiting room.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tide.hpp"

namespace spillway::waiting {
namespace {

constexpr Priority kStandard = 0, kVip = 1, kPremium = 2;

Terms shared(double share) {
  Terms terms = long_line(100);
  terms.tiers = tiers_of({{kPremium, 0}, {kVip, 0}, {kStandard, share}});
  return terms;
}

// The least part of the entries of a minute that the lowest tier got, while many more of a higher
// tier come than can be let in.
double least_part(double share) {
  TidePlay play(shared(share), {.streams = {{kStandard, 2}, {kVip, 15}}, .stay = 10});
  play.pass(Milliseconds(120'000));
  play.take_entered();
  double least = 1;
  for (int minute = 0; minute < 20; ++minute) {
    play.pass(Milliseconds(60'000));
    auto entered = play.take_entered();
    const auto low = static_cast<double>(entered[kStandard]);
    least = std::min(least, low / (low + static_cast<double>(entered[kVip])));
  }
  return least;
}

// Nobody is called: there is no room.
struct FullRoom {
  explicit FullRoom(const Terms& terms) : room(terms) {
    room.join(id_of(0), now, now, kPremium);
    room.tick(now += kTick, kHealthy);
    REQUIRE(room.claim(id_of(0), now));
  }
  void join(std::uint64_t number, Priority priority) {
    now += Milliseconds(1);
    REQUIRE(room.join(id_of(number), now, now, priority).view);
  }
  WaitingRoom::View hear(std::uint64_t number) { return *room.hear(id_of(number), now); }
  std::vector<std::uint64_t> listed(std::optional<Priority> tier = std::nullopt) {
    std::vector<std::uint64_t> numbers;
    std::optional<WaitingRoom::Cursor> after;
    for (;;) {
      const auto page = room.list_line(after, 2, now, tier);
      for (const WaitingRoom::Report& each : page) {
        for (std::uint64_t n = 0; n < 100; ++n) {
          if (id_of(n) == each.id) numbers.push_back(n);
        }
      }
      if (page.size() < 2) return numbers;
      after = {page.back().view.joined, page.back().id, page.back().view.priority};
    }
  }

  WaitingRoom room;
  Time now = kStart;
};

Terms terms_of_full_room() {
  Terms terms = shared(0);
  terms.active_sessions = 1;
  return terms;
}

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("the lowest tier gets its share of each minute's entries under endless higher demand") {
  const double least = least_part(0.05);
  MESSAGE("least part of a minute's entries with a share of 5 %: " << least * 100 << " %");
  CHECK(least >= 0.04);
  CHECK(least_part(0) == 0);  // control
}

TEST_CASE("the higher tier is called first, and within a tier who came first") {
  FullRoom full(terms_of_full_room());
  full.join(1, kStandard);
  full.join(2, kVip);
  full.join(3, kPremium);
  full.join(4, kVip);
  full.join(5, kStandard);
  CHECK(full.listed() == Numbers{3, 2, 4, 1, 5});
  CHECK(full.listed(kVip) == Numbers{2, 4});
  CHECK(full.listed(kPremium) == Numbers{3});
  CHECK(full.listed(Priority{9}).empty());
  CHECK(full.hear(5).ahead == 4);
  CHECK(full.hear(4).priority == kVip);
  full.room.cancel(id_of(0), full.now);
  Numbers called;
  for (int n = 0; n < 5; ++n) {
    const auto next = full.room.call_next(full.now);
    REQUIRE(std::get_if<TicketId>(&next) != nullptr);
    for (std::uint64_t number = 1; number <= 5; ++number) {
      if (id_of(number) == std::get<TicketId>(next)) called.push_back(number);
    }
    REQUIRE(full.room.claim(std::get<TicketId>(next), full.now));
    full.room.cancel(std::get<TicketId>(next), full.now);
  }
  CHECK(called == Numbers{3, 2, 4, 1, 5});
  const Counts counts = full.room.counts(full.now);
  CHECK(counts.tiers[0].fulfilled == 2);  // with the one that was inside
  CHECK(counts.tiers[1].fulfilled == 2);
  CHECK(counts.tiers[2].fulfilled == 2);
}

TEST_CASE("a cursor goes on behind a ticket that has ended, in its tier") {
  FullRoom full(terms_of_full_room());
  for (std::uint64_t n = 1; n <= 9; ++n) full.join(n, static_cast<Priority>(n % 3));
  const auto page = full.room.list_line(std::nullopt, 4, full.now);
  REQUIRE(page.size() == 4);
  const WaitingRoom::Report last = page.back();
  CHECK(last.id == id_of(1));  // 2 5 8, 1 4 7, 3 6 9
  full.room.cancel(last.id, full.now);
  const WaitingRoom::Cursor after{last.view.joined, last.id, last.view.priority};
  CHECK(full.room.list_line(after, 1, full.now).front().id == id_of(4));
}

TEST_CASE("a move is within the tier") {
  FullRoom full(terms_of_full_room());
  full.join(1, kStandard);
  full.join(2, kStandard);
  full.join(3, kVip);
  CHECK(full.room.move(id_of(2), 0) == Moved::moved);
  CHECK(full.listed() == Numbers{3, 2, 1});
  CHECK(full.room.move(id_of(2), 9) == Moved::moved);
  CHECK(full.listed() == Numbers{3, 1, 2});
  CHECK(full.room.move(id_of(3), 9) == Moved::moved);
  CHECK(full.listed() == Numbers{3, 1, 2});
}

TEST_CASE("a risen position says why for as long as it is higher than it was told") {
  FullRoom full(terms_of_full_room());
  full.join(1, kStandard);
  full.join(2, kStandard);
  CHECK(full.hear(2).why == Why::none);
  full.join(3, kVip);
  CHECK(full.hear(2).ahead == 2);
  CHECK(full.hear(2).why == Why::higher_tier);
  full.room.pause(true);
  CHECK(full.hear(2).why == Why::paused);
  full.room.pause(false);
  CHECK(full.hear(2).why == Why::higher_tier);
  full.room.cancel(id_of(3), full.now);
  CHECK(full.hear(2).why == Why::none);
  // It came earlier, and is heard of later.
  full.room.join(id_of(4), kStart, full.now, kStandard);
  CHECK(full.hear(2).why == Why::returned);
  CHECK(full.room.inspect(id_of(2), full.now)->view.why == Why::returned);
  full.room.cancel(id_of(1), full.now);
  CHECK(full.hear(2).why == Why::none);
  full.room.tick(full.now += kTick, {.is_overloaded = true, .pace = 0});
  CHECK(full.hear(2).why == Why::busy);
  CHECK(name(Why::higher_tier) == "higher_tier");
}

TEST_CASE("other tiers after a reload change nobody's place") {
  FullRoom full(terms_of_full_room());
  full.join(1, kStandard);
  full.join(2, kVip);
  full.join(3, kPremium);
  Terms terms = terms_of_full_room();
  terms.tiers = tiers_of({{kVip, 0}, {kStandard, 0}});
  full.room.set_terms(terms, full.now);
  CHECK(full.listed() == Numbers{3, 2, 1});
  const Counts counts = full.room.counts(full.now);
  CHECK(counts.tiers[0].visitors == 2);  // the one without a tier goes with the next lower
  CHECK(counts.tiers[1].visitors == 1);
  CHECK(counts.tiers[0].fulfilled == 1);
}

TEST_CASE(
    "without a share there is no estimate while as many come as are called, with it there is") {
  for (const double share : {0.0, 0.1}) {
    CAPTURE(share);
    TidePlay play(shared(share), {.streams = {{kStandard, 2}, {kVip, 15}}, .stay = 10});
    play.pass(Milliseconds(600'000));
    const auto standard = play.room().list_line(std::nullopt, 10'000, play.now(), kStandard);
    REQUIRE_FALSE(standard.empty());
    CHECK(standard.back().view.estimate.has_value() == (share > 0));
    const auto vip = play.room().list_line(std::nullopt, 10'000, play.now(), kVip);
    REQUIRE(vip.size() > 20);
    CHECK(vip.back().view.estimate.has_value());
  }
}

TEST_CASE("the door is closed to a tier by those who are called before it, and not by lower ones") {
  Terms terms = terms_of_full_room();
  terms.max_wait = Milliseconds(300'000);  // ten calls, one every 30 s at most
  FullRoom full(terms);
  for (std::uint64_t n = 1; n <= 10; ++n) full.join(n, kStandard);
  CHECK(full.room.arrive(full.now, kStandard) == Door::full);
  CHECK(full.room.arrive(full.now, kVip) == Door::wait);
  CHECK(full.room.ask_for_ticket(full.now, kVip) == Door::wait);
  for (std::uint64_t n = 11; n <= 20; ++n) full.join(n, kVip);
  CHECK(full.room.arrive(full.now, kVip) == Door::full);
  CHECK(full.room.join(id_of(21), full.now, full.now, kVip).door == Door::full);
  CHECK(full.room.arrive(full.now, kPremium) == Door::wait);
}

TEST_CASE("one tier in use costs one line, whatever tiers there are") {
  Terms terms = terms_of_full_room();
  terms.max_wait = std::chrono::hours(24);
  WaitingRoom room(terms);
  for (std::uint64_t n = 0; n < 1000; ++n) room.join(id_of(n), kStart, kStart);
  CHECK(room.counts(kStart).tiers[2].visitors == 1000);
  TieredLine line(terms.tiers);
  for (Slot n = 0; n < 1000; ++n) line.insert({0, n}, order_of(kStart, id_of(n)));
  int lines = 0;
  line.each([&](Priority, const Line&) { ++lines; });
  CHECK(lines == 1);
}

}  // namespace spillway::waiting
