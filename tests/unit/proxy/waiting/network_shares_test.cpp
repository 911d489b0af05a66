// Which part of a line one network may have.
#include "proxy/waiting/network_shares.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>

#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {
namespace {

IpAddress address(const std::string& text) { return *parse_ip_address(text); }
std::string network(int number) {
  return "198." + std::to_string(number / 250) + "." + std::to_string(number % 250) + ".";
}

// A line with so many places, and who is in it.
struct Line {
  double places = 1000;
  double share = 0.5;
  NetworkShares shares{{1, 2}};
  std::size_t tickets = 0;

  waiting::Space space() const { return {static_cast<double>(tickets), places}; }
  bool joins(const std::string& client) {
    if (space().free() <= 0) return false;
    if (!shares.may_have_more(address(client), tickets, space(), share)) return false;
    shares.add(address(client), tickets++);
    return true;
  }
  // The addresses of one network, in turn.
  int joined(const std::string& network, int visitors) {
    int count = 0;
    for (int n = 0; n < visitors; ++n)
      count += joins(network + std::to_string(1 + n % 250)) ? 1 : 0;
    return count;
  }
};

}  // namespace

TEST_CASE("one network gets half of a line, and others still get places") {
  Line line;
  CHECK(line.joined("203.0.113.", 5000) == 500);
  CHECK(line.joined("203.0.113.", 100) == 0);
  // Many small ones have the rest.
  int others = 0;
  for (int n = 0; n < 480; ++n) others += line.joined(network(n), 1);
  CHECK(others == 480);
  CHECK(line.joined("203.0.113.", 100) == 0);

  Line control{.share = 1};
  CHECK(control.joined("203.0.113.", 5000) == 1000);
  CHECK(control.joined(network(1), 1) == 0);
}

TEST_CASE(
    "thousands behind one address get in while there is room, and networks are alike beyond") {
  Line line{.places = 12'200};
  CHECK(line.joined("203.0.113.", 6000) == 6000);  // a university
  Line rush;
  std::map<int, int> has;
  for (int n = 0; n < 10'000; ++n) has[n % 4] += rush.joined(network(n % 4), 1);
  for (int n = 0; n < 4; ++n) {
    CHECK(has[n] >= 195);  // a fifth each, and a fifth is free
    CHECK(has[n] <= 205);
  }
  CHECK(rush.joined(network(7), 100) == 100);
}

TEST_CASE("a network that comes when others have all they may have still gets some places") {
  Line line;
  for (int turn = 0; turn < 2000; ++turn) {
    for (int n = 0; n < 20; ++n) line.joined(network(n), 1);
  }
  CHECK(line.tickets > 900);
  CHECK(line.space().free() > 20);
  CHECK(line.joined(network(99), 20) == 20);
}

TEST_CASE("as the line moves on a network may have more") {
  Line line;
  CHECK(line.joined("203.0.113.", 5000) == 500);
  line.tickets = 250;
  CHECK(line.joined("203.0.113.", 5000) == 250);
  line.tickets = 0;
  CHECK(line.joined("203.0.113.", 5000) == 500);
  // However often: counts stay what they are.
  for (int n = 0; n < 200'000; ++n) {
    line.tickets -= line.tickets > 100 ? 1 : 0;
    line.joins("203.0.113.7");
  }
  CHECK(line.tickets >= 499);
  CHECK(line.tickets <= 501);
}

TEST_CASE("a few places of a small line are any network's") {
  Line line{.places = 12};
  CHECK(line.joined("203.0.113.", 100) == 10);
  CHECK(line.joined(network(1), 1) == 1);
}

TEST_CASE("of an empty part of the line a network with many tickets elsewhere gets its share") {
  Line line;
  REQUIRE(line.joined("203.0.113.", 500) == 500);
  const auto may_have_more = [&](double taken) {
    return line.shares.may_have_more(address("203.0.113.1"), line.tickets, {taken, 20}, 0.5);
  };
  CHECK(may_have_more(0));
  CHECK(may_have_more(9));
  CHECK_FALSE(may_have_more(10));
}

TEST_CASE("of a full line a network has no more than a few") {
  Line line;
  REQUIRE(line.joined("203.0.113.", 5000) == 500);
  const auto may_have_more = [&](const std::string& client, double taken) {
    return line.shares.may_have_more(address(client), 1000, {taken, 1000}, 0.5);
  };
  CHECK_FALSE(may_have_more("203.0.113.1", 999));
  CHECK_FALSE(may_have_more("203.0.113.1", 1000));
  CHECK_FALSE(may_have_more("203.0.113.1", 1200));
  CHECK(may_have_more("198.51.100.1", 1200));
}

TEST_CASE("a full line refuses a second contact by itself, and the share a late first pass") {
  config::WaitingRoom settings;
  settings.opening.when = config::WaitingWhen::always;
  settings.sessions.most = 1;
  settings.tickets.max_wait = Milliseconds(600'000);
  SharedWaitingRoom room(
      "sale", settings,
      std::make_shared<VisitorContext>(waiting::TokenKeys(HmacKey{}), SipKey{1, 2}));
  const TimePoint now = Clock::now();
  const auto token = [&](waiting::TokenKind kind, std::uint8_t number) {
    return waiting::Token{kind, {{number}}, 0, room.time_at(now)};
  };
  using Kind = waiting::TokenKind;
  std::uint8_t joined = 0;
  while (joined < 200) {
    const waiting::Token stamp = token(Kind::stamp, static_cast<std::uint8_t>(joined + 1));
    if (!room.perform(waiting::Join{{stamp}}, now).has_joined) break;
    room.has_joined(address("203.0.113.1"), stamp, now);
    ++joined;
  }
  REQUIRE(joined > NetworkShares::kFew);
  REQUIRE(joined < 200);
  const auto may_have_more = [&](const std::string& client, Kind kind) {
    return room.may_have_more(address(client), token(kind, 250), settings, now);
  };
  CHECK(may_have_more("203.0.113.1", Kind::stamp));
  CHECK_FALSE(may_have_more("203.0.113.1", Kind::pass));
  CHECK(may_have_more("198.51.100.1", Kind::pass));
}

TEST_CASE("tickets of visitors that are away and not expected are a network's all the same") {
  Line line;
  REQUIRE(line.joined("203.0.113.", 60) == 60);
  const auto may_have_more = [&](double away) {
    return line.shares.may_have_more(address("203.0.113.1"), line.tickets, {30, 80, away}, 0.5);
  };
  CHECK_FALSE(may_have_more(30));
  CHECK(may_have_more(0));  // the control: the other ones are elsewhere
}

TEST_CASE("verified users count for no network, unless nothing bounds them") {
  for (const std::uint32_t per_user : {1U, 0U}) {
    CAPTURE(per_user);
    config::WaitingRoom settings;
    settings.opening.when = config::WaitingWhen::always;
    settings.tickets.most = 100;
    settings.tickets.max_wait = std::chrono::hours(24);
    settings.tickets.per_user = per_user;
    SharedWaitingRoom room(
        "sale", settings,
        std::make_shared<VisitorContext>(waiting::TokenKeys(HmacKey{}), SipKey{1, 2}));
    const TimePoint now = Clock::now();
    const IpAddress client = address("203.0.113.1");
    for (std::uint8_t n = 1; n <= 60; ++n) {
      waiting::Token stamp{waiting::TokenKind::stamp, {{n}}, 0, room.time_at(now)};
      stamp.user.bytes[0] = n;
      REQUIRE(room.perform(waiting::Join{{stamp}}, now).has_joined);
      room.has_joined(client, stamp, now);
    }
    const waiting::Token stamp{waiting::TokenKind::stamp, {{100}}, 0, room.time_at(now)};
    CHECK(room.may_have_more(client, stamp, settings, now) == (per_user > 0));
  }
}

TEST_CASE("a network is a /24 or a /48; addresses that are of nobody known are not counted") {
  Line line;
  CHECK(line.joined("203.0.113.", 5000) == 500);
  CHECK_FALSE(line.joins("203.0.113.251"));
  CHECK(line.joins("203.0.114.1"));
  Line six;
  for (int n = 0; n < 1000; ++n) six.joins("2001:db8:1:" + std::to_string(n) + "::1");
  CHECK(six.tickets == 500);
  CHECK(six.joins("2001:db8:2::1"));
  for (const char* const own : {"127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.1",
                                "169.254.1.1", "::1", "fd00::1", "fe80::1"}) {
    Line intranet{.places = 100};
    for (int n = 0; n < 200; ++n) intranet.joins(own);
    CHECK(intranet.tickets == 100);
  }
  for (const char* const other : {"11.0.0.1", "172.32.0.1", "192.169.0.1", "2001:db8::1"})
    CHECK(says_who(address(other)));
}

}  // namespace spillway::proxy
