// A waiting room that is shared with other proxies. The test writes its log, and with it what the
// room itself wants written.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {

class LoggedRoom {
 public:
  explicit LoggedRoom(config::WaitingRoom settings) : settings_(std::move(settings)) {
    room_.share(std::make_unique<RoomOutbox>([] {}));
    write(waiting::News{.terms = waiting::terms_of(settings_)});
  }

  static waiting::TicketId id_of(std::uint8_t number) { return {{number}}; }

  // A row, as of now.
  waiting::Outcome write(waiting::Command command) {
    ++rows_;
    return room_.apply({id_of(200), rows_, {}, {std::move(command)}}, room_.time_at(now_), true)
        .back();
  }
  template <class C>
  typename C::Result ask(C command) {
    return std::get<typename C::Result>(write(std::move(command)));
  }
  // What it wants written becomes rows. How many commands these are.
  std::size_t write_calls() {
    const RoomOutbox::Calls calls = room_.outbox().take_calls();
    for (const auto& call : calls) write(call->command);
    return calls.size();
  }
  // With a row each second, as proxies write it.
  void pass(Milliseconds time) {
    for (const TimePoint until = now_ + time; now_ < until;) {
      now_ += Milliseconds(1000);
      write(room_.outbox().take_news());
    }
  }
  // Without: what is written meanwhile is not read yet.
  void pass_without_rows(Milliseconds time) { now_ += time; }

  waiting::Token token(waiting::TokenKind kind, std::uint8_t number, std::uint32_t generation = 0) {
    return {kind, id_of(number), generation, room_.time_at(now_)};
  }
  // It has come in without a wait, and this is its first pass.
  waiting::Token enter(std::uint8_t number) {
    const waiting::Arrived arrived = ask(waiting::Arrive{});
    REQUIRE(arrived.door == waiting::WaitingRoom::Door::enter);
    return {waiting::TokenKind::pass, id_of(number), 0, arrived.at};
  }
  waiting::Counts counts() { return room_.counts(now_); }
  SharedWaitingRoom& room() { return room_; }
  TimePoint now() const { return now_; }
  const config::WaitingRoom& settings() const { return settings_; }

 private:
  const config::WaitingRoom settings_;
  SharedWaitingRoom room_{
      "sale", settings_,
      std::make_shared<VisitorContext>(waiting::TokenKeys(HmacKey{}), SipKey{1, 2})};
  TimePoint now_ = Clock::now();
  std::uint64_t rows_ = 0;
};

inline config::WaitingRoom room_of_sessions(std::uint32_t sessions) {
  config::WaitingRoom room;
  room.sessions.most = sessions;
  return room;
}

}  // namespace spillway::proxy
