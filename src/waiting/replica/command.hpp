// The commands that change a waiting room, as values. A waiting room that several proxies share is
// changed only by commands, so that all proxies reach the same state (replica.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "waiting/room/waiting_room.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/token/token.hpp"

namespace spillway::waiting {

// `at`: the time at which it was counted. If it enters, its first pass is issued with this time,
// whichever proxy reads the result: its entry is found by that time.
struct Arrived {
  WaitingRoom::Door door = WaitingRoom::Door::full;
  Time at{};
};
// A first contact, as WaitingRoom::arrive(); `wants_ticket`: a program's, as ask_for_ticket().
struct Arrive {
  using Result = Arrived;
  Priority priority = 0;
  UserKey user{};
  bool wants_ticket = false;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.priority, self.user, self.wants_ticket);
  }
};

// A command with a visitor's token, for the member of WaitingRoom of the same name.
template <int kind>
struct ByToken {
  Token token;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.token);
  }
};
struct Join : ByToken<0> {
  using Result = WaitingRoom::Contact;
  Ask ask{};

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.token, self.ask);
  }
};
struct Offer : ByToken<1> {
  using Result = WaitingRoom::Contact;
};
// `view`: as from show_page(), if no session began.
struct Claimed {
  std::optional<Session> session{};
  std::optional<WaitingRoom::View> view{};
};
struct Claim : ByToken<2> {
  using Result = Claimed;
};
// As use(). `may_join`: if its first pass comes late, its visitor may get a ticket.
struct ShowPass : ByToken<3> {
  using Result = Renewal;
  bool may_join = false;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.token, self.may_join);
  }
};
struct Extend : ByToken<4> {
  using Result = std::optional<WaitingRoom::Grant>;
};

// `user`: TicketEvent::user. The name is not in the log: the proxy that got the request has it.
struct Reserve : ByToken<5> {
  using Result = std::optional<WaitingRoom::Grant>;
  std::string user{};
};

// Whether there was such a ticket or session. `why`: if not by its visitor.
struct Cancel {
  using Result = bool;
  TicketId id;
  Ended why = Ended::cancelled;
  std::optional<Time> issued{};  // for an entry that is no session yet: its first pass

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.id, self.why, self.issued);
  }
};
// The command of a visitor that leaves, with `token`.
inline Cancel leave_of(const Token& token) {
  Cancel leave{token.id};
  if (token.kind == TokenKind::pass && token.generation == 0) leave.issued = token.time;
  return leave;
}
struct GoBack {
  using Result = bool;
  TicketId id;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.id);
  }
};

// The operator's commands.
struct CallNext {
  using Result = std::variant<TicketId, NotCalled>;
  std::string type{};  // empty: any type

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.type);
  }
};
struct CallOne {
  using Result = CallNext::Result;
  TicketId id;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.id);
  }
};
struct Move {
  using Result = Moved;
  TicketId id;
  std::uint64_t ahead = 0;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.id, self.ahead);
  }
};
// Absent values stay as they are.
struct Decide {
  using Result = bool;  // true
  std::optional<bool> is_held_open{};
  std::optional<bool> is_paused{};
  std::optional<bool> has_ended{};
  std::optional<std::string> message{};

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.is_held_open, self.is_paused, self.has_ended, self.message);
  }
};

// A proxy's report, once a second. No request waits for it.
struct News {
  using Result = bool;           // true
  std::vector<TicketId> heard;   // tickets, as hear()
  std::vector<TicketId> stayed;  // sessions, as stay()
  WaitingRoom::Turned turned;
  std::vector<Place> back;       // as bring_back()
  std::optional<Terms> terms{};  // as set_terms()

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.heard, self.stayed, self.turned, self.back, self.terms);
  }
};

using Command = std::variant<Arrive, Join, Offer, Claim, ShowPass, Extend, Cancel, GoBack, CallNext,
                             Move, Decide, News, Reserve, CallOne>;

Arrived perform(WaitingRoom& room, const Arrive& command, Time now);
WaitingRoom::Contact perform(WaitingRoom& room, const Join& command, Time now);
WaitingRoom::Contact perform(WaitingRoom& room, const Offer& command, Time now);
Claimed perform(WaitingRoom& room, const Claim& command, Time now);
Renewal perform(WaitingRoom& room, const ShowPass& command, Time now);
std::optional<WaitingRoom::Grant> perform(WaitingRoom& room, const Extend& command, Time now);
bool perform(WaitingRoom& room, const Cancel& command, Time now);
bool perform(WaitingRoom& room, const GoBack& command, Time now);
CallNext::Result perform(WaitingRoom& room, const CallNext& command, Time now);
CallOne::Result perform(WaitingRoom& room, const CallOne& command, Time now);
Moved perform(WaitingRoom& room, const Move& command, Time now);
bool perform(WaitingRoom& room, const Decide& command, Time now);
bool perform(WaitingRoom& room, const News& command, Time now);
Reserve::Result perform(WaitingRoom& room, const Reserve& command, Time now);

// The Result of any command.
using Outcome = std::variant<std::monostate, Arrived, WaitingRoom::Contact, Claimed, Renewal,
                             Extend::Result, bool, CallNext::Result, Moved>;
Outcome perform(WaitingRoom& room, const Command& command, Time now);

}  // namespace spillway::waiting
