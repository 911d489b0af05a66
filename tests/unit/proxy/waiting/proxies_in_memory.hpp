// Proxies with one waiting room, on a log in memory that can be cut off from each of them.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "proxy/waiting/room_compactor.hpp"
#include "proxy/waiting/room_keeper.hpp"
#include "support/event.hpp"

namespace spillway::proxy::in_memory {

using support::Deadline;
using waiting::Token;
using waiting::TokenKind;
using Door = waiting::WaitingRoom::Door;

struct Database {
  std::mutex mutex;
  std::optional<waiting::TokenSecrets> secrets;
  std::vector<std::string> kept;  // as a proxy asked for
  std::map<std::string, std::vector<store::RoomRow>> rows;
  std::map<std::string, store::RoomSnapshot> snapshots;
  waiting::Time time = waiting::Time(std::chrono::hours(500'000));
  std::atomic<bool> only_reads{false};
  std::atomic<int> refused{0};            // rows
  std::atomic<bool> loses_answer{false};  // of the next row with commands, which is written
};

class LogInMemory final : public store::RoomLog {
 public:
  LogInMemory(Database& database, std::atomic<bool>& is_cut)
      : database_(database), is_cut_(is_cut) {}

  std::optional<store::Failure> agree_on(const store::VisitorSecret& first,
                                         waiting::TokenSecrets& agreed) override {
    return locked([&] {
      if (!database_.secrets) database_.secrets = waiting::first_secrets(first);
      agreed = *database_.secrets;
    });
  }
  std::optional<store::Failure> read(waiting::TokenSecrets& secrets) override {
    return locked([&] { secrets = *database_.secrets; });
  }
  std::optional<store::Failure> replace(const waiting::SecretChange& change, Milliseconds announced,
                                        waiting::TokenSecrets& secrets, bool& is_done) override {
    return locked([&] {
      const auto next =
          waiting::replaced(*database_.secrets, change, database_.time, database_.time + announced);
      is_done = next.has_value();
      if (next) database_.secrets = *next;
      secrets = *database_.secrets;
    });
  }
  std::optional<store::Failure> restore(const waiting::TokenSecrets& secrets) override {
    return locked([&] {
      if (database_.secrets->number < secrets.number) database_.secrets = secrets;
    });
  }
  std::optional<store::Failure> forget_former() override {
    return locked([&] { database_.secrets->former.reset(); });
  }
  std::optional<store::Failure> forget_rooms(const std::vector<std::string>& own,
                                             Milliseconds) override {
    return locked([&] { database_.kept = own; });
  }
  std::optional<store::Failure> take(store::RoomTurn& turn) override {
    if (turn.entry && database_.only_reads) {
      ++database_.refused;
      return store::Failure{store::Failure::Kind::full, "only reads"};
    }
    auto failure = locked([&] {
      auto& rows = database_.rows[turn.room];
      std::uint64_t& last = last_[turn.room];
      last = rows.empty() ? last : rows.back().number;
      database_.time += Milliseconds(5);
      if (turn.entry) rows.push_back({turn.written = last + 1, database_.time, *turn.entry});
      turn.rows.clear();
      for (const store::RoomRow& row : rows) {
        if (row.number > turn.after) turn.rows.push_back(row);
      }
    });
    const bool has_commands = turn.entry && !waiting::read_entry(*turn.entry)->commands.empty();
    if (!failure && has_commands && database_.loses_answer.exchange(false))
      return store::Failure{store::Failure::Kind::unavailable, "no answer"};
    return failure;
  }
  std::optional<store::Failure> read(const std::string& room,
                                     std::optional<store::RoomSnapshot>& snapshot) override {
    return locked([&] {
      const auto found = database_.snapshots.find(room);
      snapshot = found == database_.snapshots.end() ? std::nullopt : std::optional(found->second);
    });
  }
  std::optional<store::Failure> keep(const std::string& room,
                                     const store::RoomSnapshot& snapshot) override {
    return locked([&] {
      database_.snapshots[room] = snapshot;
      std::erase_if(database_.rows[room],
                    [&](const store::RoomRow& row) { return row.number < snapshot.number; });
    });
  }
  void interrupt() override {}

 private:
  std::optional<store::Failure> locked(const std::function<void()>& act) {
    if (is_cut_) return store::Failure{store::Failure::Kind::unavailable, "cut"};
    const std::lock_guard lock(database_.mutex);
    act();
    return std::nullopt;
  }

  Database& database_;
  std::atomic<bool>& is_cut_;
  std::map<std::string, std::uint64_t> last_;
};

inline config::WaitingRoom settings(std::uint32_t sessions, config::OnStoreFailure on_failure) {
  config::WaitingRoom room;
  room.sessions.most = sessions;
  room.on_store_failure = on_failure;
  return room;
}

// One proxy: its room, and who keeps it in step.
class Proxy {
 public:
  Proxy(Database& database, const config::WaitingRoom& with)
      : settings(with),
        context(std::make_shared<VisitorContext>(waiting::TokenKeys(HmacKey{}), SipKey{1, 2})),
        room(std::make_shared<SharedWaitingRoom>("sale", settings, context)),
        keeper(context, [this](const store::Failure&) { ++failures; }) {
    const auto make_log = [this, &database] {
      return std::make_unique<LogInMemory>(database, is_cut);
    };
    REQUIRE(!keeper.open(make_log, {room}));
    keeper.start();
  }
  ~Proxy() { keeper.stop(); }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  template <class C>
  std::optional<typename C::Result> ask(const C& command) {
    auto outcome = wait_for_log(room->outbox(), command);
    if (!outcome) return room->perform_apart(command, Clock::now());
    return std::get<typename C::Result>(*std::move(outcome));
  }
  std::optional<Door> arrives() {
    const auto arrived = ask(waiting::Arrive{});
    return arrived ? std::optional(arrived->door) : std::nullopt;
  }
  Token stamp(std::uint8_t number) {
    return {TokenKind::stamp, {{number}}, 0, room->time_at(Clock::now())};
  }
  bool joins(std::uint8_t number) {
    const auto contact = ask(waiting::Join{{stamp(number)}});
    return contact && contact->has_joined;
  }
  std::optional<std::size_t> ahead(std::uint8_t number) {
    const auto view = room->last_seen({{number}}, Clock::now());
    return view ? std::optional(view->ahead) : std::nullopt;
  }
  void tick() { room->tick(settings, {}, Clock::now()); }
  bool becomes(const std::function<bool()>& condition) {
    const Deadline deadline;
    while (!condition()) {
      if (deadline.passed()) return false;
      tick();
    }
    return true;
  }

  const config::WaitingRoom settings;
  std::atomic<bool> is_cut{false};
  std::atomic<int> failures{0};
  std::shared_ptr<VisitorContext> context;
  std::shared_ptr<SharedWaitingRoom> room;
  RoomKeeper keeper;
};

inline config::WaitingRoom one_place(
    config::OnStoreFailure on_failure = config::OnStoreFailure::hold) {
  return settings(1, on_failure);
}

}  // namespace spillway::proxy::in_memory
