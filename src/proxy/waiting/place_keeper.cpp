#include "proxy/waiting/place_keeper.hpp"

#include <pthread.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "proxy/net/random_bytes.hpp"

namespace spillway::proxy {

namespace {

constexpr Milliseconds kPause{100};
// The interval at which last uses of sessions are stored: sessions are used all the time.
constexpr Milliseconds kUsesEvery{1000};
constexpr std::size_t kAtATime = 1024;  // places per hold of the lock that requests need
constexpr Milliseconds kLongestPause{5000};
constexpr Milliseconds kPauseAfterFailure{1000};
// The longest step back of the clock that counts as small.
constexpr Milliseconds kFollowed{60'000};
// All waiting visitors poll within this.
constexpr Milliseconds kRecovery{120'000};

bool has_room(const WaitingRooms& rooms, std::string_view name) {
  return std::any_of(rooms.begin(), rooms.end(),
                     [&](const auto& room) { return room && room->name() == name; });
}

// A new file gets a new secret.
store::OpenedPlaces open_places(const std::filesystem::path& file) {
  using Kind = store::Failure::Kind;
  store::VisitorSecret secret;
  if (!fill_randomly(secret))
    return {nullptr, {Kind::unavailable, "no random numbers from the system"}};
  return store::open_places(file, secret);
}

std::set<std::string> names_in(const store::PlacesRead& read) {
  std::set<std::string> names;
  for (const auto& [name, places] : read.rooms) names.insert(name);
  for (const auto& [name, orders] : read.orders) names.insert(name);
  return names;
}

}  // namespace

std::optional<store::Failure> forget_places(const std::filesystem::path& file) {
  store::OpenedPlaces opened = open_places(file);
  if (!opened.store) return std::move(opened.failure);
  store::PlacesRead read;
  if (auto failure = opened.store->read(read)) return failure;
  std::vector<store::PlaceChanges> gone;
  for (const std::string& name : names_in(read)) gone.push_back({name, true, {}});
  return gone.empty() ? std::nullopt : opened.store->write(gone, read.until, read.used_until);
}

std::optional<store::Failure> PlaceKeeper::open(const std::filesystem::path& file,
                                                const WaitingRooms& rooms) {
  store::OpenedPlaces opened = open_places(file);
  if (!opened.store) return std::move(opened.failure);
  store::PlacesRead read;
  if (auto failure = opened.store->read(read)) return failure;
  const TimePoint now = Clock::now();
  const waiting::TokenSecrets written = read.secrets;
  set_back(read, now);
  // Places are written again with the first changes.
  if (read.secrets != written) {
    if (auto failure = opened.store->keep(read.secrets)) return failure;
  }
  context_->keys.set(read.secrets);
  for (const auto& room : rooms) {
    if (!room) continue;
    room->restore({read.until, std::move(read.rooms[room->name()]), read.orders[room->name()],
                   read.used_until},
                  now);
  }
  for (const std::string& name : names_in(read)) {
    if (!has_room(rooms, name)) removed_.push_back(name);
  }
  rooms_ = rooms;
  const waiting::Time time = context_->clock.at(now);
  used_until_ = read.used_until;
  if (read.until != waiting::Time{}) recovery_ = {time + kRecovery, read.until};
  if (auto failure = opened.store->write({}, as_of(time), used_until_)) return failure;
  store_ = std::move(opened.store);
  context_->keeping.store(PlaceKeeping::works);
  return std::nullopt;
}

// Handles a system clock that was set back since the last write. After a small step the clock of
// the rooms continues from the last write; after a larger one the times in the file are moved back.
void PlaceKeeper::set_back(store::PlacesRead& read, TimePoint now) {
  const Milliseconds ahead = read.until - context_->clock.at(now);
  if (ahead <= Milliseconds(0)) return;
  if (ahead <= kFollowed) return context_->clock.follow(read.until, now);
  read.until -= ahead;
  if (read.used_until != waiting::Time{}) read.used_until -= ahead;
  read.secrets.since -= ahead;
  for (auto& [room, places] : read.rooms) {
    for (waiting::Place& place : places) {
      place.since -= ahead;
      if (place.used != waiting::Time{}) place.used -= ahead;
      place.order.reset();
    }
  }
}

waiting::Time PlaceKeeper::as_of(waiting::Time now) const {
  return now < recovery_.until ? std::min(now, recovery_.written) : now;
}

void PlaceKeeper::keep(const WaitingRooms& rooms) {
  const std::lock_guard lock(mutex_);
  for (const auto& room : rooms_) {
    if (room && !has_room(rooms, room->name())) removed_.push_back(room->name());
  }
  for (const auto& room : rooms) {
    if (room && !has_room(rooms_, room->name())) room->restore({}, Clock::now());
  }
  rooms_ = rooms;
}

void PlaceKeeper::start() {
  if (!store_) return;
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "places");
    run();
  });
}

void PlaceKeeper::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void PlaceKeeper::run() {
  while (!is_last_) {
    {
      std::unique_lock lock(mutex_);
      const Milliseconds pause = is_failing() ? kPauseAfterFailure : kPause;
      is_last_ = wake_.wait_for(lock, pause, [&] { return is_stopping_; });
    }
    keep_secrets(Clock::now());
    write();
  }
}

// A replaced secret is stored before any token is signed with the new one.
void PlaceKeeper::keep_secrets(TimePoint now) {
  const std::shared_ptr<SecretRequest> request = requests_.take();
  const waiting::Time time = context_->clock.at(now);
  waiting::TokenSecrets secrets = context_->keys.secrets();
  const bool is_over = secrets.former && !secrets.accepts_former(time);
  if (!request && (!is_over || is_failing())) return;
  SecretReply reply{.secrets = secrets};
  const auto next = request ? waiting::replaced(secrets, request->change, time, time)
                            : std::optional(waiting::without_former(secrets));
  if (!next) {
    reply.result = SecretResult::under_way;
  } else if (store_->keep(*next)) {
    reply.result = SecretResult::not_written;
  } else {
    context_->keys.set(*next);
    reply = {SecretResult::replaced, *next};
  }
  if (request) request->answer(reply);
}

void PlaceKeeper::write() {
  // While writes fail no more changes are taken: the journals are bounded, `unwritten_` is not.
  if (unwritten_.empty()) {
    const TimePoint now = Clock::now();
    gathered_ = context_->clock.at(now);
    std::vector<std::string> removed;
    WaitingRooms rooms;
    {
      const std::lock_guard lock(mutex_);
      removed = std::exchange(removed_, {});
      rooms = rooms_;
    }
    for (std::string& name : removed) {
      gathered_orders_.erase(name);
      unwritten_.push_back({std::move(name), true, {}});
    }
    const bool with_uses = gathered_ - used_until_ >= kUsesEvery || is_last_;
    if (with_uses) used_until_ = gathered_;
    for (const auto& room : rooms) {
      if (room) gather(*room, now, with_uses);
    }
  }
  // Also if nothing has changed: else tokens issued since would count as not stored.
  const bool is_due = gathered_ - written_ >= kLongestPause || is_last_;
  if (unwritten_.empty() && !is_due) return;
  const auto failure = store_->write(unwritten_, as_of(gathered_), used_until_);
  const bool has_failed = failure.has_value();
  if (!has_failed) {
    unwritten_.clear();
    written_ = gathered_;
  }
  if (has_failed && !is_failing()) on_failure_(*failure);
  context_->keeping.store(has_failed ? PlaceKeeping::fails : PlaceKeeping::works);
}

void PlaceKeeper::gather(SharedWaitingRoom& room, TimePoint now, bool with_uses) {
  using waiting::TicketId;
  using waiting::Time;
  using waiting::WaitingRoom;
  waiting::Orders orders;
  const auto changed = room.with(now, [&](WaitingRoom& inside, Time) {
    orders = inside.orders();
    return inside.take_changed(with_uses);
  });
  std::uint64_t& known = gathered_orders_[room.name()];
  const bool is_ordered = std::exchange(known, orders.changes) != orders.changes;
  if (changed && changed->empty() && !is_ordered) return;
  store::PlaceChanges changes{room.name(), !changed, {}};
  if (is_ordered || !changed) changes.orders = std::move(orders);
  if (changed) {
    for (std::span<const TicketId> rest = *changed; !rest.empty();) {
      const auto some = rest.first(std::min(rest.size(), kAtATime));
      rest = rest.subspan(some.size());
      room.with(
          now, [&](WaitingRoom& inside, Time time) { inside.look_up(some, time, changes.places); });
    }
  } else {
    WaitingRoom::Listing at;
    const auto list_some = [&] {
      return room.with(now,
                       [&](WaitingRoom& inside, Time) { return inside.list(at, changes.places); });
    };
    while (list_some()) {
    }
  }
  unwritten_.push_back(std::move(changes));
}

}  // namespace spillway::proxy
