// Performs a command of a visitor on a waiting room: immediately or, if other proxies share the
// room, through their log, which answers some milliseconds later.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/reason.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "waiting/replica/command.hpp"

namespace spillway::proxy {

// What a request needs to wait for the log.
struct RoomAsker {
  Services& services;
  Parking& parking;
};

// nullopt: the log does not answer. The command may still be performed.
Task<std::optional<waiting::Outcome>> ask_log(SharedWaitingRoom& room, waiting::Command command,
                                              RoomAsker asker);

// nullopt as above, if the room does not go on without its log either.
template <class C>
Task<std::optional<typename C::Result>> ask_room(SharedWaitingRoom& room, C command,
                                                 RoomAsker asker) {
  using Result = typename C::Result;
  if (!room.is_shared())
    co_return std::optional<Result>(room.perform(command, asker.services.now()));
  std::optional<waiting::Outcome> outcome =
      co_await ask_log(room, waiting::Command(command), asker);
  if (!outcome) co_return room.perform_apart(command, asker.services.now());
  co_return std::optional<Result>(std::get<Result>(*std::move(outcome)));
}

// Performs a command for a visitor's token, as ask_room(). In a shared room no row is written for a
// spent token, however often it is shown, and one address may write no more rows that change
// nothing than it may have tickets. Else one valid stamp, or an old ticket, would be enough to fill
// the log for all.
struct Holder {
  const waiting::Token& token;
  IpAddress client;
  const config::WaitingRoom& settings;
};
template <class Result>
struct HolderAnswer {
  std::optional<Result> result{};  // none: the log does not answer, or
  bool is_limited = false;         // there were too many
};
// Whether a row with this result has changed enough not to count against its client. `was_inside`:
// it had a session before. A pass that is only issued again counts against it.
inline bool is_change(const waiting::Renewal& renewal, bool) {
  const bool is_issued_again = renewal.age > Milliseconds(0);
  return renewal.use == waiting::Use::renewed && !is_issued_again;
}
inline bool is_change(const waiting::Claimed& claimed, bool was_inside) {
  return claimed.session && !was_inside;
}
inline bool is_change(const waiting::Extend::Result& extension, bool) {
  return extension && extension->is_granted;
}
inline bool is_change(bool was_here, bool) { return was_here; }

template <class C>
Task<HolderAnswer<typename C::Result>> ask_for_holder(SharedWaitingRoom& room, C command,
                                                      Holder holder, RoomAsker asker) {
  using Result = typename C::Result;
  const TimePoint now = asker.services.now();
  if (room.is_shared()) {
    if (room.is_spent(holder.token, now)) co_return HolderAnswer<Result>{.result = Result{}};
    // A called visitor must not miss its call because of others behind the same address.
    const bool may_write =
        room.is_called(holder.token.id, now) || room.may_write(holder.client, holder.settings, now);
    if (!may_write) co_return HolderAnswer<Result>{.is_limited = true};
  }
  const bool was_inside = room.has_session(holder.token.id);
  std::optional<Result> result = co_await ask_room(room, std::move(command), asker);
  if (room.is_shared() && result && is_change(*result, was_inside))
    room.wrote_a_change(holder.client, holder.settings);
  co_return HolderAnswer<Result>{.result = std::move(result)};
}

// Instantiated once, in room_question.cpp: each file's own coroutine frame has other names, which
// the link-time optimizer takes for a violation of the one-definition rule.
extern template Task<std::optional<waiting::Cancel::Result>> ask_room(SharedWaitingRoom&,
                                                                      waiting::Cancel, RoomAsker);
extern template Task<HolderAnswer<waiting::Cancel::Result>> ask_for_holder(SharedWaitingRoom&,
                                                                           waiting::Cancel, Holder,
                                                                           RoomAsker);

// A first contact. No row is written for a visitor that has to wait, or is turned away.
Task<std::optional<waiting::Arrived>> ask_to_arrive(SharedWaitingRoom& room,
                                                    waiting::Arrive arrival, RoomAsker asker);
// A contact with a stamp if places are offered: it makes no ticket.
Task<std::optional<waiting::WaitingRoom::Contact>> ask_for_offer(SharedWaitingRoom& room,
                                                                 waiting::Token stamp,
                                                                 RoomAsker asker);

// A second contact. `refused`: JOIN_LIMIT, this address has made too many tickets lately;
// WORK_REQUIRED, the room requires a valid proof of work. The stamp is still valid.
struct Joining {
  Reason refused = Reason::none;
  std::optional<waiting::WaitingRoom::Contact> contact{};
};
// Sent by the visitor: `ask`, where resources are handed out; `work`, a nonce, or empty.
struct Joiner {
  IpAddress client;
  std::string_view work;
};
Task<Joining> ask_to_join(SharedWaitingRoom& room, waiting::Token stamp, waiting::Ask ask,
                          Joiner joiner, const config::WaitingRoom& settings, RoomAsker asker);

}  // namespace spillway::proxy
