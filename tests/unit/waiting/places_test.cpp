// What survives the process: a crowd whose proxy is killed at any moment goes on where it was.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "crowd.hpp"
#include "waiting/token/token.hpp"

namespace spillway::waiting {
namespace {

// What is on the disk.
class Disk {
 public:
  void write(WaitingRoom& room, Time now) {
    const bool with_uses = now - used_until_ >= Milliseconds(1'000);
    if (with_uses) used_until_ = now;
    const auto changed = room.take_changed(with_uses);
    std::vector<Place> places;
    if (changed) {
      room.look_up(*changed, now, places);
    } else {
      places_.clear();
      for (WaitingRoom::Listing at; room.list(at, places);) {
      }
    }
    for (const Place& place : places) places_[place.id] = place;
    until_ = now;
  }
  Written read() const {
    Written written{until_, {}, {}, used_until_};
    for (const auto& [id, place] : places_) written.places.push_back(place);
    return written;
  }
  std::optional<Place> find(const TicketId& id) const {
    const auto place = places_.find(id);
    if (place == places_.end()) return std::nullopt;
    return place->second;
  }
  std::size_t size() const { return places_.size(); }

 private:
  std::map<TicketId, Place> places_;
  Time until_{}, used_until_{};
};

struct Lost {
  int tickets = 0;    // polls that were answered with "unknown"
  int passes = 0;     // passes that let nobody in
  int overtaken = 0;  // pairs of visitors who changed their order
  bool any() const { return tickets + passes + overtaken > 0; }
};

// What a process does after a kill.
enum class After : std::uint8_t {
  recovers,      // as ours
  trusts_disk,   // what was not written is lost
  forgets_tiers  // they are neither written nor read in tokens
};

// A few minutes of a small sale to visitors of two tiers. Each visitor holds what the proxy gave
// it, as a browser does.
class Sale {
 public:
  Sale(std::uint64_t seed, After after) : random_(seed), after_(after) {
    terms_ = terms_for(20);
    terms_.tiers = {.list = {{{1, 0}, {0, 0.1}}}, .count = 2};
    room_.emplace(terms_);
    room_->keep_journal();
  }

  // The last of `unwritten` is not on the disk when the process is killed.
  void pass(Milliseconds time, Milliseconds unwritten) {
    const Time until = now_ + time;
    while (now_ < until) {
      now_ += kTick;
      if (random_.uniform() < 0.3) {
        const auto priority = static_cast<Priority>(random_.uniform() < 0.2);
        visitors_.push_back({.id = id_of(next_++), .next = now_, .priority = priority});
      }
      for (Visitor& visitor : visitors_) {
        if (visitor.next <= now_) act(visitor);
      }
      std::erase_if(visitors_, [](const Visitor& visitor) { return visitor.holds == Holds::none; });
      room_->tick(now_, kHealthy);
      if (now_ < until - unwritten) disk_.write(*room_, now_);
    }
  }
  void kill(Milliseconds down) {
    now_ += down;
    room_.emplace(terms_);
    Written written = disk_.read();
    if (after_ == After::forgets_tiers) {
      for (Place& place : written.places) place.priority = 0;
    }
    room_->restore(written, now_);
    room_->keep_journal();
  }
  // Everybody asks once.
  Lost ask_all() {
    Lost lost;
    std::vector<std::pair<std::size_t, const Visitor*>> line;
    now_ += kTick;
    for (Visitor& visitor : visitors_) {
      if (visitor.holds == Holds::ticket && !hear(visitor)) ++lost.tickets;
      if (visitor.holds == Holds::pass && !use(visitor)) ++lost.passes;
    }
    for (const Visitor& visitor : visitors_) {
      if (visitor.holds != Holds::ticket) continue;
      if (const auto view = room_->hear(visitor.id, now_)) line.emplace_back(view->ahead, &visitor);
    }
    std::sort(line.begin(), line.end());
    for (std::size_t n = 1; n < line.size(); ++n) {
      const Visitor& one = *line[n - 1].second;
      const Visitor& next = *line[n].second;
      lost.overtaken += one.priority < next.priority ||
                        (one.priority == next.priority && next.arrived < one.arrived);
    }
    std::erase_if(visitors_, [](const Visitor& visitor) { return visitor.holds == Holds::none; });
    return lost;
  }
  std::size_t waiting() const { return count(Holds::ticket); }
  std::size_t inside() const { return count(Holds::pass); }
  Counts counts() const { return room_->counts(now_); }

 private:
  enum class Holds : std::uint8_t { nothing, stamp, ticket, pass, none };
  struct Visitor {
    TicketId id;
    Time next{};
    Holds holds = Holds::nothing;
    Time arrived{};
    Time issued{};
    Time leaves{};
    std::uint32_t generation = 0;
    Priority priority = 0;
  };

  std::size_t count(Holds holds) const {
    return static_cast<std::size_t>(
        std::count_if(visitors_.begin(), visitors_.end(),
                      [holds](const Visitor& visitor) { return visitor.holds == holds; }));
  }
  void let_in(Visitor& visitor, std::uint32_t generation) {
    visitor.holds = Holds::pass;
    visitor.generation = generation;
    visitor.issued = now_;
    visitor.leaves = now_ + Milliseconds(10'000 + random_.next() % 30'000);
    visitor.next = now_ + Milliseconds(1000 + random_.next() % 4000);
  }
  bool hear(Visitor& visitor) {
    const Priority priority = after_ == After::forgets_tiers ? 0 : visitor.priority;
    if (after_ != After::trusts_disk) room_->recover(visitor.id, visitor.arrived, now_, priority);
    const auto view = room_->hear(visitor.id, now_);
    if (!view) {
      visitor.holds = Holds::none;
      return false;
    }
    visitor.next = now_ + view->poll;
    if (view->state == TicketState::processing) {
      if (const auto session = room_->claim(visitor.id, now_)) let_in(visitor, session->generation);
    }
    return true;
  }
  // As the entrance does: a young pass is not looked up.
  bool use(Visitor& visitor) {
    if (visitor.generation > 0 && now_ - visitor.issued < kRenewAfter) return true;
    const Renewal renewal = room_->use(visitor.id, visitor.generation, visitor.issued, now_);
    if (renewal.use == Use::renewed) {
      visitor.generation = renewal.generation;
      visitor.issued = now_;
    }
    if (renewal.use == Use::renewed || renewal.use == Use::kept) return true;
    visitor.holds = Holds::none;
    return false;
  }
  void act(Visitor& visitor) {
    switch (visitor.holds) {
      case Holds::nothing:
        visitor.arrived = now_;
        visitor.next = now_ + Milliseconds(5000);
        visitor.holds = Holds::stamp;
        if (room_->arrive(now_) == WaitingRoom::Door::enter) let_in(visitor, 0);
        break;
      case Holds::stamp: {
        const auto contact = room_->join(visitor.id, visitor.arrived, now_, visitor.priority);
        if (contact.session) let_in(visitor, contact.session->generation);
        if (contact.view) visitor.holds = Holds::ticket, visitor.next = now_ + contact.view->poll;
        if (!contact.session && !contact.view) visitor.holds = Holds::none;  // the line is full
        break;
      }
      case Holds::ticket: hear(visitor); break;
      case Holds::pass:
        if (now_ >= visitor.leaves) {
          room_->cancel(visitor.id, now_);
          visitor.holds = Holds::none;
        } else if (use(visitor)) {
          visitor.next = now_ + Milliseconds(1000 + random_.next() % 4000);
        }
        break;
      case Holds::none: break;
    }
  }

  Random random_;
  const After after_;
  Terms terms_;
  std::optional<WaitingRoom> room_;
  Disk disk_;
  Time now_ = kStart;
  std::uint64_t next_ = 0;
  std::vector<Visitor> visitors_;
};

// A kill -9 somewhere in a sale, and another one soon after.
Lost kill_twice(std::uint64_t seed, After after) {
  Random random(seed);
  Sale sale(seed, after);
  sale.pass(Milliseconds(30'000 + random.next() % 200'000), Milliseconds(random.next() % 2000));
  CHECK(sale.waiting() + sale.inside() > 20);
  sale.kill(Milliseconds(random.next() % 5000));
  sale.pass(Milliseconds(random.next() % 3000), Milliseconds(random.next() % 1000));
  sale.kill(Milliseconds(random.next() % 5000));
  return sale.ask_all();
}

}  // namespace

TEST_CASE("a crowd whose proxy is killed at any moment keeps places, tiers, order and passes") {
  int lost_without = 0;
  int overtaken_without_tiers = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const Lost lost = kill_twice(seed, After::recovers);
    CHECK(lost.tickets == 0);
    CHECK(lost.passes == 0);
    CHECK(lost.overtaken == 0);
    lost_without += kill_twice(seed, After::trusts_disk).any() ? 1 : 0;
    overtaken_without_tiers += kill_twice(seed, After::forgets_tiers).overtaken > 0 ? 1 : 0;
  }
  // What was not written is lost without the visitors' own tokens.
  CHECK(lost_without > 20);
  CHECK(overtaken_without_tiers > 20);
}

TEST_CASE("what has ended does not come back with the token of a former process") {
  WaitingRoom room(terms_for(1, When::always));
  room.keep_journal();
  Disk disk;
  room.join(id_of(1), kStart, kStart);
  room.join(id_of(2), kStart, kStart);
  disk.write(room, kStart);
  CHECK(disk.size() == 2);
  room.cancel(id_of(1), kStart + kTick);
  disk.write(room, kStart + kTick);
  REQUIRE(disk.find(id_of(1)));
  CHECK(disk.find(id_of(1))->kind == Place::Kind::ended);

  const Time later = kStart + Milliseconds(500);
  WaitingRoom next(terms_for(1, When::always));
  next.restore(disk.read(), later);
  next.recover(id_of(1), kStart, later);
  CHECK_FALSE(next.hear(id_of(1), later));
  CHECK(next.hear(id_of(2), later)->ahead == 0);
  // One that nobody has heard of, from before: it was there a moment before the end, or never.
  next.recover(id_of(3), kStart, later);
  CHECK(next.hear(id_of(3), later)->ahead == 1);
  // From after the restart there is nothing to recover, nor from long before.
  next.recover(id_of(4), later, later);
  CHECK_FALSE(next.hear(id_of(4), later));
  next.recover(id_of(5), kStart - kStampLife - kTick, later);
  CHECK_FALSE(next.hear(id_of(5), later));
  const Time too_late = later + Recovery::kOpen;
  next.recover(id_of(6), kStart, too_late);
  CHECK_FALSE(next.hear(id_of(6), too_late));
}

TEST_CASE("a session whose beginning was not written takes the place of its ticket") {
  WaitingRoom room(terms_for(1, When::always));
  room.keep_journal();
  Disk disk;
  room.join(id_of(1), kStart, kStart);
  disk.write(room, kStart);
  room.tick(kStart + kTick, kHealthy);
  REQUIRE(room.claim(id_of(1), kStart + kTick));

  const Time later = kStart + Milliseconds(30'000);
  WaitingRoom next(terms_for(1, When::always));
  next.restore(disk.read(), later);
  CHECK(next.counts(later).waiting == 1);
  CHECK(next.use(id_of(1), 1, kStart + kTick, later).use == Use::renewed);
  CHECK(next.counts(later).waiting == 0);
  CHECK(next.counts(later).active == 1);
}

TEST_CASE("missed calls and the beginnings of sessions are remembered") {
  Terms terms = terms_for(1, When::always);
  terms.attempts = 2;
  terms.session_ttl = Milliseconds(60'000);
  WaitingRoom room(terms);
  room.keep_journal();
  Disk disk;
  room.join(id_of(1), kStart, kStart);
  Time now = kStart;
  while (room.counts(now).tickets_ended[static_cast<std::size_t>(Ended::not_claimed)] == 0 &&
         disk.find(id_of(1)).value_or(Place{}).missed == 0) {
    room.tick(now += kTick, kHealthy);
    room.hear(id_of(1), now);
    disk.write(room, now);
  }
  CHECK(disk.find(id_of(1))->missed == 1);
  CHECK(disk.find(id_of(1))->kind == Place::Kind::ticket);
  room.tick(now += kTick, kHealthy);
  room.hear(id_of(1), now);
  room.tick(now += kTick, kHealthy);
  REQUIRE(room.claim(id_of(1), now));
  disk.write(room, now);
  Place inside{.id = id_of(1), .kind = Place::Kind::session, .since = now, .used = now};
  CHECK(disk.find(id_of(1)) == inside);

  WaitingRoom next(terms);
  next.restore(disk.read(), now + Milliseconds(59'000));
  CHECK(next.counts(now + Milliseconds(59'000)).active == 1);
  next.tick(now + Milliseconds(61'000), kHealthy);
  CHECK(next.counts(now + Milliseconds(61'000)).active == 0);
}

TEST_CASE("tickets that an operator moved stand where they stood") {
  WaitingRoom room(terms_for(1, When::always));
  room.keep_journal();
  Disk disk;
  Time now = kStart;
  for (std::uint64_t n = 0; n < 8; ++n) room.join(id_of(n), now, now);  // of one millisecond
  for (std::uint64_t n = 8; n < 12; ++n) room.join(id_of(n), now += kTick, now);
  Random random(20261128);
  const auto order_in = [&](WaitingRoom& of) {
    std::vector<TicketId> ids;
    for (const auto& report : of.list_line(std::nullopt, 100, now)) ids.push_back(report.id);
    return ids;
  };
  for (int move = 0; move < 200; ++move) {
    room.move(id_of(random.next() % 12), random.next() % 13);
    disk.write(room, now);
    if (move % 20 != 0) continue;
    WaitingRoom next(terms_for(1, When::always));
    next.restore(disk.read(), now);
    CHECK(order_in(next) == order_in(room));
  }
  room.move(id_of(3), 0);
  room.move(id_of(5), 0);
  CHECK(order_in(room)[0] == id_of(5));
  CHECK(order_in(room)[1] == id_of(3));
}

TEST_CASE("sessions that have left count for the minute after a restart") {
  Terms terms = terms_for(10);
  terms.per_minute = 2;
  WaitingRoom room(terms);
  room.keep_journal();
  Disk disk;
  Time now = kStart;
  for (const std::uint64_t n : {1, 2}) {
    CHECK(room.arrive(now) == WaitingRoom::Door::enter);
    CHECK(room.use(id_of(n), 0, now, now).use == Use::renewed);
  }
  disk.write(room, now);
  for (const std::uint64_t n : {1, 2}) CHECK(room.cancel(id_of(n), now));
  disk.write(room, now);
  WaitingRoom next(terms);
  next.restore(disk.read(), now);
  CHECK(next.counts(now).active == 0);
  CHECK(next.arrive(now) == WaitingRoom::Door::wait);
  WaitingRoom later(terms);
  later.restore(disk.read(), now + Milliseconds(61'000));
  CHECK(later.arrive(now + Milliseconds(61'000)) == WaitingRoom::Door::enter);
}

TEST_CASE("what is not taken is bounded, and all is listed anew") {
  Terms terms = terms_for(1000, When::always);
  terms.max_wait = std::chrono::hours(24);
  WaitingRoom room(terms);
  room.join(id_of(0), kStart, kStart);
  const auto nothing = room.take_changed();
  REQUIRE(nothing);
  CHECK(nothing->empty());  // before it is asked to keep a journal
  room.keep_journal();
  for (std::uint64_t n = 1; n <= Journal::kMost + 1; ++n) room.join(id_of(n), kStart, kStart);
  Disk disk;
  disk.write(room, kStart);
  CHECK(disk.size() == Journal::kMost + 2);
  const auto after = room.take_changed();
  REQUIRE(after);
  CHECK(after->empty());
}

}  // namespace spillway::waiting
