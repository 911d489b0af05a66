// A waiting room as all workers share it. Thread-safe: each call is a lookup or two under a lock,
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

// Whether places are written down.
enum class PlaceKeeping : std::uint8_t { is_off, works, fails };

// What all waiting rooms of the process share.
struct VisitorContext {
  VisitorContext(const waiting::TokenKeys& made, SipKey addresses)
      : keys(made), address_key(addresses), bad_signatures(addresses), passes(addresses) {}
  KeysInForce keys;  // set by who keeps places before any visitor has come, and when replaced
  const SipKey address_key;
  AddressLimit bad_signatures;  // of visitors' trusted_tokens
  HashedBuckets passes;         // by id: requests in the class of those who were let in
  VisitorClock clock;
  CappedCounter event_seats;  // taken
  std::atomic<PlaceKeeping> keeping{PlaceKeeping::is_off};
  // While a log that others write as well does not answer: since when, in milliseconds.
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
  // Secure, for the whole host, and from the host itself (draft-ietf-httpbis-rfc6265bis
  // section 4.1.3): a sister host can plant none.
  const std::array<std::string, 2>& cookies() const { return cookies_; }

  // Calls act(waiting::WaitingRoom&, waiting::Time) with the room to itself. Of one that is shared
  // with other proxies it changes nothing that they have to agree on: see RoomCall.
  template <class Act>
  auto with(TimePoint now, Act act) {
    const std::lock_guard lock(mutex_);
    return act(now_in_force(), advance(now));
  }
  // Changes one that is not shared.
  template <class C>
  typename C::Result perform(const C& command, TimePoint now) {
    return with(now, [&](waiting::WaitingRoom& room, waiting::Time time) {
      return waiting::perform(room, command, time);
    });
  }

  // From then on it is shared with other proxies, and changes by their log (RoomKeeper). Before any
  // visitor has come.
  void share(std::unique_ptr<RoomOutbox> outbox);
  bool is_shared() const { return log_.outbox != nullptr; }
  RoomOutbox& outbox() { return *log_.outbox; }
  // What becomes of a first contact that has to wait, or is turned away; `enter`: that takes a
  // command. It is counted with the next news.
  waiting::WaitingRoom::Door look_at_door(const waiting::Arrive& arrival, TimePoint now);
  // The same with a stamp: nullopt if that takes a command.
  std::optional<waiting::WaitingRoom::Contact> look_at_offer(const waiting::Token& stamp,
                                                             TimePoint now);
  // Of a ticket that waits what it is told. nullopt: that takes a command.
  std::optional<waiting::WaitingRoom::View> look_at_ticket(const waiting::TicketId& id,
                                                           TimePoint now);
  // The same of one that waits or is called, for one that does not claim.
  std::optional<waiting::WaitingRoom::View> look_at_place(const waiting::TicketId& id,
                                                          TimePoint now);
  // Whether neither place nor session is of that token, and none can become of it: it takes no
  // command. What is not read yet of the log is allowed for.
  bool is_spent(const waiting::Token& token, TimePoint now);
  // Whether it is a first pass that came late, and would get a ticket. What is not read yet of the
  // log may have given it one.
  bool takes_ticket(const waiting::Token& pass, TimePoint now);
  // Its visitor may enter.
  bool is_called(const waiting::TicketId& id, TimePoint now);
  // Likewise before a second contact. false: so many of the line's places are of the client's
  // network that others would get none; the stamp is still good.
  bool may_have_more(const IpAddress& client, const waiting::Token& stamp,
                     const config::WaitingRoom& settings, TimePoint now);
  void has_joined(const IpAddress& client, const waiting::Token& stamp, TimePoint now);
  // Before a first contact of a visitor that is not verified, while none has to wait. false: its
  // network was given its share of the first passes of a minute; it gets a stamp, and comes in with
  // that.
  bool may_enter_at_once(const IpAddress& client, const config::WaitingRoom& settings,
                         TimePoint now);
  // Before a command for what a visitor carries. false: for this address too many rows were written
  // lately that changed nothing. It is to be given back if this one did.
  bool may_write(const IpAddress& client, const config::WaitingRoom& settings, TimePoint now);
  void wrote_a_change(const IpAddress& client, const config::WaitingRoom& settings) {
    rows_.give_back(client, settings.tickets.joins_per_second);
  }
  // While the log does not answer: what is known of it, as hear(), and whether a pass is good.
  std::optional<waiting::WaitingRoom::View> last_seen(const waiting::TicketId& id, TimePoint now);
  bool honours(const waiting::Token& pass, TimePoint now);
  // Likewise, with on_store_failure `open`: it goes on by itself, from what it knew, with this
  // proxy's share of what was free. nullopt: it does not. Nor does it take a reservation: what goes
  // on apart is not told to webhooks, and the visitor is promised a call.
  template <class C>
  std::optional<typename C::Result> perform_apart(const C& command, TimePoint now) {
    const std::lock_guard lock(mutex_);
    if (!log_.apart || std::same_as<C, waiting::Reserve>) return std::nullopt;
    if constexpr (std::same_as<C, waiting::ShowPass>) log_.outbox->stay(command.token.id);
    return waiting::perform(*log_.apart, command, advance(now));
  }

  // RoomKeeper's: a row of the log; all rows so far.
  std::vector<waiting::Outcome> apply(const waiting::LogEntry& entry, waiting::Time time,
                                      bool is_own);
  bool restore_log(std::string_view archive, TimePoint now);
  // Terms that the configuration gives and proxies have not agreed on are sent to them, if there
  // are none yet, or this proxy has just come.
  void agree(bool has_just_come);
  struct Sight {
    waiting::Time time{};      // of the last row
    waiting::Backend backend;  // as this proxy sees it
    bool is_empty = false;     // no visitor waits or is inside
    std::size_t proxies = 0;
  };
  Sight sight(TimePoint now);
  // The log does not answer from now on.
  void cut_off();
  // It does again: what this proxy's visitors had by then, of these and of what went on apart.
  std::vector<waiting::Place> come_back(const std::vector<waiting::TicketId>& ids, TimePoint now);

  waiting::TokenText sign(const waiting::Token& token, TimePoint now) const {
    return context_->keys->write(token, name_, context_->clock.at(now));
  }
  // An offer is nothing that a visitor carries: see takes_offer().
  std::optional<waiting::Token> verify(std::string_view text, TimePoint now) const {
    const auto token = context_->keys->read(text, name_, context_->clock.at(now));
    return token && token->kind != waiting::TokenKind::offer ? token : std::nullopt;
  }
  // Whether a form's text is the offer of that stamp.
  bool takes_offer(std::string_view text, const waiting::Token& stamp, TimePoint now) const {
    const auto token = context_->keys->read(text, name_, context_->clock.at(now));
    return token && token->kind == waiting::TokenKind::offer && token->id == stamp.id;
  }
  // Nobody for a user without a name.
  waiting::UserKey key_of(const traffic::VerifiedUser& user) const {
    if (user.name.empty()) return {};
    return context_->keys->user_key(name_, static_cast<char>(user.source), user.name);
  }
  waiting::Time time_at(TimePoint now) const { return context_->clock.at(now); }

  // A poll with a ticket, as WaitingRoom::ask().
  struct Asked {
    std::optional<waiting::WaitingRoom::View> view;  // none: unknown, or ended
    std::optional<waiting::End> end;                 // then: how, if that was lately
    std::optional<Milliseconds> later;  // it asks too often: nothing else is known before that
  };
  Asked ask(const waiting::Token& ticket, TimePoint now);
  // The same on behalf of an event stream, without a limit, as WaitingRoom::hear().
  Asked hear(const waiting::Token& ticket, TimePoint now);
  // Before a second contact. false: of this address too many tickets were made lately; the stamp is
  // still good. It is to be given back if no ticket was made.
  bool may_join(const IpAddress& client, const config::WaitingRoom& settings, TimePoint now);
  void did_not_join(const IpAddress& client, const config::WaitingRoom& settings) {
    joins_.give_back(client, settings.tickets.joins_per_second);
  }
  // Whether a request with that pass goes in the class of those who were let in. One that asks for
  // more than a person's browser does goes in the class of its route: a pass is no way for a
  // program to be served before all others, however often it asks. Of a program that has it in a
  // field no copy is found: it may ask for less.
  bool may_go_first(const waiting::TicketId& id, waiting::Carrier carrier,
                    const config::WaitingRoom& settings, TimePoint now);
  // What a visitor has opened with its first contact is still open, so it is no entry any more that
  // is only counted for a slice: its session begins, as if it had shown its first pass. false: it
  // has none yet, and is to be reported again.
  bool begin_session(const waiting::Token& first_pass, TimePoint now);
  // A session is used, as WaitingRoom::stay(). true: resources are handed out, and it has ended.
  bool stay(const waiting::TicketId& id, TimePoint now);
  // Whether a program goes on with the token that it was given in a field: its session goes on, and
  // is now used. No generation is compared. false: as of any other token.
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

  // Everybody is where it was, and is kept from now on (PlaceKeeper).
  void restore(const waiting::Written& written, TimePoint now);

  // None if all waiting rooms of the process have taken `most`.
  EventSeat take_event_seat(std::uint32_t most) {
    return EventSeat::take(context_->event_seats, most);
  }

  // The operator's decisions, as those who wait learn of them: with the message that holds.
  waiting::Orders notice(const config::WaitingRoom& settings) const {
    const std::lock_guard lock(mutex_);
    waiting::Orders orders = now_in_force().orders();
    if (orders.message.empty()) orders.message = settings.page.message;
    return orders;
  }

  // Every tick of its upstream: takes over the configuration in force, and calls who may come in.
  void tick(const config::WaitingRoom& settings, waiting::EntryPace::Health health, TimePoint now);
  waiting::Counts counts(TimePoint now);

  RoomTally& tally() { return tally_; }
  // Whether one may be verified for which that takes long. It is then to be given back, unless its
  // signature is bad.
  bool may_verify(const IpAddress& client, TimePoint now) {
    return context_->bad_signatures.take(client, kBadSignatures, now);
  }
  void verified(const IpAddress& client) {
    context_->bad_signatures.give_back(client, kBadSignatures);
  }

  // Of those that its webhook wants, the oldest.
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

  static constexpr double kBadSignatures = 20;  // a second, of one address

  waiting::Terms terms_of(const config::WaitingRoom& settings) const;
  using Lookup = std::optional<waiting::WaitingRoom::View> (waiting::WaitingRoom::*)(
      const waiting::TicketId&, waiting::Time);
  Asked find(const waiting::Token& ticket, TimePoint now, Lookup lookup);
  // The same of one that is shared. `counts`: it is a poll.
  Asked look(const waiting::Token& ticket, TimePoint now, bool counts);
  Milliseconds refuse_poll(Milliseconds later);
  // Workers read the clock once a turn: what another one has seen already is not undone.
  waiting::Time advance(TimePoint now) {
    return last_ = std::max({last_, context_->clock.at(now), inside_.time()});
  }

  const std::string name_;
  const std::array<std::string, 2> cookies_;
  const std::shared_ptr<VisitorContext> context_;
  PollHolds holds_;
  AddressLimit joins_;
  AddressLimit rows_;  // of a log, which changed nothing
  NetworkShares shares_;
  HashedBuckets entries_;  // without a wait, by network
  mutable std::mutex mutex_;
  waiting::Time last_{};
  waiting::Terms given_;     // by the configuration; the room may keep a former start
  waiting::Replica inside_;  // of a log, if it is shared; else all that there is
  waiting::EntryPace pace_;
  // If other proxies share it.
  struct Log {
    std::unique_ptr<RoomOutbox> outbox;  // null: they do not
    waiting::Backend backend;            // at the last tick
    bool is_cut_off = false;
    // By on_store_failure: if it is cut off it admits no visitor.
    bool is_to_hold = false;
    std::optional<waiting::WaitingRoom> apart;  // while it goes on by itself
  };
  Log log_;
  RoomTally tally_;
};

observe::WaitingRoomSnapshot snapshot_of(SharedWaitingRoom& room,
                                         const config::WaitingRoom& settings);

// By route, null for one without; of `former` (may be null) those of the same name carry over, with
// all who are in them.
using WaitingRooms = std::vector<std::shared_ptr<SharedWaitingRoom>>;
WaitingRooms waiting_rooms_of(const config::Config& config,
                              const std::shared_ptr<VisitorContext>& context,
                              const WaitingRooms* former);

}  // namespace spillway::proxy
