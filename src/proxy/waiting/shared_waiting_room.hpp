// A waiting room that all workers share. Thread-safe: each call is a lookup or two under a lock,
// and floods are turned away before it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "observe/snapshot/snapshot.hpp"
#include "proxy/waiting/address_limit.hpp"
#include "proxy/waiting/event_seat.hpp"
#include "proxy/waiting/keys_in_force.hpp"
#include "proxy/waiting/network_shares.hpp"
#include "proxy/waiting/poll_holds.hpp"
#include "proxy/waiting/room_outbox.hpp"
#include "proxy/waiting/room_tally.hpp"
#include "proxy/waiting/visitor_clock.hpp"
#include "traffic/classify/classify.hpp"
#include "waiting/pace/entry_pace.hpp"
#include "waiting/replica/replica.hpp"
#include "waiting/room/waiting_room.hpp"
#include "waiting/terms/configured.hpp"
#include "waiting/token/challenge.hpp"
#include "waiting/token/token.hpp"

namespace spillway::proxy {

// Whether places are stored.
enum class PlaceKeeping : std::uint8_t { is_off, works, fails };

// State that all waiting rooms of the process share.
struct VisitorContext {
  VisitorContext(const waiting::TokenKeys& made, SipKey addresses)
      : keys(made), address_key(addresses), bad_signatures(addresses), passes(addresses) {}
  KeysInForce keys;  // set by the keeper of places before any visitor has come, and at replacements
  const SipKey address_key;
  AddressLimit bad_signatures;  // of visitors' trusted_tokens
  HashedBuckets passes;         // by id: requests in the class of admitted visitors
  VisitorClock clock;
  CappedCounter event_seats;  // number of seats taken
  std::atomic<PlaceKeeping> keeping{PlaceKeeping::is_off};
  // If a log that others write as well does not answer: since when, in milliseconds; else 0.
  std::atomic<std::int64_t> cut_off_since{0};
};

class SharedWaitingRoom {
 public:
  SharedWaitingRoom(std::string name, const config::WaitingRoom& settings,
                    std::shared_ptr<VisitorContext> context)
      : name_(std::move(name)),
        cookies_{"__Host-spillway-" + name_, "spillway-" + name_},
        context_(std::move(context)),
        joins_(context_->address_key),
        rows_(context_->address_key),
        shares_(context_->address_key),
        entries_(context_->address_key),
        given_(terms_of(settings)),
        inside_(given_),
        pace_(settings.sessions.most) {
    inside_.own().want_events(waiting::wanted_events(settings));
  }
  SharedWaitingRoom(const SharedWaitingRoom&) = delete;
  SharedWaitingRoom& operator=(const SharedWaitingRoom&) = delete;

  const std::string& name() const { return name_; }
  // The names of its cookie: for HTTPS, and for plain HTTP. A browser accepts the first only with
  // Secure, for the whole host, and from the host itself (draft-ietf-httpbis-rfc6265bis section
  // 4.1.3): a sister host can set none.
  const std::array<std::string, 2>& cookies() const { return cookies_; }

  // Calls act(waiting::WaitingRoom&, waiting::Time) under the lock. If other proxies share the
  // room, `act` may change nothing that they have to agree on: see RoomCall.
  template <class Act>
  auto with(TimePoint now, Act act) {
    const std::lock_guard lock(mutex_);
    return act(now_in_force(), advance(now));
  }
  // Performs a command on a room that is not shared.
  template <class C>
  typename C::Result perform(const C& command, TimePoint now) {
    return with(now, [&](waiting::WaitingRoom& room, waiting::Time time) {
      return waiting::perform(room, command, time);
    });
  }

  // From then on the room is shared with other proxies, and changed by their log (RoomKeeper). Call
  // it before any visitor has come.
  void share(std::unique_ptr<RoomOutbox> outbox);
  bool is_shared() const { return log_.outbox != nullptr; }
  RoomOutbox& outbox() { return *log_.outbox; }
  // The outcome of a first contact that has to wait or is turned away, which is counted with the
  // next news; `enter`: that needs a command.
  waiting::WaitingRoom::Door look_at_door(const waiting::Arrive& arrival, TimePoint now);
  // The same with a stamp; nullopt if that needs a command.
  std::optional<waiting::WaitingRoom::Contact> look_at_offer(const waiting::Token& stamp,
                                                             TimePoint now);
  // The view of a ticket that waits. nullopt: the request needs a command.
  std::optional<waiting::WaitingRoom::View> look_at_ticket(const waiting::TicketId& id,
                                                           TimePoint now);
  // The same for a ticket that waits or is called, if the request does not claim.
  std::optional<waiting::WaitingRoom::View> look_at_place(const waiting::TicketId& id,
                                                          TimePoint now);
  // Whether the token has neither place nor session, and can get none: it needs no command. Allows
  // for rows of the log that are not read yet.
  bool is_spent(const waiting::Token& token, TimePoint now);
  // Whether it is a first pass that came late, and would get a ticket. A row that is not read yet
  // may have given it one.
  bool takes_ticket(const waiting::Token& pass, TimePoint now);
  // Whether its visitor may enter.
  bool is_called(const waiting::TicketId& id, TimePoint now);
  // Before a second contact. false: the client's network has so many of the line's places that
  // others would get none; the stamp is still valid.
  bool may_have_more(const IpAddress& client, const waiting::Token& stamp,
                     const config::WaitingRoom& settings, TimePoint now);
  void has_joined(const IpAddress& client, const waiting::Token& stamp, TimePoint now);
  // Before the first contact of an unverified visitor, while none has to wait. false: its network
  // has had its share of the first passes of a minute; the visitor gets a stamp, and enters with
  // that.
  bool may_enter_at_once(const IpAddress& client, const config::WaitingRoom& settings,
                         TimePoint now);
  // Before a command for a visitor's token. false: for this address too many rows have been written
  // lately that changed nothing. If this row changes something, call wrote_a_change().
  bool may_write(const IpAddress& client, const config::WaitingRoom& settings, TimePoint now);
  void wrote_a_change(const IpAddress& client, const config::WaitingRoom& settings) {
    rows_.give_back(client, settings.tickets.joins_per_second);
  }
  // While the log does not answer: the last known view, as hear(), and whether a pass is valid.
  std::optional<waiting::WaitingRoom::View> last_seen(const waiting::TicketId& id, TimePoint now);
  bool honours(const waiting::Token& pass, TimePoint now);
  // Also while it does not answer, with on_store_failure `open`: the room goes on by itself from
  // its last state, with this proxy's share of the free sessions. nullopt: it does not. Nor does it
  // make reservations: webhooks get no events of that time, and the visitor would rely on a call.
  template <class C>
  std::optional<typename C::Result> perform_apart(const C& command, TimePoint now) {
    const std::lock_guard lock(mutex_);
    if (!log_.apart || std::same_as<C, waiting::Reserve>) return std::nullopt;
    if constexpr (std::same_as<C, waiting::ShowPass>) log_.outbox->stay(command.token.id);
    return waiting::perform(*log_.apart, command, advance(now));
  }

  // For RoomKeeper: applies a row of the log; restores the state from a snapshot.
  std::vector<waiting::Outcome> apply(const waiting::LogEntry& entry, waiting::Time time,
                                      bool is_own);
  bool restore_log(std::string_view archive, TimePoint now);
  // Sends the configured terms to the other proxies if none have been agreed on, or if they differ
  // and this proxy has just come.
  void agree(bool has_just_come);
  struct Sight {
    waiting::Time time{};      // of the last row
    waiting::Backend backend;  // as this proxy sees it
    bool is_empty = false;     // no visitor waits or is inside
    std::size_t proxies = 0;
  };
  Sight sight(TimePoint now);
  // The log has stopped answering.
  void cut_off();
  // It answers again: returns the places of these visitors, and of those that changed while apart.
  std::vector<waiting::Place> come_back(const std::vector<waiting::TicketId>& ids, TimePoint now);

  waiting::TokenText sign(const waiting::Token& token, TimePoint now) const {
    return context_->keys->write(token, name_, context_->clock.at(now));
  }
  // An offer is not a token by which a visitor is recognised: see takes_offer().
  std::optional<waiting::Token> verify(std::string_view text, TimePoint now) const {
    const auto token = context_->keys->read(text, name_, context_->clock.at(now));
    return token && token->kind != waiting::TokenKind::offer ? token : std::nullopt;
  }
  // Whether a form's text is the offer of that stamp.
  bool takes_offer(std::string_view text, const waiting::Token& stamp, TimePoint now) const {
    const auto token = context_->keys->read(text, name_, context_->clock.at(now));
    return token && token->kind == waiting::TokenKind::offer && token->id == stamp.id;
  }
  // is_nobody() for a user without a name.
  waiting::UserKey key_of(const traffic::VerifiedUser& user) const {
    if (user.name.empty()) return {};
    return context_->keys->user_key(name_, static_cast<char>(user.source), user.name);
  }
  waiting::Time time_at(TimePoint now) const { return context_->clock.at(now); }

  // A poll with a ticket, as WaitingRoom::ask().
  struct Asked {
    std::optional<waiting::WaitingRoom::View> view;  // none: unknown, or ended
    std::optional<waiting::End> end;                 // in that case how, if that was lately
    std::optional<Milliseconds> later;  // it polls too often: when to poll again; the rest is unset
  };
  Asked ask(const waiting::Token& ticket, TimePoint now);
  // The same for an event stream, without a limit, as WaitingRoom::hear().
  Asked hear(const waiting::Token& ticket, TimePoint now);
  // Before a second contact. false: this address has made too many tickets lately; the stamp is
  // still valid. If no ticket is made, call did_not_join().
  bool may_join(const IpAddress& client, const config::WaitingRoom& settings, TimePoint now);
  void did_not_join(const IpAddress& client, const config::WaitingRoom& settings) {
    joins_.give_back(client, settings.tickets.joins_per_second);
  }
  // Whether a request with that pass goes in the class of admitted visitors. If requests come
  // faster than from a person's browser, they go in the class of their route: a program must not be
  // served before all others because it has a pass. The limit is lower for a pass in a field, since
  // copies of it are not detected.
  bool may_go_first(const waiting::TicketId& id, waiting::Carrier carrier,
                    const config::WaitingRoom& settings, TimePoint now);
  // A response to a visitor's first contact is still open, so that contact is more than an entry
  // that counts for one slice: its session begins, as if it had shown its first pass. false: it has
  // none yet; call it again at the next report.
  bool begin_session(const waiting::Token& first_pass, TimePoint now);
  // A session is used, as WaitingRoom::stay(). true: resources are handed out, and it has ended.
  bool stay(const waiting::TicketId& id, TimePoint now);
  // Whether a program may keep the token that it got in a field: its session goes on, and is now
  // used. No generation is compared. false: treat it like any other token.
  bool keeps(const waiting::Token& token, TimePoint now);
  bool has_session(const waiting::TicketId& id) const {
    const std::lock_guard lock(mutex_);
    return now_in_force().has_session(id);
  }
  // The newest ticket or session of that user.
  std::optional<waiting::TicketId> held_by(const waiting::UserKey& user) const {
    const std::lock_guard lock(mutex_);
    return now_in_force().held_by(user);
  }

  // Restores all places, and records changes from now on (PlaceKeeper).
  void restore(const waiting::Written& written, TimePoint now);

  // No seat if the waiting rooms of the process have taken `most`.
  EventSeat take_event_seat(std::uint32_t most) {
    return EventSeat::take(context_->event_seats, most);
  }

  // The operator's decisions as visitors see them: with the message in force.
  waiting::Orders notice(const config::WaitingRoom& settings) const {
    const std::lock_guard lock(mutex_);
    waiting::Orders orders = now_in_force().orders();
    if (orders.message.empty()) orders.message = settings.page.message;
    return orders;
  }

  // At every tick of its upstream: applies the configuration in force, and calls the next tickets.
  void tick(const config::WaitingRoom& settings, waiting::EntryPace::Health health, TimePoint now);
  waiting::Counts counts(TimePoint now);

  RoomTally& tally() { return tally_; }
  // Whether a token may be verified whose verification takes long. Call verified() afterwards,
  // unless its signature is bad.
  bool may_verify(const IpAddress& client, TimePoint now) {
    return context_->bad_signatures.take(client, kBadSignatures, now);
  }
  void verified(const IpAddress& client) {
    context_->bad_signatures.give_back(client, kBadSignatures);
  }

  // The oldest of the events that its webhook wants.
  std::vector<waiting::TicketEvent> take_events(std::size_t most) {
    const std::lock_guard lock(mutex_);
    return inside_.own().take_events(most);
  }

 private:
  waiting::WaitingRoom& now_in_force() { return log_.apart ? *log_.apart : inside_.own(); }
  const waiting::WaitingRoom& now_in_force() const {
    return log_.apart ? *log_.apart : inside_.room();
  }
  void go_apart(waiting::Time now);
  void hold_if_cut_off();
  void hear_of(const waiting::TicketId& id, TimePoint now);
  void turned(waiting::WaitingRoom::Door door, TimePoint now);

  static constexpr double kBadSignatures = 20;  // per second and address

  waiting::Terms terms_of(const config::WaitingRoom& settings) const;
  using Lookup = std::optional<waiting::WaitingRoom::View> (waiting::WaitingRoom::*)(
      const waiting::TicketId&, waiting::Time);
  Asked find(const waiting::Token& ticket, TimePoint now, Lookup lookup);
  // The same for a shared room. `counts`: it is a poll.
  Asked look(const waiting::Token& ticket, TimePoint now, bool counts);
  Milliseconds refuse_poll(Milliseconds later);
  // Workers read the clock once per loop turn: the time never steps back behind another worker's.
  waiting::Time advance(TimePoint now) {
    return last_ = std::max({last_, context_->clock.at(now), inside_.time()});
  }

  const std::string name_;
  const std::array<std::string, 2> cookies_;
  const std::shared_ptr<VisitorContext> context_;
  PollHolds holds_;
  AddressLimit joins_;
  AddressLimit rows_;  // rows of a log that changed nothing
  NetworkShares shares_;
  HashedBuckets entries_;  // entries without a wait, by network
  mutable std::mutex mutex_;
  waiting::Time last_{};
  waiting::Terms given_;     // by the configuration; the room may keep a former start
  waiting::Replica inside_;  // the state of the log, if shared; else the whole state
  waiting::EntryPace pace_;
  // Used if other proxies share the room.
  struct Log {
    std::unique_ptr<RoomOutbox> outbox;  // null: they do not
    waiting::Backend backend;            // at the last tick
    bool is_cut_off = false;
    // By on_store_failure: whether it admits no visitor while it is cut off.
    bool is_to_hold = false;
    std::optional<waiting::WaitingRoom> apart;  // while it goes on by itself
  };
  Log log_;
  RoomTally tally_;
};

observe::WaitingRoomSnapshot snapshot_of(SharedWaitingRoom& room,
                                         const config::WaitingRoom& settings);

// By route, null for a route without one. Rooms of `former` (may be null) with the same name are
// carried over, with all visitors in them.
using WaitingRooms = std::vector<std::shared_ptr<SharedWaitingRoom>>;
WaitingRooms waiting_rooms_of(const config::Config& config,
                              const std::shared_ptr<VisitorContext>& context,
                              const WaitingRooms* former);

}  // namespace spillway::proxy
