// What proxies that share a waiting room write of it, in one order: a log for each room, and now
// and then a snapshot of all that came before. What the bytes mean is
// waiting/replica/replica.hpp's.
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
  waiting::Time time{};      // the database's; never before that of the row before
  std::string entry;
};

struct RoomSnapshot {
  std::uint64_t number = 0;  // of the last row in it
  std::string bytes;
};

// One turn of a proxy at the log of one room: it may write a row, and reads what is new.
struct RoomTurn {
  std::string room;
  std::optional<std::string> entry{};
  std::uint64_t after = 0;  // the last row that it knows

  // Answered: the number of its own row, and rows in their order, its own among them unless there
  // are more than kMostRows before it. The first may be a later one than the next, if rows are
  // in a snapshot only.
  std::uint64_t written = 0;
  std::vector<RoomRow> rows{};
};

// Not thread-safe but for interrupt(). After a failure a row may have been written, or may be yet.
class RoomLog {
 public:
  static constexpr std::size_t kMostRows = 1000;  // that are read at a time

  virtual ~RoomLog() = default;

  // What visitors' tokens are signed with, for all proxies; `first`: if there is none yet.
  virtual std::optional<Failure> agree_on(const VisitorSecret& first,
                                          waiting::TokenSecrets& agreed) = 0;
  virtual std::optional<Failure> read(waiting::TokenSecrets& secrets) = 0;
  // As waiting::replaced(): the new one signs after `announced`, so that all proxies know it by
  // then. `secrets`: those that hold now; is_done: they are the new ones.
  virtual std::optional<Failure> replace(const waiting::SecretChange& change,
                                         Milliseconds announced, waiting::TokenSecrets& secrets,
                                         bool& is_done) = 0;
  // In place of older ones, by their number.
  virtual std::optional<Failure> restore(const waiting::TokenSecrets& secrets) = 0;
  // A former secret that is accepted no more.
  virtual std::optional<Failure> forget_former() = 0;
  virtual std::optional<Failure> take(RoomTurn& turn) = 0;
  virtual std::optional<Failure> read(const std::string& room,
                                      std::optional<RoomSnapshot>& snapshot) = 0;
  // In place of an older one; rows that it makes superfluous are deleted. Nothing if there is one
  // as new.
  virtual std::optional<Failure> keep(const std::string& room, const RoomSnapshot& snapshot) = 0;
  // Of those of which no proxy has written for longer than `kept`, all is deleted; not of `own`.
  virtual std::optional<Failure> forget_rooms(const std::vector<std::string>& own,
                                              Milliseconds kept) = 0;
  // What waits for the database fails soon, now and later.
  virtual void interrupt() = 0;
};

// Of a database that several proxies share, by libpq's URL. It connects when it is used.
std::unique_ptr<RoomLog> postgres_room_log(const std::string& url);

}  // namespace spillway::store
