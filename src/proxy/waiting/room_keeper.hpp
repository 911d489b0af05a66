// Keeps the waiting rooms of this proxy in step with those of others: writes what it wants into the
// log of each (store/contract/room_log.hpp), applies all rows in their order, and gives each call
// the outcome of its row. One thread; no worker waits for the database.
//
// While the log does not answer, calls are refused at once. When it answers again, the places that
// this proxy's visitors had by then are written first, so that no visitor loses its place.
//
// Thread-safe but for open(), start() and stop().
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

  // `on_failure` is called when it begins to fail, from its thread, and of SharedSecrets::OnOlder.
  RoomKeeper(std::shared_ptr<VisitorContext> context, OnFailure on_failure)
      : context_(std::move(context)),
        on_failure_(std::move(on_failure)),
        secrets_(context_, on_failure_) {}
  ~RoomKeeper() { stop(); }
  RoomKeeper(const RoomKeeper&) = delete;
  RoomKeeper& operator=(const RoomKeeper&) = delete;

  // Shares these waiting rooms from now on, as they are by then. Before any visitor has come.
  std::optional<store::Failure> open(const MakeRoomLog& make_log, const WaitingRooms& rooms);
  bool is_open() const { return log_ != nullptr; }
  // A reload: new ones are shared from now on, others are left to other proxies.
  void keep(const WaitingRooms& rooms);
  void start();
  void stop();
  // For the admin thread, which waits for it.
  SecretReply replace_secret(const waiting::SecretChange& change) { return secrets_.ask(change); }
  // Waiting rooms of which no proxy has written for so long are deleted, but for its own.
  void set_kept(Milliseconds kept) { kept_ = kept; }

 private:
  struct Member {
    std::shared_ptr<SharedWaitingRoom> room;
    std::uint64_t known = 0;             // the last row that was applied
    std::uint64_t compacted = 0;         // the last row that is in a snapshot, or should be
    TimePoint looked{};                  // when rows were read last
    TimePoint came{};                    // when one was there
    TimePoint wrote{};                   // when it wrote one itself
    TimePoint told{};                    // likewise, with news
    bool is_behind = true;               // it was just shared, or was cut off
    std::vector<waiting::Place> back{};  // what its visitors had by then, to be told
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
  std::uint64_t number_ = 0;     // its thread's: of its entries
  std::vector<Member> members_;  // likewise
  bool is_failing_ = false;      // likewise
  // Likewise: for how long gone rooms are kept, as the compactor was told with these members.
  std::optional<Milliseconds> told_kept_;

  std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  WaitingRooms rooms_;
  bool is_changed_ = false;  // rooms_
  bool is_rung_ = false;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace spillway::proxy
