// Keeps the waiting rooms of this proxy in step with those of others: writes this proxy's commands
// into the log of each room (store/contract/room_log.hpp), applies all rows in order, and gives
// each call the outcome of its command. One thread; no worker waits for the database.
//
// While the log does not answer, calls are refused at once. When it answers again, the places that
// this proxy's visitors have by then are written first, so that no visitor loses its place.
//
// Thread-safe except open(), start() and stop().
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "proxy/waiting/reservation_users.hpp"
#include "proxy/waiting/room_compactor.hpp"
#include "proxy/waiting/shared_secrets.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "store/contract/room_log.hpp"

namespace spillway::proxy {

class RoomKeeper {
 public:
  using OnFailure = std::function<void(const store::Failure&)>;

  // `on_failure` is called on its thread when it begins to fail, and as SharedSecrets::OnOlder.
  RoomKeeper(std::shared_ptr<VisitorContext> context, OnFailure on_failure)
      : context_(std::move(context)),
        on_failure_(std::move(on_failure)),
        secrets_(context_, on_failure_) {}
  ~RoomKeeper() { stop(); }
  RoomKeeper(const RoomKeeper&) = delete;
  RoomKeeper& operator=(const RoomKeeper&) = delete;

  // Shares these waiting rooms, in their present state. Call it before any visitor has come.
  std::optional<store::Failure> open(const MakeRoomLog& make_log, const WaitingRooms& rooms);
  bool is_open() const { return log_ != nullptr; }
  // A reload: new rooms are shared from now on, removed ones are left to other proxies.
  void keep(const WaitingRooms& rooms);
  void start();
  void stop();
  // For the admin thread, which waits for the reply.
  SecretReply replace_secret(const waiting::SecretChange& change) { return secrets_.ask(change); }
  // A waiting room is deleted if no proxy has written to it for this long, except this proxy's own.
  void set_kept(Milliseconds kept) { kept_ = kept; }

 private:
  struct Member {
    std::shared_ptr<SharedWaitingRoom> room;
    std::uint64_t known = 0;             // the last row that was applied
    std::uint64_t compacted = 0;         // the last row that is in a snapshot, or should be
    TimePoint looked{};                  // when rows were last read
    TimePoint came{};                    // when the last read found rows
    TimePoint wrote{};                   // when this proxy last wrote a row
    TimePoint told{};                    // the same, with news
    bool is_behind = true;               // it was just shared, or was cut off
    std::vector<waiting::Place> back{};  // its visitors' places by then, to be sent
    ReservationUsers users{};
  };
  using Sight = SharedWaitingRoom::Sight;
  using Failed = std::optional<store::Failure>;

  void run();
  void wait();
  void take_rooms();
  void forget_gone_rooms();
  Failed turn(Member& member);
  bool is_due(Member& member, const Sight& sight, TimePoint now) const;
  waiting::LogEntry entry_of(Member& member, const Sight& sight, const RoomOutbox::Calls& calls,
                             TimePoint now);
  Failed write(Member& member, const Sight& sight);
  Failed write(Member& member, const waiting::LogEntry& entry, RoomOutbox::Calls& calls);
  void ring_if_urgent(const Member& member);
  Failed read(Member& member);
  Failed apply(Member& member, const store::RoomTurn& turn, const RoomOutbox::Calls& calls,
               std::uint64_t number);
  Failed begin_anew(Member& member);
  Failed come_back(Member& member);
  Failed find_last(Member& member, bool& is_there);
  void follow_clock(waiting::Time time, TimePoint before, TimePoint after);
  void fail(const store::Failure& failure);
  void recover();

  const std::shared_ptr<VisitorContext> context_;
  const OnFailure on_failure_;
  std::unique_ptr<store::RoomLog> log_;
  SharedSecrets secrets_;
  std::optional<RoomCompactor> compactor_;
  std::atomic<Milliseconds> kept_{std::chrono::hours(7 * 24)};
  waiting::ProxyId proxy_;
  std::uint64_t number_ = 0;  // of its entries; only its thread uses these four
  std::vector<Member> members_;
  bool is_failing_ = false;
  // How long gone rooms are kept, as given to the compactor with these members.
  std::optional<Milliseconds> told_kept_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  WaitingRooms rooms_;
  bool is_changed_ = false;  // whether rooms_ is new
  bool is_rung_ = false;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace spillway::proxy
