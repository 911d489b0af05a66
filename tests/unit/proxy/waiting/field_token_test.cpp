// What a program was given in a field is good for as long as its session, and what a browser was
// given in its cookie is renewed.
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string_view>

#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {
namespace {

using waiting::Carrier;
using waiting::Token;
using waiting::TokenKind;

constexpr Milliseconds kLonger{1};
constexpr Milliseconds kEach{5'000};

// A room of one place that a visitor has come to by a ticket, and what it shows from then on, on a
// clock of its own.
class Play {
 public:
  explicit Play(Carrier carrier) {
    Token stamp{TokenKind::stamp, {{7}}, 0, room_.time_at(now_)};
    stamp.carrier = carrier;
    REQUIRE(room_.perform(waiting::Join{{stamp}}, now_).has_joined);
    ticket_ = waiting::ticket_of(stamp, stamp.time);
    while (!claims()) tick(Milliseconds(100));
    begun_ = now_;
    pass_ = waiting::pass_of(ticket_, 1, room_.time_at(now_));
  }

  const Token& ticket() const { return ticket_; }
  const Token& pass() const { return pass_; }
  SharedWaitingRoom& room() { return room_; }
  TimePoint now() const { return now_; }
  const config::WaitingRoom& settings() const { return settings_; }

  void tick(Milliseconds time) {
    now_ += time;
    room_.tick(settings_, {}, now_);
  }
  // As the entrance of the route does.
  bool lets_in(const Token& token) {
    if (room_.keeps(token, now_)) return true;
    if (token.kind == TokenKind::ticket) return claims();
    const Milliseconds age = room_.time_at(now_) - token.time;
    if (token.generation > 0 && age < waiting::kRenewAfter) return true;
    const waiting::Use use = room_.perform(waiting::ShowPass{{token}}, now_).use;
    return use == waiting::Use::renewed || use == waiting::Use::kept;
  }
  // Shows it every five seconds, and takes no other. How long it is let in, up to `most`.
  Milliseconds stays(const Token& token, Milliseconds most) {
    while (now_ - begun_ <= most && lets_in(token)) tick(kEach);
    return std::chrono::duration_cast<Milliseconds>(now_ - begun_);
  }
  std::optional<waiting::Ended> why_over() {
    const auto end = room_.with(now_, [this](waiting::WaitingRoom& room, waiting::Time time) {
      return room.end_of(ticket_.id, time);
    });
    return end ? std::optional(end->why) : std::nullopt;
  }

 private:
  bool claims() { return room_.perform(waiting::Claim{{ticket_}}, now_).session.has_value(); }

  static config::WaitingRoom one_place() {
    config::WaitingRoom room;
    room.sessions.most = 1;
    room.opening.when = config::WaitingWhen::always;
    room.sessions.ttl = std::chrono::hours(1);
    room.sessions.idle = Milliseconds(120'000);
    return room;
  }

  const config::WaitingRoom settings_ = one_place();
  SharedWaitingRoom room_{
      "sale", settings_,
      std::make_shared<VisitorContext>(waiting::TokenKeys(HmacKey{}), SipKey{1, 2})};
  TimePoint now_ = Clock::now();
  TimePoint begun_{};
  Token ticket_;
  Token pass_;
};

// As it is sent back.
Token read_again(Play& play, const Token& token) {
  const waiting::TokenText text = play.room().sign(token, play.now());
  const auto read = play.room().verify({text.data(), text.size()}, play.now());
  REQUIRE(read);
  return *read;
}

}  // namespace

TEST_CASE("a program goes on with the one token that it was given until its session is over") {
  for (const TokenKind kind : {TokenKind::pass, TokenKind::ticket}) {
    CAPTURE(static_cast<char>(kind));
    Play play(Carrier::field);
    const Token kept = read_again(play, kind == TokenKind::pass ? play.pass() : play.ticket());
    const Milliseconds ttl = play.settings().sessions.ttl;
    CHECK(play.stays(kept, 2 * ttl) >= ttl);
    CHECK(play.stays(kept, 2 * ttl) <= ttl + kEach);
    CHECK(play.why_over() == waiting::Ended::too_long);
  }
}

TEST_CASE("control: a token of a cookie that is never exchanged for the next one ends as a copy") {
  for (const TokenKind kind : {TokenKind::pass, TokenKind::ticket}) {
    CAPTURE(static_cast<char>(kind));
    Play play(Carrier::cookie);
    const Token kept = read_again(play, kind == TokenKind::pass ? play.pass() : play.ticket());
    CHECK(play.stays(kept, play.settings().sessions.ttl) < Milliseconds(240'000));
    CHECK(play.why_over() == waiting::Ended::copied);
  }
}

TEST_CASE("a token of the field counts as long as its key does, also in the last hours of it") {
  for (const TokenKind kind : {TokenKind::pass, TokenKind::ticket}) {
    CAPTURE(static_cast<char>(kind));
    Play play(Carrier::field);
    const Token& token = kind == TokenKind::pass ? play.pass() : play.ticket();
    const auto signed_before = [&](std::chrono::hours age) {
      const waiting::TokenText text = play.room().sign(token, play.now() - age);
      return play.room().verify({text.data(), text.size()}, play.now());
    };
    constexpr auto kAccepted = waiting::TokenKeys::kKeyUse * waiting::TokenKeys::kFormerKeys;
    const auto worn = signed_before(kAccepted);
    REQUIRE(worn);
    REQUIRE(worn->is_worn);
    const Milliseconds ttl = play.settings().sessions.ttl;
    CHECK(play.stays(*worn, 2 * ttl) >= ttl);
    CHECK(play.why_over() == waiting::Ended::too_long);
    CHECK_FALSE(signed_before(kAccepted + waiting::TokenKeys::kKeyUse));  // the control
  }
}

TEST_CASE("a program that was idle is out, although its token was given in a field") {
  Play play(Carrier::field);
  CHECK(play.lets_in(play.pass()));
  const Milliseconds idle = play.settings().sessions.idle + waiting::kRenewAfter;
  play.tick(idle - kLonger);
  CHECK(play.lets_in(play.pass()));  // the control: just in time
  play.tick(idle + kLonger);
  CHECK_FALSE(play.lets_in(play.pass()));
  CHECK(play.why_over() == waiting::Ended::idle);
}

TEST_CASE("a program that never waited goes on with its first pass") {
  config::WaitingRoom settings;
  settings.sessions.most = 1;
  SharedWaitingRoom room(
      "sale", settings,
      std::make_shared<VisitorContext>(waiting::TokenKeys(HmacKey{}), SipKey{1, 2}));
  TimePoint now = Clock::now();
  REQUIRE(room.perform(waiting::Arrive{}, now).door == waiting::WaitingRoom::Door::enter);
  Token first{TokenKind::pass, {{7}}, 0, room.time_at(now)};
  first.carrier = Carrier::field;
  CHECK_FALSE(room.keeps(first, now));  // it is no session before it is shown
  REQUIRE(room.perform(waiting::ShowPass{{first}}, now).use == waiting::Use::renewed);
  for (const TimePoint end = now + std::chrono::minutes(30); now < end; now += kEach) {
    room.tick(settings, {}, now);
    REQUIRE(room.keeps(first, now));
  }
  Token in_cookie = first;
  in_cookie.carrier = Carrier::cookie;
  CHECK_FALSE(room.keeps(in_cookie, now));
}

TEST_CASE("a token of a cookie is none of a field, whatever carries it, and nothing makes it one") {
  Play play(Carrier::cookie);
  play.tick(waiting::kSlice + kEach);
  for (const Token& token : {play.pass(), play.ticket()}) {
    const Token read = read_again(play, token);
    CHECK(read.carrier == Carrier::cookie);
    CHECK(waiting::pass_of(read, 2, read.time).carrier == Carrier::cookie);
    CHECK_FALSE(play.room().keeps(read, play.now()));
  }
}

TEST_CASE("a session that has ended is not kept by a token, nor is one that never began") {
  Play play(Carrier::field);
  Token other = play.pass();
  other.id.bytes[0] ^= 1;
  CHECK_FALSE(play.room().keeps(other, play.now()));
  CHECK(play.room().keeps(play.pass(), play.now()));  // the control
  REQUIRE(play.room().perform(waiting::leave_of(play.pass()), play.now()));
  CHECK_FALSE(play.room().keeps(play.pass(), play.now()));
  CHECK_FALSE(play.room().keeps(play.ticket(), play.now()));
}

}  // namespace spillway::proxy
