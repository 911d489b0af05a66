// A waiting room as all workers share it. Thread-safe: each call is a lookup or two under a lock,
// and floods are turned away before it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
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
#include "observe/snapshot.hpp"
#include "proxy/waiting/address_limit.hpp"
#include "proxy/waiting/event_seat.hpp"
#include "proxy/waiting/poll_holds.hpp"
#include "proxy/waiting/visitor_clock.hpp"
#include "traffic/classify.hpp"
#include "waiting/configured.hpp"
#include "waiting/entry_pace.hpp"
#include "waiting/token.hpp"
#include "waiting/waiting_room.hpp"

namespace spillway::proxy {

// Whether places are written down.
enum class PlaceKeeping : std::uint8_t { is_off, works, fails };

// What all waiting rooms of the process share.
struct VisitorContext {
  VisitorContext(waiting::TokenKeys made, traffic::SipKey addresses)
      : keys(std::move(made)), address_key(addresses), bad_signatures(addresses) {}
  waiting::TokenKeys keys;  // replaced by PlaceKeeper before any visitor has come
  const traffic::SipKey address_key;
  AddressLimit bad_signatures;  // of visitors' trusted_tokens
  const VisitorClock clock;
  CappedCounter event_seats;  // taken
  std::atomic<PlaceKeeping> keeping{PlaceKeeping::is_off};
};

class SharedWaitingRoom {
 public:
  SharedWaitingRoom(std::string name, const config::WaitingRoom& settings,
                    std::shared_ptr<VisitorContext> context)
      : name_(std::move(name)),
        cookies_{"__Host-spillway-" + name_, "spillway-" + name_},
        context_(std::move(context)),
        joins_(context_->address_key),
        given_(terms_of(settings)),
        room_(given_),
        pace_(settings.sessions.most) {
    room_.want_events(waiting::wanted_events(settings));
  }
  SharedWaitingRoom(const SharedWaitingRoom&) = delete;
  SharedWaitingRoom& operator=(const SharedWaitingRoom&) = delete;

  const std::string& name() const { return name_; }
  // The names of its cookie: for HTTPS, and for plain HTTP. A browser accepts the first only with
  // Secure, for the whole host, and from the host itself (draft-ietf-httpbis-rfc6265bis
  // section 4.1.3): a sister host can plant none.
  const std::array<std::string, 2>& cookies() const { return cookies_; }

  // Calls act(waiting::WaitingRoom&, waiting::Time) with the room to itself.
  template <class Act>
  auto with(TimePoint now, Act act) {
    const std::lock_guard lock(mutex_);
    return act(room_, advance(now));
  }

  waiting::TokenText sign(const waiting::Token& token, TimePoint now) const {
    return context_->keys.write(token, name_, context_->clock.at(now));
  }
  // An offer is nothing that a visitor carries: see takes_offer().
  std::optional<waiting::Token> verify(std::string_view text, TimePoint now) const {
    const auto token = context_->keys.read(text, name_, context_->clock.at(now));
    return token && token->kind != waiting::TokenKind::offer ? token : std::nullopt;
  }
  // Whether a form's text is the offer of that stamp.
  bool takes_offer(std::string_view text, const waiting::Token& stamp, TimePoint now) const {
    const auto token = context_->keys.read(text, name_, context_->clock.at(now));
    return token && token->kind == waiting::TokenKind::offer && token->id == stamp.id;
  }
  // Nobody for a user without a name.
  waiting::UserKey key_of(const traffic::VerifiedUser& user) const {
    if (user.name.empty()) return {};
    return context_->keys.user_key(name_, static_cast<char>(user.source), user.name);
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
  Asked hear(const waiting::Token& ticket, TimePoint now) {
    return find(ticket, now, &waiting::WaitingRoom::hear);
  }
  // The second contact. nullopt: of this address too many tickets were made lately; the stamp is
  // still good.
  std::optional<waiting::WaitingRoom::Contact> join(const waiting::Token& stamp,
                                                    const IpAddress& client,
                                                    const config::WaitingRoom& settings,
                                                    TimePoint now);

  // The same where places are only offered, as WaitingRoom::offer().
  waiting::WaitingRoom::Contact offer(const waiting::Token& stamp, TimePoint now) {
    return with(now, [&](waiting::WaitingRoom& room, waiting::Time time) {
      return room.offer(stamp.id, time, stamp.priority, stamp.user);
    });
  }
  // A first contact was offered a place.
  void count_offer() { offered_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t offered() const { return offered_.load(std::memory_order_relaxed); }

  // The newest ticket or session of that user.
  std::optional<waiting::TicketId> held_by(const waiting::UserKey& user) const {
    const std::lock_guard lock(mutex_);
    return room_.held_by(user);
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
    waiting::Orders orders = room_.orders();
    if (orders.message.empty()) orders.message = settings.page.message;
    return orders;
  }

  // Every tick of its upstream: takes over the configuration in force, and calls who may come in.
  void tick(const config::WaitingRoom& settings, waiting::EntryPace::Health health, TimePoint now);
  waiting::Counts counts(TimePoint now);

  // Requests that never wait (config::WaitingBypass).
  void count_bypass() { bypassed_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t bypassed() const { return bypassed_.load(std::memory_order_relaxed); }
  // Tokens of visitors (trusted_tokens) that do not count.
  using Unverified = decltype(observe::WaitingRoomSnapshot::unverified);
  void count_unverified(traffic::TokenSource source, traffic::TokenFault fault) {
    ++unverified_[static_cast<std::size_t>(source)][static_cast<std::size_t>(fault)];
  }
  Unverified unverified() const;
  // Whether one may be verified for which that takes long. It is then to be given back, unless its
  // signature is bad.
  bool may_verify(const IpAddress& client, TimePoint now) {
    return context_->bad_signatures.take(client, kBadSignatures, now);
  }
  void verified(const IpAddress& client) {
    context_->bad_signatures.give_back(client, kBadSignatures);
  }

  // Polls and joins that were refused, since there were too many.
  std::uint64_t limited_polls() const { return limited_polls_.load(std::memory_order_relaxed); }
  std::uint64_t limited_joins() const { return limited_joins_.load(std::memory_order_relaxed); }
  // Of those that its webhook wants, the oldest.
  std::vector<waiting::Happening> take_events(std::size_t most) {
    const std::lock_guard lock(mutex_);
    return room_.take_events(most);
  }
  // An event was written down for the webhook, or could not be. On any thread.
  void count_told(waiting::Event event, bool is_written) {
    ++(is_written ? told_[static_cast<std::size_t>(event)] : not_told_);
  }
  std::uint64_t told(std::size_t event) const { return told_[event]; }
  std::uint64_t not_told() const { return not_told_; }

 private:
  static constexpr double kBadSignatures = 20;  // a second, of one address

  waiting::Terms terms_of(const config::WaitingRoom& settings) const;
  using Lookup = std::optional<waiting::WaitingRoom::View> (waiting::WaitingRoom::*)(
      const waiting::TicketId&, waiting::Time);
  Asked find(const waiting::Token& ticket, TimePoint now, Lookup lookup);
  Milliseconds refuse_poll(Milliseconds later);
  // Workers read the clock once a turn: what another one has seen already is not undone.
  waiting::Time advance(TimePoint now) { return last_ = std::max(last_, context_->clock.at(now)); }

  const std::string name_;
  const std::array<std::string, 2> cookies_;
  const std::shared_ptr<VisitorContext> context_;
  PollHolds holds_;
  AddressLimit joins_;
  mutable std::mutex mutex_;
  waiting::Time last_{};
  waiting::Terms given_;  // by the configuration; the room may keep a former start
  waiting::WaitingRoom room_;
  waiting::EntryPace pace_;
  std::atomic<std::uint64_t> bypassed_{0};
  std::atomic<std::uint64_t> offered_{0};
  std::atomic<std::uint64_t> limited_polls_{0};
  std::atomic<std::uint64_t> limited_joins_{0};
  std::array<std::atomic<std::uint64_t>, waiting::kEventCount> told_{};
  std::atomic<std::uint64_t> not_told_{0};
  // By TokenSource, by TokenFault.
  std::array<std::array<std::atomic<std::uint64_t>, traffic::kTokenFaultCount>, 3> unverified_{};
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
