// The last use of sessions over a restart: what is written of it once a second, and what the
// visitors' own passes say of the last moments.
#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "crowd.hpp"
#include "waiting/token/token.hpp"

namespace spillway::waiting {
namespace {

constexpr Milliseconds kSecond{1'000};
constexpr Milliseconds kDown{3'600'000};

// A room, and what its store has of it: changes at once, the last uses once a second.
struct Kept {
  Kept() { room.keep_journal(); }
  static Terms terms() {
    Terms terms = terms_for(10, When::always);
    terms.idle = 60 * kSecond;
    terms.session_ttl = 24 * kDown;
    return terms;
  }
  void pass(Milliseconds time) {
    for (const Time end = now + time; now < end;) {
      room.tick(now += kTick, kHealthy);
      write();
    }
  }
  void write() {
    const bool with_uses = writes_uses && now - used_until >= kSecond;
    if (with_uses) used_until = now;
    const auto changed = room.take_changed(with_uses);
    REQUIRE(changed);
    written_ids += changed->size();
    std::vector<Place> places;
    room.look_up(*changed, now, places);
    for (const Place& place : places) file[place.id] = place;
    until = now;
  }
  // kill -9, and another process after an hour.
  void begin_anew() {
    Written written{until, {}, {}, used_until};
    for (const auto& [id, place] : file) written.places.push_back(place);
    now += kDown;
    room = WaitingRoom(terms());
    room.restore(written, now);
    room.keep_journal();
  }
  // The pass that it has then.
  Token enter(std::uint64_t number) {
    REQUIRE(room.join(id_of(number), now, now).view);
    pass(kTick);
    const auto session = room.claim(id_of(number), now);
    REQUIRE(session);
    return {.kind = TokenKind::pass,
            .id = id_of(number),
            .generation = session->generation,
            .time = now};
  }
  Use use(Token& pass) {
    const Renewal renewal = room.use(pass.id, pass.generation, pass.time, now);
    if (renewal.use == Use::renewed) {
      pass.generation = renewal.generation;
      pass.time = now;
    }
    return renewal.use;
  }
  bool has(std::uint64_t number) const { return room.has_session(id_of(number)); }

  WaitingRoom room{terms()};
  Time now = kStart;
  std::map<TicketId, Place> file;
  Time until{}, used_until{};
  std::size_t written_ids = 0;
  bool writes_uses = true;
};

}  // namespace

TEST_CASE(
    "after a restart a session ends by its last use, and the time without a process is none") {
  for (const bool writes_uses : {true, false}) {
    CAPTURE(writes_uses);
    Kept kept;
    kept.writes_uses = writes_uses;
    kept.enter(1);
    Token late = kept.enter(2);
    kept.pass(30 * kSecond);
    REQUIRE(kept.use(late) == Use::renewed);
    kept.pass(20 * kSecond);
    kept.begin_anew();
    kept.pass(29 * kSecond);  // 79 s since the one was used, 49 s since the other
    CHECK(kept.has(1));
    CHECK(kept.has(2));
    kept.pass(2 * kSecond);
    CHECK(kept.has(1) == !writes_uses);  // control: what is not known counts as used now
    CHECK(kept.has(2));
    kept.pass(30 * kSecond);
    CHECK(kept.has(2) == !writes_uses);
  }
}

TEST_CASE("a pass that was used in the last second goes on, though nothing is written of that") {
  Kept kept;
  Token pass = kept.enter(1);
  kept.pass(70 * kSecond);
  REQUIRE(kept.use(pass) == Use::renewed);  // and then the process is killed
  kept.begin_anew();
  kept.pass(60 * kSecond);
  CHECK_FALSE(kept.has(1));  // by what was written
  CHECK(kept.use(pass) == Use::renewed);
  CHECK(kept.has(1));

  Kept other;
  Token unused = other.enter(1);
  other.pass(70 * kSecond);
  other.begin_anew();
  other.pass(60 * kSecond);
  CHECK(other.use(unused) == Use::over);  // control
}

TEST_CASE("no pass lives longer than idle_ms by a second restart, also right after the first") {
  for (const Milliseconds between : {Milliseconds(0), 5 * kSecond, 100 * kTick}) {
    CAPTURE(between.count());
    Kept kept;
    Token pass = kept.enter(1);
    kept.pass(50 * kSecond);
    kept.begin_anew();
    kept.pass(between);
    kept.begin_anew();
    const Milliseconds left = 30 * kSecond - between;
    kept.pass(left - 2 * kSecond);
    CHECK(kept.has(1));
    kept.pass(4 * kSecond);
    CHECK_FALSE(kept.has(1));
    CHECK(kept.use(pass) == Use::over);
  }
}

TEST_CASE("of uses no more is written than one place a second of each session that was used") {
  Kept kept;
  Token busy = kept.enter(1);
  kept.enter(2);
  kept.pass(2 * kSecond);
  const std::size_t before = kept.written_ids;
  for (int n = 0; n < 100; ++n) {
    for (int each = 0; each < 50; ++each) kept.room.stay(busy.id, kept.now);
    kept.pass(kTick);
  }
  CHECK(kept.written_ids - before >= 9);
  CHECK(kept.written_ids - before <= 11);
  const std::size_t quiet = kept.written_ids;
  kept.pass(10 * kSecond);
  CHECK(kept.written_ids - quiet <= 1);
}

}  // namespace spillway::waiting
