// A crowd of visitors for minutes on a virtual clock: the caps hold in every moment, and the
// sessions are used although most of the line has gone home or does not come when it is called.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <queue>
#include <vector>

#include "crowd.hpp"

namespace spillway::waiting {
namespace {

struct Crowd {
  std::size_t visitors = 3000;
  double ghosts = 0;      // share that is never heard of again after it has joined
  bool reserves = false;  // ghosts make a reservation before
  double no_shows = 0;    // share that goes on asking and never comes
  Milliseconds stay{60'000};
  Milliseconds time{900'000};
  std::uint64_t seed = 1;
};

struct Seen {
  double use = 0;  // mean share of the sessions in use, from the third minute on
  std::size_t most_active = 0;
  std::size_t most_in_a_minute = 0;
  std::size_t entered = 0;
};

// Calls the first of the line, present or not; each call holds a session until it is claimed or the
// caller loses patience: the waiting room that people complain of.
class ExpireFirst {
 public:
  explicit ExpireFirst(const Terms& terms) : terms_(terms) {}
  struct View {
    bool is_called = false;
    Milliseconds poll{};
  };
  void join(std::uint64_t number, Time) { line_.push_back(number); }
  std::optional<View> hear(std::uint64_t number, Time) {
    return View{called_.contains(number), terms_.shortest_poll};
  }
  bool claim(std::uint64_t number, Time) {
    if (called_.erase(number) == 0) return false;
    ++active_;
    return true;
  }
  void leave(std::uint64_t, Time) { --active_; }
  void tick(Time now) {
    std::erase_if(called_, [&](const auto& each) { return now >= each.second; });
    while (active_ + called_.size() < terms_.active_sessions && !line_.empty()) {
      called_.emplace(line_.front(), now + terms_.claim);
      line_.pop_front();
    }
  }
  std::size_t active(Time) const { return active_; }

 private:
  Terms terms_;
  std::deque<std::uint64_t> line_;
  std::map<std::uint64_t, Time> called_;
  std::size_t active_ = 0;
};

class Ours {
 public:
  explicit Ours(const Terms& terms) : room_(terms) {}
  struct View {
    bool is_called = false;
    Milliseconds poll{};
  };
  void join(std::uint64_t number, Time now) { room_.join(id_of(number), now, now); }
  void reserve(std::uint64_t number, Time now) {
    REQUIRE(room_.reserve(id_of(number), now)->is_granted);
  }
  std::optional<View> hear(std::uint64_t number, Time now) {
    const auto view = room_.hear(id_of(number), now);
    if (!view) return std::nullopt;
    return View{view->state == TicketState::processing, view->poll};
  }
  bool claim(std::uint64_t number, Time now) { return room_.claim(id_of(number), now).has_value(); }
  void leave(std::uint64_t number, Time now) { room_.cancel(id_of(number), now); }
  void tick(Time now) { room_.tick(now, kHealthy); }
  std::size_t active(Time now) const {
    const Counts counts = room_.counts(now);
    return counts.active + counts.provisional;
  }

 private:
  WaitingRoom room_;
};

template <class Room>
Seen play(const Terms& terms, const Crowd& crowd) {
  enum class Does : std::uint8_t { poll, leave };
  struct Event {
    Time at;
    std::uint64_t number;
    Does does;
    bool operator>(const Event& other) const { return at > other.at; }
  };
  Room room(terms);
  Random random(crowd.seed);
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::vector<bool> shows(crowd.visitors);
  Seen seen;
  std::deque<Time> begun;
  for (std::uint64_t n = 0; n < crowd.visitors; ++n) {
    room.join(n, kStart + Milliseconds(n));
    shows[n] = random.uniform() >= crowd.no_shows;
    if (random.uniform() >= crowd.ghosts)
      events.push({kStart + Milliseconds(5000 + random.next() % 5000), n, Does::poll});
    else if constexpr (requires { room.reserve(n, kStart); })
      if (crowd.reserves) room.reserve(n, kStart + Milliseconds(n));
  }
  double used = 0;
  int ticks = 0;
  for (Time now = kStart + Milliseconds(crowd.visitors); now < kStart + crowd.time; now += kTick) {
    while (!events.empty() && events.top().at <= now) {
      const Event event = events.top();
      events.pop();
      if (event.does == Does::leave) {
        room.leave(event.number, now);
        continue;
      }
      const auto view = room.hear(event.number, now);
      if (!view) continue;
      if (view->is_called && shows[event.number] && room.claim(event.number, now)) {
        ++seen.entered;
        begun.push_back(now);
        const double stay =
            -std::log(1 - random.uniform()) * static_cast<double>(crowd.stay.count());
        events.push(
            {now + Milliseconds(static_cast<std::int64_t>(stay)), event.number, Does::leave});
        continue;
      }
      const auto jitter = static_cast<std::int64_t>(static_cast<double>(view->poll.count()) *
                                                    (1 + 0.3 * random.uniform()));
      events.push({now + Milliseconds(jitter), event.number, Does::poll});
    }
    room.tick(now);
    while (!begun.empty() && now - begun.front() >= Milliseconds(60'000)) begun.pop_front();
    seen.most_in_a_minute = std::max(seen.most_in_a_minute, begun.size());
    seen.most_active = std::max(seen.most_active, room.active(now));
    if (now - kStart < Milliseconds(180'000)) continue;
    used += static_cast<double>(room.active(now)) / terms.active_sessions;
    ++ticks;
  }
  seen.use = used / ticks;
  return seen;
}

Terms sale() {
  Terms terms = terms_for(100, When::always);
  terms.shortest_poll = Milliseconds(2000);
  terms.longest_poll = Milliseconds(20'000);
  terms.claim = Milliseconds(120'000);
  terms.max_wait = Milliseconds(86'400'000);
  return terms;
}

}  // namespace

TEST_CASE("the sessions are used, and never more than there are") {
  const Seen plain = play<Ours>(sale(), {});
  MESSAGE("plain: use " << plain.use);
  CHECK(plain.use >= 0.97);
  CHECK(plain.most_active <= 100);

  const Seen ghosts = play<Ours>(sale(), {.visitors = 8000, .ghosts = 0.7});
  MESSAGE("70 % ghosts: use " << ghosts.use);
  CHECK(ghosts.use >= 0.95);
  CHECK(ghosts.most_active <= 100);

  Terms reserving = sale();
  reserving.reserve = {Milliseconds(14'400'000), Milliseconds(900'000), true};
  const Seen away = play<Ours>(reserving, {.visitors = 8000, .ghosts = 0.7, .reserves = true});
  MESSAGE("70 % ghosts that reserved: use " << away.use);
  CHECK(away.use >= 0.95);
  CHECK(away.most_active <= 100);

  const Seen absent = play<Ours>(sale(), {.visitors = 5000, .no_shows = 0.3});
  MESSAGE("30 % no-shows: use " << absent.use);
  CHECK(absent.use >= 0.95);
  CHECK(absent.most_active <= 100);
}

TEST_CASE("control: a waiting room that calls in order and lets calls expire stands empty") {
  const Seen ghosts = play<ExpireFirst>(sale(), {.visitors = 8000, .ghosts = 0.7});
  MESSAGE("70 % ghosts, expire first: use " << ghosts.use);
  CHECK(ghosts.use < 0.9);
  CHECK(play<ExpireFirst>(sale(), {}).use >= 0.95);  // and is no straw man without ghosts
}

TEST_CASE("no more come in within any minute than per_minute says") {
  Terms terms = sale();
  terms.active_sessions = 1000;
  terms.per_minute = 50;
  const Seen seen = play<Ours>(terms, {.no_shows = 0.2, .stay = Milliseconds(20'000)});
  CHECK(seen.most_in_a_minute <= 50);
  CHECK(seen.entered >= 50 * 12);  // of 15 minutes
  terms.per_minute = 0;
  CHECK(play<Ours>(terms, {.stay = Milliseconds(20'000)}).most_in_a_minute > 50);
}

}  // namespace spillway::waiting
