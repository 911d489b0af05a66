#include "waiting/replica/command.hpp"

namespace spillway::waiting {

namespace {

void recover(WaitingRoom& room, const Token& token, Time now) {
  room.recover(token.id, token.time, now, token.priority, token.user, token.wish);
}

}  // namespace

Arrived perform(WaitingRoom& room, const Arrive& command, Time now) {
  return {command.wants_ticket ? room.ask_for_ticket(now, command.priority, command.user)
                               : room.arrive(now, command.priority, command.user),
          now};
}

WaitingRoom::Contact perform(WaitingRoom& room, const Join& command, Time now) {
  const Token& stamp = command.token;
  return room.join(stamp.id, stamp.time, now, stamp.priority, stamp.user, command.ask);
}

WaitingRoom::Contact perform(WaitingRoom& room, const Offer& command, Time now) {
  const Token& stamp = command.token;
  return room.offer(stamp.id, now, stamp.priority, stamp.user);
}

Claimed perform(WaitingRoom& room, const Claim& command, Time now) {
  recover(room, command.token, now);
  Claimed claimed{.session = room.claim(command.token.id, now)};
  if (!claimed.session) claimed.view = room.show_page(command.token.id, now);
  return claimed;
}

Renewal perform(WaitingRoom& room, const ShowPass& command, Time now) {
  const Token& pass = command.token;
  // A session whose beginning was not stored gets its resource, or one as good, by its wish.
  if (pass.wish && pass.generation > 0) recover(room, pass, now);
  return room.use(pass.id, pass.generation, pass.time, now, pass.user,
                  {.priority = pass.priority, .may_join = command.may_join});
}

std::optional<WaitingRoom::Grant> perform(WaitingRoom& room, const Extend& command, Time now) {
  recover(room, command.token, now);
  return room.extend(command.token.id, now);
}

// The operator can only cancel tickets and sessions that it can see.
bool perform(WaitingRoom& room, const Cancel& command, Time now) {
  const bool may = command.why != Ended::removed || room.inspect(command.id, now);
  return may && room.cancel(command.id, now, command.why, command.issued);
}

bool perform(WaitingRoom& room, const GoBack& command, Time now) {
  return room.go_back(command.id, now);
}

CallNext::Result perform(WaitingRoom& room, const CallNext& command, Time now) {
  return room.call_next(now, command.type);
}

CallOne::Result perform(WaitingRoom& room, const CallOne& command, Time now) {
  return room.call_one(command.id, now);
}

Moved perform(WaitingRoom& room, const Move& command, Time) {
  return room.move(command.id, command.ahead);
}

bool perform(WaitingRoom& room, const Decide& command, Time) {
  if (command.is_held_open) room.hold_open(*command.is_held_open);
  if (command.is_paused) room.pause(*command.is_paused);
  if (command.message) room.tell(*command.message);
  if (command.has_ended) room.end_room(*command.has_ended);
  return true;
}

bool perform(WaitingRoom& room, const News& command, Time now) {
  if (command.terms) room.set_terms(*command.terms, now);
  room.bring_back(command.back, now);
  for (const TicketId& id : command.heard) room.hear(id, now);
  for (const TicketId& id : command.stayed) room.stay(id, now);
  room.count(command.turned, now);
  return true;
}

Reserve::Result perform(WaitingRoom& room, const Reserve& command, Time now) {
  recover(room, command.token, now);
  return room.reserve(command.token.id, now, command.user);
}

Outcome perform(WaitingRoom& room, const Command& command, Time now) {
  return std::visit([&](const auto& each) { return Outcome(perform(room, each, now)); }, command);
}

}  // namespace spillway::waiting
