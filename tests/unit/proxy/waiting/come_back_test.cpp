// What a proxy tells the others once it reaches their log again. The test writes the log itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {
namespace {

using waiting::Ended;
using waiting::Place;
using waiting::TicketId;

TicketId session_of(std::uint8_t number) { return {{number}}; }

// The room of one proxy, with a few sessions that all know.
class CutOffRoom {
 public:
  explicit CutOffRoom(config::OnStoreFailure on_failure) : settings_(with(on_failure)) {
    room_.share(std::make_unique<RoomOutbox>([] {}));
    write(waiting::News{.terms = waiting::terms_of(settings_)});
    for (std::uint8_t number = 1; number <= kSessions; ++number) {
      write(waiting::Arrive{});
      waiting::Token pass{waiting::TokenKind::pass, session_of(number), 0, room_.time_at(now_)};
      write(waiting::ShowPass{{pass}});
      REQUIRE(is_inside(number));
    }
  }

  static constexpr std::uint8_t kSessions = 4;

  void write(waiting::Command command) {
    now_ += kEach;
    room_.apply({session_of(100), ++rows_, {}, {std::move(command)}}, room_.time_at(now_), true);
  }
  void cut_off() {
    room_.cut_off();
    tick();
  }
  void tick() {
    now_ += kEach;
    room_.tick(settings_, {}, now_);
  }
  void reload(config::OnStoreFailure on_failure) { settings_.on_store_failure = on_failure; }
  // A first contact while it goes on by itself.
  waiting::WaitingRoom::Door arrives_apart() {
    now_ += kEach;
    const auto arrived = room_.perform_apart(waiting::Arrive{}, now_);
    REQUIRE(arrived);
    return arrived->door;
  }
  std::optional<bool> end_apart(std::uint8_t number, Ended why) {
    now_ += kEach;
    return room_.perform_apart(waiting::Cancel{.id = session_of(number), .why = why}, now_);
  }
  // All are asked after meanwhile.
  std::vector<Place> come_back() {
    now_ += kEach;
    std::vector<TicketId> all;
    for (std::uint8_t number = 1; number <= kSessions; ++number) all.push_back(session_of(number));
    return room_.come_back(all, now_);
  }
  bool is_inside(std::uint8_t number) {
    return room_.with(now_, [number](waiting::WaitingRoom& room, waiting::Time) {
      return room.has_session(session_of(number));
    });
  }

 private:
  static constexpr Milliseconds kEach{200};

  static config::WaitingRoom with(config::OnStoreFailure on_failure) {
    config::WaitingRoom room;
    room.sessions.most = 2 * kSessions;
    room.on_store_failure = on_failure;
    return room;
  }

  config::WaitingRoom settings_;
  SharedWaitingRoom room_{
      "sale", settings_,
      std::make_shared<VisitorContext>(waiting::TokenKeys(HmacKey{}), SipKey{1, 2})};
  TimePoint now_ = Clock::now();
  std::uint64_t rows_ = 0;
};

const Place* told_of(const std::vector<Place>& places, std::uint8_t number) {
  const auto found = std::ranges::find(places, session_of(number), &Place::id);
  return found != places.end() ? &*found : nullptr;
}

TEST_CASE("an end that the log knew before the cut is not told again: its visitor may be back") {
  CutOffRoom room(config::OnStoreFailure::open);
  room.write(waiting::Cancel{.id = session_of(1)});
  REQUIRE_FALSE(room.is_inside(1));
  room.cut_off();
  REQUIRE(room.end_apart(2, Ended::cancelled) == true);
  REQUIRE(room.end_apart(3, Ended::copied) == true);
  const std::vector<Place> told = room.come_back();
  CHECK(told_of(told, 1) == nullptr);
  // The controls: what has ended meanwhile, with the cause, and what goes on.
  for (const auto& [number, why] : {std::pair(2, Ended::cancelled), std::pair(3, Ended::copied)}) {
    const Place* const left = told_of(told, static_cast<std::uint8_t>(number));
    REQUIRE(left != nullptr);
    CHECK(left->kind == Place::Kind::left);
    CHECK(left->why == why);
  }
  REQUIRE(told_of(told, 4) != nullptr);
  CHECK(told_of(told, 4)->kind == Place::Kind::session);
}

TEST_CASE("a reload to hold during an outage holds newcomers, and one to open lets them in again") {
  using Door = waiting::WaitingRoom::Door;
  CutOffRoom room(config::OnStoreFailure::open);
  room.cut_off();
  CHECK(room.arrives_apart() == Door::enter);
  room.reload(config::OnStoreFailure::hold);
  room.tick();
  CHECK(room.arrives_apart() == Door::wait);
  CHECK(room.is_inside(1));
  REQUIRE(room.end_apart(2, Ended::cancelled) == true);  // a visitor that leaves has left
  room.reload(config::OnStoreFailure::open);
  for (int n = 0; n < 150; ++n) room.tick();  // each visitor with a stamp comes within 26 s
  CHECK(room.arrives_apart() == Door::enter);
  CHECK(told_of(room.come_back(), 2)->kind == Place::Kind::left);
}

TEST_CASE("a proxy that was cut off and let nothing end tells of no end") {
  CutOffRoom room(config::OnStoreFailure::hold);
  room.write(waiting::Cancel{.id = session_of(1)});
  room.cut_off();
  CHECK_FALSE(room.end_apart(2, Ended::cancelled));
  const std::vector<Place> told = room.come_back();
  CHECK(told_of(told, 1) == nullptr);
  for (const std::uint8_t number : {2, 3, 4}) {
    REQUIRE(told_of(told, number) != nullptr);
    CHECK(told_of(told, number)->kind == Place::Kind::session);
  }
}

}  // namespace
}  // namespace spillway::proxy
