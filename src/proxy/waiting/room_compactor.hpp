// Makes snapshots of waiting rooms that several proxies share, so that a new proxy need not read
// all rows, and rows can be deleted. A snapshot is made from the former one and the rows since, on
// a separate thread and connection: no visitor waits for it, and no lock is held meanwhile. It also
// deletes waiting rooms that are gone from all configurations.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "store/contract/room_log.hpp"
#include "waiting/replica/replica.hpp"

namespace spillway::proxy {

using MakeRoomLog = std::function<std::unique_ptr<store::RoomLog>()>;

// A snapshot of all rows, unless the newest one lacks fewer than `least` of them.
std::optional<store::Failure> compact(store::RoomLog& log, const std::string& room,
                                      std::uint64_t least);

class RoomCompactor {
 public:
  // A snapshot is made after this many rows: some minutes of a busy room.
  static constexpr std::uint64_t kRows = 2000;

  explicit RoomCompactor(std::unique_ptr<store::RoomLog> log);
  ~RoomCompactor();
  RoomCompactor(const RoomCompactor&) = delete;
  RoomCompactor& operator=(const RoomCompactor&) = delete;

  void ask(const std::string& room);
  // As RoomLog::forget_rooms(), at once and then every hour.
  void forget(std::vector<std::string> own, Milliseconds kept);

 private:
  struct Sweep {
    std::vector<std::string> own;
    Milliseconds kept;
    TimePoint due;
  };

  void run();
  std::optional<Sweep> due_sweep(TimePoint now);

  const std::unique_ptr<store::RoomLog> log_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::set<std::string> rooms_;
  std::optional<Sweep> sweep_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace spillway::proxy
