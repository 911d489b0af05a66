#include "proxy/waiting/room_keeper.hpp"

#include <pthread.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "proxy/net/random_bytes.hpp"

namespace spillway::proxy {

namespace {

// How often it looks for rows of others: visitors see those proxies' changes that much later.
constexpr Milliseconds kLook{100};
constexpr Milliseconds kLookWhileEmpty{250};
constexpr Milliseconds kNews{1000};
// A row of any proxy makes the tick due. The spread differs between proxies, so that usually only
// one writes it.
constexpr Milliseconds kTickDue{150};
constexpr Milliseconds::rep kSpread = 100;
// How often it writes to show that it is alive: waiting::Replica::kAlive.
constexpr Milliseconds kSign{1000};
constexpr Milliseconds kSignWhileEmpty{3000};
constexpr Milliseconds kRest{50};
constexpr Milliseconds kRestAfterFailure{250};
constexpr std::size_t kBackAtATime = 4096;
constexpr int kMostJumps = 10;

store::Failure of_another_version(const std::string& room) {
  return {store::Failure::Kind::newer_version,
          "the waiting room " + room + " is written by another version of Spillway"};
}

store::Failure rows_missing(const std::string& room) {
  return {store::Failure::Kind::corrupt, "rows of the waiting room " + room + " are missing"};
}

// The commands of the calls are the last ones of their row.
std::size_t first_of(const RoomOutbox::Calls& calls, std::size_t commands) {
  return commands - std::min(calls.size(), commands);
}

}  // namespace

std::optional<store::Failure> RoomKeeper::open(const MakeRoomLog& make_log,
                                               const WaitingRooms& rooms) {
  if (!fill_randomly(proxy_.bytes))
    return store::Failure{store::Failure::Kind::unavailable, "no random numbers from the system"};
  std::unique_ptr<store::RoomLog> log = make_log();
  if (auto failure = secrets_.agree(*log)) return failure;
  log_ = std::move(log);
  keep(rooms);
  take_rooms();
  for (Member& member : members_) {
    auto failure = come_back(member);
    if (!failure) failure = write(member, member.room->sight(Clock::now()));
    member.is_behind = false;
    if (!failure) continue;
    log_.reset();
    return failure;
  }
  recover();
  compactor_.emplace(make_log());
  return std::nullopt;
}

void RoomKeeper::keep(const WaitingRooms& rooms) {
  for (const auto& room : rooms) {
    if (!room || room->is_shared()) continue;
    room->share(std::make_unique<RoomOutbox>([this] {
      {
        const std::lock_guard lock(mutex_);
        is_rung_ = true;
      }
      wake_.notify_all();
    }));
  }
  const std::lock_guard lock(mutex_);
  rooms_ = rooms;
  is_changed_ = true;
}

// Rooms that are gone from the configuration still have visitors for a while, whose calls fail.
void RoomKeeper::take_rooms() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(is_changed_, false)) return;
  std::vector<Member> members;
  for (const auto& room : rooms_) {
    if (!room) continue;
    const auto known = std::ranges::find(members_, room, &Member::room);
    members.push_back(known != members_.end() ? std::move(*known) : Member{.room = room});
  }
  for (const Member& gone : members_) {
    if (gone.room) gone.room->outbox().refuse(true);
  }
  members_ = std::move(members);
  told_kept_.reset();
}

void RoomKeeper::forget_gone_rooms() {
  const Milliseconds kept = kept_.load();
  if (!compactor_ || told_kept_ == kept) return;
  told_kept_ = kept;
  std::vector<std::string> own;
  for (const Member& member : members_) own.push_back(member.room->name());
  compactor_->forget(std::move(own), kept);
}

void RoomKeeper::start() {
  if (!log_) return;
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "rooms");
    run();
  });
}

void RoomKeeper::stop() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    wake_.notify_all();
    log_->interrupt();
    thread_.join();
  }
  compactor_.reset();
  for (const Member& member : members_) member.room->outbox().refuse(true);
}

void RoomKeeper::wait() {
  std::unique_lock lock(mutex_);
  const Milliseconds pause = is_failing_ ? kRestAfterFailure : kRest;
  wake_.wait_for(lock, pause, [this] { return is_stopping_ || (is_rung_ && !is_failing_); });
  is_rung_ = false;
}

void RoomKeeper::run() {
  for (;;) {
    wait();
    {
      const std::lock_guard lock(mutex_);
      if (is_stopping_) return;
    }
    take_rooms();
    // Before visitors come back: other proxies may have a new secret.
    Failed failure = secrets_.keep(*log_, is_failing_, Clock::now());
    for (Member& member : members_) {
      if (failure) break;
      failure = turn(member);
    }
    if (!failure) forget_gone_rooms();
    if (failure)
      fail(*failure);
    else if (is_failing_)
      recover();
  }
}

RoomKeeper::Failed RoomKeeper::turn(Member& member) {
  if (member.is_behind) {
    if (auto failure = come_back(member)) return failure;
    // Before any visitor asks for its place.
    while (!member.back.empty()) {
      if (auto failure = write(member, member.room->sight(Clock::now()))) return failure;
    }
    member.is_behind = false;
    if (!is_failing_) member.room->outbox().refuse(false);
  }
  const TimePoint now = Clock::now();
  const Sight sight = member.room->sight(now);
  if (is_due(member, sight, now)) return write(member, sight);
  const Milliseconds look = sight.is_empty ? kLookWhileEmpty : kLook;
  return now - member.looked >= look ? read(member) : std::nullopt;
}

bool RoomKeeper::is_due(Member& member, const Sight& sight, TimePoint now) const {
  const RoomOutbox& outbox = member.room->outbox();
  if (outbox.is_urgent()) return true;
  const bool has_news = !member.back.empty() || outbox.has_news();
  if (has_news && now - member.told >= kNews) return true;
  if (sight.is_empty) return now - member.wrote >= kSignWhileEmpty;
  const Milliseconds tick = kTickDue + Milliseconds(proxy_.bytes[0] % kSpread);
  return now - member.wrote >= kSign || now - member.came >= tick;
}

// News come first: visitors' places have to be there before their commands.
waiting::LogEntry RoomKeeper::entry_of(Member& member, const Sight& sight,
                                       const RoomOutbox::Calls& calls, TimePoint now) {
  waiting::LogEntry entry{proxy_, ++number_, sight.backend, {}};
  RoomOutbox& outbox = member.room->outbox();
  if (!member.back.empty() || outbox.has_news()) {
    member.told = now;
    waiting::News news = outbox.take_news();
    const std::size_t some = std::min(member.back.size(), kBackAtATime);
    news.back.assign(member.back.end() - static_cast<std::ptrdiff_t>(some), member.back.end());
    entry.commands.emplace_back(std::move(news));
  }
  for (const auto& call : calls) entry.commands.push_back(call->command);
  return entry;
}

RoomKeeper::Failed RoomKeeper::write(Member& member, const Sight& sight) {
  RoomOutbox::Calls calls = member.room->outbox().take_calls();
  waiting::LogEntry entry = entry_of(member, sight, calls, Clock::now());
  member.users.note(entry.number, calls);
  Failed failure = write(member, entry, calls);
  for (const auto& call : calls) call->done();
  ring_if_urgent(member);
  auto* const news =
      entry.commands.empty() ? nullptr : std::get_if<waiting::News>(&entry.commands.front());
  if (news == nullptr) return failure;
  if (failure) {
    member.room->outbox().put_back(std::move(*news));
  } else {
    member.back.resize(member.back.size() - news->back.size());
  }
  return failure;
}

// More calls wait than fit into one row, and they have rung already.
void RoomKeeper::ring_if_urgent(const Member& member) {
  if (!member.room->outbox().is_urgent()) return;
  const std::lock_guard lock(mutex_);
  is_rung_ = true;
}

RoomKeeper::Failed RoomKeeper::write(Member& member, const waiting::LogEntry& entry,
                                     RoomOutbox::Calls& calls) {
  store::RoomTurn turn{
      .room = member.room->name(), .entry = to_bytes(entry), .after = member.known};
  const TimePoint before = Clock::now();
  if (auto failure = log_->take(turn)) return failure;
  const TimePoint after = Clock::now();
  member.looked = member.wrote = after;
  // The database was set back: it lacks rows that were applied here.
  if (turn.written <= turn.after) return begin_anew(member);
  for (const store::RoomRow& row : turn.rows) {
    if (row.number == turn.written) follow_clock(row.time, before, after);
  }
  if (auto failure = apply(member, turn, calls, entry.number)) return failure;
  for (int jumps = 0; member.known < turn.written;) {
    store::RoomTurn rest{.room = turn.room, .after = member.known};
    if (auto failure = log_->take(rest)) return failure;
    if (auto failure = apply(member, rest, calls, entry.number)) return failure;
    if (rest.rows.empty() && member.known < turn.written) return begin_anew(member);
    if (member.known <= rest.after && ++jumps == kMostJumps) return rows_missing(turn.room);
  }
  return std::nullopt;
}

RoomKeeper::Failed RoomKeeper::read(Member& member) {
  store::RoomTurn turn{.room = member.room->name()};
  for (int jumps = 0; jumps < kMostJumps;) {
    turn.after = member.known;
    if (auto failure = log_->take(turn)) return failure;
    member.looked = Clock::now();
    if (auto failure = apply(member, turn, {}, 0)) return failure;
    if (turn.rows.empty()) return std::nullopt;
    const bool has_jumped = turn.rows.back().number != member.known;  // to a snapshot
    if (!has_jumped && turn.rows.size() < store::RoomLog::kMostRows) return std::nullopt;
    jumps += has_jumped ? 1 : 0;
  }
  return rows_missing(turn.room);
}

// `number`: of the entry with the calls.
RoomKeeper::Failed RoomKeeper::apply(Member& member, const store::RoomTurn& turn,
                                     const RoomOutbox::Calls& calls, std::uint64_t number) {
  for (const store::RoomRow& row : turn.rows) {
    if (row.number <= member.known) continue;
    if (row.number != member.known + 1) return begin_anew(member);
    auto entry = waiting::read_entry(row.entry);
    if (!entry) return of_another_version(turn.room);
    const bool is_own = entry->proxy == proxy_;
    const bool has_calls = is_own && entry->number == number;
    if (is_own) member.users.add_to(*entry);
    std::vector<waiting::Outcome> outcomes = member.room->apply(*entry, row.time, is_own);
    member.known = row.number;
    if (!has_calls) continue;
    const std::size_t first = first_of(calls, outcomes.size());
    for (std::size_t n = 0; first + n < outcomes.size(); ++n)
      calls[n]->outcome = std::move(outcomes[first + n]);
  }
  if (!turn.rows.empty()) member.came = Clock::now();
  const std::uint64_t rows = RoomCompactor::kRows + proxy_.bytes[1] % RoomCompactor::kRows / 2;
  if (compactor_ && member.known - member.compacted > rows) {
    member.compacted = member.known;
    compactor_->ask(turn.room);
  }
  return std::nullopt;
}

// Starts again from the snapshot; the rows after it come with the next read.
RoomKeeper::Failed RoomKeeper::begin_anew(Member& member) {
  std::optional<store::RoomSnapshot> snapshot;
  if (auto failure = log_->read(member.room->name(), snapshot)) return failure;
  const std::string_view bytes = snapshot ? std::string_view(snapshot->bytes) : std::string_view();
  if (!member.room->restore_log(bytes, Clock::now()))
    return of_another_version(member.room->name());
  member.known = member.compacted = snapshot ? snapshot->number : 0;
  member.room->agree(false);  // if the log has no terms
  return std::nullopt;
}

// It was cut off, or is new. Only once the log answers and takes a row are its visitors' places
// collected: until then the room goes on by itself. A database may be read-only for a while.
RoomKeeper::Failed RoomKeeper::come_back(Member& member) {
  SharedWaitingRoom& room = *member.room;
  const bool has_just_come = member.known == 0;
  bool knows_last = false;
  if (auto failure = find_last(member, knows_last)) return failure;
  if (!has_just_come) {
    const waiting::LogEntry sign{proxy_, ++number_, room.sight(Clock::now()).backend, {}};
    store::RoomTurn turn{.room = room.name(), .entry = to_bytes(sign), .after = member.known};
    if (auto failure = log_->take(turn)) return failure;
  }
  // If a place is in the list twice, the later one counts.
  const auto places = room.come_back(room.outbox().reported(), Clock::now());
  member.back.insert(member.back.begin(), places.begin(), places.end());
  std::ranges::stable_sort(member.back, {}, &waiting::Place::id);
  const auto is_same = [](const waiting::Place& a, const waiting::Place& b) {
    return a.id == b.id;
  };
  member.back.erase(std::unique(member.back.begin(), member.back.end(), is_same),
                    member.back.end());
  // Rows take them from the end: of tickets with the same order the first ones go first.
  std::ranges::stable_sort(member.back, std::greater{}, &waiting::Place::tie);
  if (!knows_last) {
    if (auto failure = begin_anew(member)) return failure;
  }
  if (auto failure = read(member)) return failure;
  room.agree(has_just_come);
  return std::nullopt;
}

// Whether the last applied row is in the log: another database that took over may lack it, and give
// its number to another row.
RoomKeeper::Failed RoomKeeper::find_last(Member& member, bool& is_there) {
  if (member.known == 0) return std::nullopt;
  store::RoomTurn turn{.room = member.room->name(), .after = member.known - 1};
  if (auto failure = log_->take(turn)) return failure;
  is_there = !turn.rows.empty() && turn.rows.front().number == member.known &&
             turn.rows.front().time == member.room->sight(Clock::now()).time;
  return std::nullopt;
}

// Moves the clock no more than needed: the row was written between `before` and `after`.
void RoomKeeper::follow_clock(waiting::Time time, TimePoint before, TimePoint after) {
  if (context_->clock.at(before) > time) context_->clock.follow(time, before);
  if (context_->clock.at(after) < time) context_->clock.follow(time, after);
}

void RoomKeeper::fail(const store::Failure& failure) {
  for (Member& member : members_) {
    member.is_behind = true;
    member.room->cut_off();
    member.room->outbox().refuse(true);
  }
  if (std::exchange(is_failing_, true)) return;
  const auto since = context_->clock.at(Clock::now()).time_since_epoch().count();
  context_->cut_off_since.store(since);
  context_->keeping.store(PlaceKeeping::fails);
  on_failure_(failure);
}

void RoomKeeper::recover() {
  is_failing_ = false;
  context_->keeping.store(PlaceKeeping::works);
  context_->cut_off_since.store(0);
  for (const Member& member : members_) member.room->outbox().refuse(false);
}

}  // namespace spillway::proxy
