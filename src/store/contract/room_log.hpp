// The shared log of a waiting room: what several proxies write about it, in one order. There is one
// log for each room, and occasionally a snapshot of everything before it. The bytes are defined by
// waiting/replica/replica.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/contract/failure.hpp"
#include "store/contract/place_store.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::store {

struct RoomRow {
  std::uint64_t number = 0;  // from 1, without gaps
  waiting::Time time{};      // of the database; never before that of the previous row
  std::string entry;
};

struct RoomSnapshot {
  std::uint64_t number = 0;  // of the last row included
  std::string bytes;
};

// A proxy's access to the log of one room: it may append a row, and reads the new ones.
struct RoomTurn {
  std::string room;
  std::optional<std::string> entry{};
  std::uint64_t after = 0;  // the last row that the proxy has

  // Results: the number of its own row, and the rows in order, with its own unless there are more
  // than kMostRows before it. The first may have a later number than expected, if the rows before
  // it exist only in a snapshot.
  std::uint64_t written = 0;
  std::vector<RoomRow> rows{};
};

// Not thread-safe except interrupt(). After a failure a row may have been written, or may be later.
class RoomLog {
 public:
  static constexpr std::size_t kMostRows = 1000;  // read at a time

  virtual ~RoomLog() = default;

  // The secrets for visitors' tokens, shared by all proxies; `first` is used if there are none yet.
  virtual std::optional<Failure> agree_on(const VisitorSecret& first,
                                          waiting::TokenSecrets& agreed) = 0;
  virtual std::optional<Failure> read(waiting::TokenSecrets& secrets) = 0;
  // As waiting::replaced(): the new secret signs after `announced`, when all proxies know it.
  // `secrets`: those now in force; is_done: they are the new ones.
  virtual std::optional<Failure> replace(const waiting::SecretChange& change,
                                         Milliseconds announced, waiting::TokenSecrets& secrets,
                                         bool& is_done) = 0;
  // Replaces older secrets, compared by their number.
  virtual std::optional<Failure> restore(const waiting::TokenSecrets& secrets) = 0;
  // Removes a former secret that is no longer accepted.
  virtual std::optional<Failure> forget_former() = 0;
  virtual std::optional<Failure> take(RoomTurn& turn) = 0;
  virtual std::optional<Failure> read(const std::string& room,
                                      std::optional<RoomSnapshot>& snapshot) = 0;
  // Replaces an older snapshot, and deletes rows that it makes superfluous. Does nothing if there
  // is one that is as recent.
  virtual std::optional<Failure> keep(const std::string& room, const RoomSnapshot& snapshot) = 0;
  // Deletes all about rooms without a new row for longer than `kept`, but nothing about `own`.
  virtual std::optional<Failure> forget_rooms(const std::vector<std::string>& own,
                                              Milliseconds kept) = 0;
  // Calls that wait for the database fail soon, now and in the future.
  virtual void interrupt() = 0;
};

// For a database shared by several proxies, by libpq's URL. Connects on first use.
std::unique_ptr<RoomLog> postgres_room_log(const std::string& url);

}  // namespace spillway::store
