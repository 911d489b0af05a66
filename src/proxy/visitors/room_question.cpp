#include "proxy/visitors/room_question.hpp"

#include <memory>

#include "proxy/net/timed_letter.hpp"
#include "proxy/visitors/visitor_status.hpp"

namespace spillway::proxy {

namespace {

using waiting::WaitingRoom;

// Longer than it takes to detect that the log does not answer.
constexpr Duration kLogPatience = std::chrono::milliseconds(2'500);

// For a visitor with a stamp that is turned away, or waits without a ticket. nullopt: ask the log.
std::optional<WaitingRoom::Contact> look_first(SharedWaitingRoom& room, const waiting::Token& stamp,
                                               TimePoint now) {
  return room.is_shared() ? room.look_at_offer(stamp, now) : std::nullopt;
}

// Whether the challenge is met; counts the verdict. Every way to a ticket leads through here; a
// stamp that has a ticket already makes no other one.
bool judge_work(SharedWaitingRoom& room, const waiting::Token& stamp, std::string_view nonce,
                const config::WaitingRoom& settings, TimePoint now) {
  const auto challenge = challenge_of(settings, stamp);
  if (!challenge) return true;
  const waiting::Work work = waiting::check_work(*challenge, nonce);
  if (work != waiting::Work::done &&
      room.with(now, [&](WaitingRoom& it, waiting::Time) { return it.peek(stamp.id).has_value(); }))
    return true;
  room.tally().count_work(work);
  return work == waiting::Work::done;
}

}  // namespace

template Task<std::optional<waiting::Cancel::Result>> ask_room(SharedWaitingRoom&, waiting::Cancel,
                                                               RoomAsker);
template Task<HolderAnswer<waiting::Cancel::Result>> ask_for_holder(SharedWaitingRoom&,
                                                                    waiting::Cancel, Holder,
                                                                    RoomAsker);

Task<std::optional<waiting::Outcome>> ask_log(SharedWaitingRoom& room, waiting::Command command,
                                              RoomAsker asker) {
  const auto answered = std::make_shared<TimedLetter>(asker.services.mailbox, asker.parking);
  const auto call =
      std::make_shared<RoomCall>(std::move(command), [answered] { answered->deliver(); });
  const bool is_taken = room.outbox().submit(call);
  if (!is_taken) co_return std::nullopt;
  const TimePoint until = asker.services.now() + kLogPatience;
  const bool is_answered = co_await answered->wait(asker.services.loop, until);
  if (!is_answered) co_return std::nullopt;
  co_return call->outcome;
}

Task<std::optional<waiting::Arrived>> ask_to_arrive(SharedWaitingRoom& room,
                                                    waiting::Arrive arrival, RoomAsker asker) {
  if (room.is_shared()) {
    const TimePoint now = asker.services.now();
    const WaitingRoom::Door door = room.look_at_door(arrival, now);
    if (door != WaitingRoom::Door::enter) co_return waiting::Arrived{door, room.time_at(now)};
  }
  const auto arrived = co_await ask_room(room, arrival, asker);
  co_return arrived;
}

Task<std::optional<WaitingRoom::Contact>> ask_for_offer(SharedWaitingRoom& room,
                                                        waiting::Token stamp, RoomAsker asker) {
  const auto seen = look_first(room, stamp, asker.services.now());
  if (seen) co_return seen;
  const auto contact = co_await ask_room(room, waiting::Offer{{stamp}}, asker);
  co_return contact;
}

Task<Joining> ask_to_join(SharedWaitingRoom& room, waiting::Token stamp, waiting::Ask ask,
                          Joiner joiner, const config::WaitingRoom& settings, RoomAsker asker) {
  const IpAddress client = joiner.client;
  if (!judge_work(room, stamp, joiner.work, settings, asker.services.now()))
    co_return Joining{.refused = Reason::work_required};
  if (!room.may_join(client, settings, asker.services.now()))
    co_return Joining{.refused = Reason::join_limit};
  if (!room.may_have_more(client, stamp, settings, asker.services.now())) {
    room.did_not_join(client, settings);
    co_return Joining{.refused = Reason::join_limit};
  }
  if (room.is_shared()) {
    // It has its ticket already: no row is written, however often it asks with the stamp.
    auto view = room.look_at_place(stamp.id, asker.services.now());
    if (view) {
      room.did_not_join(client, settings);
      co_return Joining{.contact =
                            WaitingRoom::Contact{.door = WaitingRoom::Door::wait, .view = view}};
    }
  }
  Joining joining{.contact = look_first(room, stamp, asker.services.now())};
  // An existing session is found by a row, which changes nothing.
  const bool is_repeat = room.is_shared() && room.has_session(stamp.id);
  if (!joining.contact || joining.contact->door == WaitingRoom::Door::wait) {
    const waiting::Join join{{stamp}, std::move(ask)};
    const auto contact = co_await ask_room(room, join, asker);
    joining.contact = contact;
    // Places cannot be stored: handled like a log that does not answer.
    const bool is_held = contact && contact->door == WaitingRoom::Door::wait && !contact->view;
    if (is_held) joining.contact.reset();
  }
  const bool has_joined = joining.contact && joining.contact->has_joined;
  if (!has_joined && !is_repeat) room.did_not_join(client, settings);
  if (has_joined) room.has_joined(client, stamp, asker.services.now());
  co_return joining;
}

}  // namespace spillway::proxy
