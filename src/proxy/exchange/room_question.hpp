// Has a waiting room do something for a visitor: here and now or, if other proxies share it, by
// their log, which answers some milliseconds later.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/reason.hpp"
#include "proxy/exchange/services.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "waiting/command.hpp"

namespace spillway::proxy {

// Where a request waits for the log.
struct RoomAsker {
  Services& services;
  Parking& parking;
};

// nullopt: the log does not answer. It may still happen.
Task<std::optional<waiting::Outcome>> ask_log(SharedWaitingRoom& room, waiting::Command command,
                                              RoomAsker asker);

// Likewise, if the room does not go on without its log either.
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

// A first contact. A visitor that has to wait, or is turned away, writes no row.
Task<std::optional<waiting::WaitingRoom::Door>> ask_to_arrive(SharedWaitingRoom& room,
                                                              waiting::Arrive arrival,
                                                              RoomAsker asker);
// With a stamp, where places are offered: it makes no ticket.
Task<std::optional<waiting::WaitingRoom::Contact>> ask_for_offer(SharedWaitingRoom& room,
                                                                 waiting::Token stamp,
                                                                 RoomAsker asker);

// A second contact. `refused`: JOIN_LIMIT, of this address too many tickets were made lately;
// WORK_REQUIRED, the room takes work that counts. The stamp is still good.
struct Joining {
  Reason refused = Reason::none;
  std::optional<waiting::WaitingRoom::Contact> contact{};
};
// What the visitor sends with it: `ask`, where resources are handed out; `work`, a nonce, or empty.
struct Joiner {
  IpAddress client;
  std::string_view work;
};
Task<Joining> ask_to_join(SharedWaitingRoom& room, waiting::Token stamp, waiting::Ask ask,
                          Joiner joiner, const config::WaitingRoom& settings, RoomAsker asker);

}  // namespace spillway::proxy
