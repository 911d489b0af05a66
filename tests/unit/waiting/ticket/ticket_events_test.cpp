// What is told of tickets, in which order, and how much of it is kept.
#include "waiting/ticket/ticket_events.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/base64.hpp"
#include "config/choices.hpp"
#include "unit/waiting/crowd.hpp"
#include "waiting/ticket/webhook.hpp"

namespace spillway::waiting {
namespace {

constexpr EventSet kAll{true, true, true, true, true, true, true};

struct Hall {
  explicit Hall(std::uint32_t sessions, const EventSet& wanted = kAll)
      : room(terms_for(sessions, When::always)) {
    room.want_events(wanted);
  }

  void pass(Milliseconds time) {
    for (const Time until = now + time; now < until;) room.tick(now += kTick, kHealthy);
  }
  void join(std::uint64_t number) { room.join(id_of(number), now, now); }
  // "called 3", or with the position or the cause behind.
  std::vector<std::string> told() {
    std::vector<std::string> lines;
    for (const TicketEvent& one : room.take_events(TicketEvents::kMost)) {
      std::uint64_t number = 0;
      while (id_of(number) != one.id) ++number;
      std::string line(config::name(one.event));
      line += " " + std::to_string(number);
      if (one.position > 0) line += " at " + std::to_string(one.position);
      if (one.cause) line += " as " + std::string(name(*one.cause));
      lines.push_back(line);
    }
    return lines;
  }

  WaitingRoom room;
  Time now = kStart;
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a ticket's events: joined, called, fulfilled, each once and in order") {
  Hall hall(1);
  hall.join(0);
  hall.join(0);  // another tab
  hall.pass(kTick);
  REQUIRE(hall.room.claim(id_of(0), hall.now));
  hall.room.claim(id_of(0), hall.now);
  CHECK(hall.told() == Lines{"joined 0 at 1", "called 0", "fulfilled 0"});
  CHECK(hall.told().empty());
}

TEST_CASE("an end is told with its cause: by time it is expired, else cancelled") {
  Hall hall(1);
  for (std::uint64_t n = 0; n < 4; ++n) hall.join(n);
  hall.room.pause(true);
  hall.told();
  hall.room.cancel(id_of(0), hall.now);
  hall.room.cancel(id_of(1), hall.now, Ended::removed);
  CHECK(hall.told() == Lines{"cancelled 0 as cancelled", "cancelled 1 as removed"});
  hall.pass(hall.room.terms().abandon + hall.room.terms().abandon);
  CHECK(hall.told() == Lines{"expired 2 as abandoned", "expired 3 as abandoned"});
  hall.join(9);
  hall.room.end_room(true);
  hall.pass(kTick);
  CHECK(hall.told() == Lines{"joined 9 at 1", "cancelled 9 as room_ended"});
}

TEST_CASE("a position is told at half, a quarter and a tenth of the way, several as one") {
  Hall hall(1, {false, true, false, false, false, false});
  for (std::uint64_t n = 0; n <= 40; ++n) hall.join(n);
  auto leave_up_to = [&, gone = std::uint64_t{0}](std::uint64_t ahead) mutable {
    for (; 40 - gone > ahead; ++gone) hall.room.cancel(id_of(gone), hall.now);
    hall.room.hear(id_of(40), hall.now);
  };
  leave_up_to(21);
  CHECK(hall.told().empty());
  leave_up_to(20);
  CHECK(hall.told() == Lines{"position 40 at 21"});
  leave_up_to(11);
  CHECK(hall.told().empty());
  leave_up_to(4);
  CHECK(hall.told() == Lines{"position 40 at 5"});
  CHECK(hall.room.hear(id_of(40), hall.now)->steps == 3);
  leave_up_to(0);
  CHECK(hall.told().empty());
}

TEST_CASE("who is not heard of is told no position, nor one of a short way") {
  Hall hall(1, {false, true, false, false, false, false});
  for (std::uint64_t n = 0; n <= 40; ++n) hall.join(n);
  for (std::uint64_t n = 0; n < 40; ++n) hall.room.cancel(id_of(n), hall.now);
  CHECK(hall.told().empty());  // 40 has not asked since
  for (std::uint64_t n = 100; n < 110; ++n) hall.join(n);
  for (std::uint64_t n = 100; n < 109; ++n) hall.room.cancel(id_of(n), hall.now);
  hall.room.hear(id_of(109), hall.now);  // ten were ahead: 40, and nine of these
  CHECK(hall.told() == Lines{"position 109 at 2"});
  for (std::uint64_t n = 200; n < 208; ++n) hall.join(n);
  for (std::uint64_t n = 200; n < 207; ++n) hall.room.cancel(id_of(n), hall.now);
  hall.room.hear(id_of(207), hall.now);  // nine were ahead: 40, 109, and seven of these
  CHECK(hall.told().empty());
}

TEST_CASE("nothing is noted of what nobody wants") {
  Hall hall(1, {});
  hall.join(0);
  hall.pass(kTick);
  hall.room.claim(id_of(0), hall.now);
  CHECK(hall.told().empty());
  hall.room.want_events({false, false, false, true, false, false});
  CHECK(hall.told().empty());
  hall.join(1);
  hall.room.cancel(id_of(0), hall.now);
  hall.pass(Milliseconds(2'000));
  REQUIRE(hall.room.claim(id_of(1), hall.now));
  CHECK(hall.told() == Lines{"fulfilled 1"});
  CHECK(hall.room.counts(hall.now).events_lost == 0);
}

TEST_CASE("beyond the bound events are left out and counted, and the oldest are kept") {
  TicketEvents ticket_events;
  ticket_events.want(kAll);
  const auto note = [&](std::uint64_t from, std::uint64_t count) {
    for (std::uint64_t n = from; n < from + count; ++n) ticket_events.note({.id = id_of(n)});
  };
  note(0, TicketEvents::kMost + 3);
  CHECK(ticket_events.lost() == 3);
  CHECK(ticket_events.take(2).back().id == id_of(1));
  note(50'000, 3);
  CHECK(ticket_events.lost() == 4);
  const auto rest = ticket_events.take(TicketEvents::kMost);
  REQUIRE(rest.size() == TicketEvents::kMost);
  CHECK(rest.front().id == id_of(2));
  CHECK(rest.back().id == id_of(50'001));
  CHECK(ticket_events.take(1).empty());
}

TEST_CASE("what a webhook is sent") {
  TicketEvent one{.event = Event::expired, .id = {}, .at = kStart, .waited = Milliseconds(61'000)};
  one.cause = Ended::not_claimed;
  const std::string body = webhook_body(one, "sale", "vip");
  CHECK(body ==
        R"({"event":"expired","room":"sale","ticket":"00000000000000000000000000000000",)"
        R"("tier":"vip","waited_ms":61000,"cause":"not_claimed","at":"2025-11-24T16:00:00.000Z"})");
  one = {.event = Event::position, .id = {}, .at = kStart, .position = 21};
  CHECK(webhook_body(one, "sale", "vip").find("\"position\":21,\"at\"") != std::string::npos);
  one = {.event = Event::called, .id = {}, .at = kStart, .is_reserved = true};
  one.claim = Milliseconds(900'000);
  CHECK(webhook_body(one, "sale", "vip").find(R"(,"reserved":true,"claim_ms":900000,"at")") !=
        std::string::npos);
  one = {
      .event = Event::reserved, .id = {}, .at = kStart, .is_reserved = true, .user = R"("a\"b")"};
  CHECK(webhook_body(one, "sale", "vip").find(R"(,"reserved":true,"user":"a\"b","at")") !=
        std::string::npos);
}

// Computed with another implementation:
//   printf 'msg.1764000000.{}' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707... -binary
TEST_CASE("a webhook's signature is that of its id, its time and its body") {
  HmacKey key;
  key.fill(7);
  CHECK(webhook_fields(key, "msg", kStart, "{}") ==
        "Webhook-Id: msg\r\nWebhook-Timestamp: 1764000000\r\n"
        "Webhook-Signature: v1,Frnh4InIm+dbzccU6RpyQgtuwutTEDXH7c46oGF8dno=\r\n");
  CHECK(webhook_fields(key, "msg", kStart, "{ }") != webhook_fields(key, "msg", kStart, "{}"));
}

}  // namespace spillway::waiting
