#include "proxy/waiting/room_compactor.hpp"

#include <pthread.h>

#include <utility>

namespace spillway::proxy {

namespace {

constexpr Milliseconds kSweepEvery{3'600'000};

}  // namespace

std::optional<store::Failure> compact(store::RoomLog& log, const std::string& room,
                                      std::uint64_t least) {
  using Kind = store::Failure::Kind;
  std::optional<store::RoomSnapshot> former;
  if (auto failure = log.read(room, former)) return failure;
  waiting::Replica replica;
  if (former && !replica.restore(former->bytes))
    return store::Failure{Kind::newer_version, "a snapshot of another version"};
  store::RoomTurn turn{.room = room, .after = former ? former->number : 0};
  const std::uint64_t first = turn.after;
  do {
    if (auto failure = log.take(turn)) return failure;
    for (const store::RoomRow& row : turn.rows) {
      const auto entry = waiting::read_entry(row.entry);
      // Another proxy has made a snapshot meanwhile, or is of another version.
      if (!entry || row.number != turn.after + 1) return std::nullopt;
      replica.apply(*entry, row.time);
      turn.after = row.number;
    }
  } while (!turn.rows.empty());
  if (turn.after - first < least) return std::nullopt;
  return log.keep(room, {turn.after, replica.archive()});
}

RoomCompactor::RoomCompactor(std::unique_ptr<store::RoomLog> log) : log_(std::move(log)) {
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "rooms-snapshot");
    run();
  });
}

RoomCompactor::~RoomCompactor() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  log_->interrupt();
  thread_.join();
}

void RoomCompactor::ask(const std::string& room) {
  {
    const std::lock_guard lock(mutex_);
    rooms_.insert(room);
  }
  wake_.notify_all();
}

void RoomCompactor::forget(std::vector<std::string> own, Milliseconds kept) {
  {
    const std::lock_guard lock(mutex_);
    sweep_ = {std::move(own), kept, Clock::now()};
  }
  wake_.notify_all();
}

std::optional<RoomCompactor::Sweep> RoomCompactor::due_sweep(TimePoint now) {
  if (!sweep_ || now < sweep_->due) return std::nullopt;
  sweep_->due = now + kSweepEvery;
  return sweep_;
}

// A failure is retried after as many rows again, or an hour: until then more of them are kept.
void RoomCompactor::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto has_work = [this] {
      return is_stopping_ || !rooms_.empty() || (sweep_ && Clock::now() >= sweep_->due);
    };
    // A copy, since it may be changed meanwhile.
    const TimePoint due = sweep_ ? sweep_->due : Clock::now() + kSweepEvery;
    if (!wake_.wait_until(lock, due, has_work)) continue;
    if (is_stopping_) return;
    std::set<std::string> rooms = std::exchange(rooms_, {});
    const std::optional<Sweep> sweep = due_sweep(Clock::now());
    lock.unlock();
    for (const std::string& room : rooms) compact(*log_, room, kRows / 2);
    if (sweep) log_->forget_rooms(sweep->own, sweep->kept);
    lock.lock();
  }
}

}  // namespace spillway::proxy
