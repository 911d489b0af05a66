// How many of a crowd that comes before any rate of entry is known wait for longer than they were
// to: the door can only go by what it is told of sessions.
#include <doctest/doctest.h>

#include <cmath>
#include <queue>
#include <vector>

#include "crowd.hpp"

namespace spillway::waiting {
namespace {

constexpr Milliseconds kStay{300'000};  // inside, mean of an exponential distribution
constexpr Milliseconds kPlayed{3'600'000};

Terms terms_of_sale() {
  Terms terms = terms_for(50);
  terms.idle = Milliseconds(3'600'000);
  return terms;
}

// All come within a minute. Who has no place asks for one every half minute; who has one stays
// until it is called.
class Stampede {
 public:
  Stampede(const Terms& terms, std::size_t visitors) : terms_(terms), room_(terms), of_(visitors) {
    for (std::size_t n = 0; n < visitors; ++n) later(60 * random_.uniform(), n, Does::ask);
  }

  void pass(Milliseconds time) {
    for (const Time until = now_ + time; now_ < until; now_ += kTick) {
      while (!events_.empty() && events_.top().at <= now_) {
        const Event event = events_.top();
        events_.pop();
        happen(event);
      }
      room_.tick(now_, kHealthy);
    }
  }
  // Of the tickets that were made by then, those that were not called within max_wait.
  struct Kept {
    std::size_t tickets = 0;
    double late = 0;      // share
    double by_tenth = 0;  // of max_wait and more, likewise
  };
  Kept kept(Time by) const {
    Kept kept;
    std::size_t late = 0;
    std::size_t by_tenth = 0;
    for (const Visitor& visitor : of_) {
      if (visitor.joined == Time{} || visitor.joined > by) continue;
      ++kept.tickets;
      const Time end = visitor.entered == Time{} ? now_ : visitor.entered;
      const Milliseconds waited = end - visitor.joined - terms_.longest_poll;
      late += waited > terms_.max_wait ? 1 : 0;
      by_tenth += waited > terms_.max_wait * 11 / 10 ? 1 : 0;
    }
    kept.late = static_cast<double>(late) / static_cast<double>(kept.tickets);
    kept.by_tenth = static_cast<double>(by_tenth) / static_cast<double>(kept.tickets);
    return kept;
  }

 private:
  enum class Does : std::uint8_t { ask, poll, leave };
  struct Event {
    Time at;
    std::size_t number = 0;
    Does does = Does::ask;
    bool operator>(const Event& other) const { return at > other.at; }
  };
  struct Visitor {
    Time joined{};
    Time entered{};
  };

  void later(double seconds, std::size_t number, Does does) {
    events_.push({now_ + Milliseconds(static_cast<std::int64_t>(seconds * 1000)), number, does});
  }
  void enter(std::size_t number) {
    of_[number].entered = now_;
    const double mean = static_cast<double>(kStay.count()) / 1000;
    later(-std::log(1 - random_.uniform()) * mean, number, Does::leave);
  }
  void happen(const Event& event) {
    const TicketId id = id_of(event.number);
    switch (event.does) {
      case Does::ask: return ask(event.number);
      case Does::leave: room_.cancel(id, now_); return;
      case Does::poll: break;
    }
    const auto view = room_.hear(id, now_);
    REQUIRE(view);
    if (view->state == TicketState::processing && room_.claim(id, now_)) return enter(event.number);
    const double poll = static_cast<double>(view->poll.count()) / 1000;
    later(poll * (1 + 0.3 * random_.uniform()), event.number, Does::poll);
  }
  void ask(std::size_t number) {
    const auto contact = room_.join(id_of(number), now_, now_);
    if (contact.session) return enter(number);
    if (!contact.view) return later(30 * (1 + 0.3 * random_.uniform()), number, Does::ask);
    of_[number].joined = now_;
    later(5 * random_.uniform(), number, Does::poll);
  }

  const Terms terms_;
  WaitingRoom room_;
  std::vector<Visitor> of_;
  Random random_{1};
  Time now_ = kStart;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

struct Seen {
  Stampede::Kept first;  // of the first two minutes
  Stampede::Kept all;    // of the first hour
};

Seen play(std::optional<Milliseconds> expected_stay) {
  Terms terms = terms_of_sale();
  terms.expected_stay = expected_stay;
  Stampede stampede(terms, 5000);
  stampede.pass(kPlayed + terms.max_wait * 12 / 10);
  const Seen seen{stampede.kept(kStart + Milliseconds(120'000)), stampede.kept(kStart + kPlayed)};
  for (const Stampede::Kept& kept : {seen.first, seen.all})
    MESSAGE(kept.tickets << " tickets, late " << 100 * kept.late << " %, by a tenth or more "
                         << 100 * kept.by_tenth << " %");
  return seen;
}

}  // namespace

// 50 sessions of 5 min: 10 calls a minute, 300 within max_wait.
TEST_CASE("a stampede gets the places that are reached, if the stay is known") {
  const Seen seen = play(kStay);
  CHECK(seen.first.tickets < 400);
  CHECK(seen.first.tickets > 300);
  CHECK(seen.first.late <= 0.2);
  CHECK(seen.first.by_tenth <= 0.05);
  CHECK(seen.all.late <= 0.25);
  CHECK(seen.all.by_tenth <= 0.05);
}

TEST_CASE(
    "control: without it sessions of 30 s are believed, and most of a stampede wait too long") {
  const Seen seen = play(std::nullopt);
  CHECK(seen.first.tickets > 2500);
  CHECK(seen.first.late > 0.8);
}

TEST_CASE("a stay that is said counts until the rate of entry is known") {
  // Sessions of 5 min that are said to last an hour, and 30 s.
  CHECK(play(Milliseconds(3'600'000)).all.tickets > 300);
  CHECK(play(Milliseconds(30'000)).first.tickets > 2500);
}

}  // namespace spillway::waiting
