// The log of waiting rooms in PostgreSQL. A row is written by one statement that commits by itself:
// it takes the room's next number, whose row lock is what orders proxies, and is gone with the
// commit. So a proxy that is stopped, or cut off, holds nothing that others wait for.
#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>

#include "store/postgres_connection.hpp"
#include "store/room_log.hpp"

namespace spillway::store {
namespace {

// Visitors wait for it.
constexpr std::chrono::milliseconds kRoomPatience{2'000};

std::string_view as_bytes(const VisitorSecret& secret) {
  return {reinterpret_cast<const char*>(secret.data()), secret.size()};
}

class PostgresRoomLog final : public RoomLog {
 public:
  explicit PostgresRoomLog(const std::string& url) : connection_(url, false, kRoomPatience) {}

  std::optional<Failure> agree_on(VisitorSecret& secret) override;
  std::optional<Failure> take(RoomTurn& turn) override;
  std::optional<Failure> read(const std::string& room,
                              std::optional<RoomSnapshot>& snapshot) override;
  std::optional<Failure> keep(const std::string& room, const RoomSnapshot& snapshot) override;
  void interrupt() override { connection_.interrupt(); }

 private:
  std::optional<Failure> run(std::span<const PostgresStep> steps);
  std::optional<Failure> write(RoomTurn& turn);

  PostgresConnection connection_;
};

std::optional<Failure> PostgresRoomLog::run(std::span<const PostgresStep> steps) {
  if (auto failure = connection_.ensure()) return failure;
  if (auto failed = connection_.run(steps)) return std::move(failed->failure);
  return std::nullopt;
}

// Of two that come first one sees nothing, and then the other one's.
std::optional<Failure> PostgresRoomLog::agree_on(VisitorSecret& secret) {
  bool is_known = false;
  std::array<PostgresStep, 1> steps{{{PostgresStatement::room_secret, {}, {}}}};
  steps[0].parameters.add(as_bytes(secret));
  VisitorSecret agreed{};
  steps[0].read = [&](const PostgresRows& rows) {
    is_known = rows.size() > 0 && rows.bytes(0, 0).size() == agreed.size();
    if (is_known) std::ranges::copy(rows.bytes(0, 0), agreed.begin());
  };
  for (int attempt = 0; attempt < 2 && !is_known; ++attempt) {
    if (auto failure = run(steps)) return failure;
  }
  if (!is_known) return Failure{Failure::Kind::corrupt, "the secret of waiting rooms is damaged"};
  secret = agreed;
  return std::nullopt;
}

// In two transactions: while a long answer is read by a proxy that stands still, the first one has
// let go of the room.
std::optional<Failure> PostgresRoomLog::take(RoomTurn& turn) {
  turn.written = 0;
  turn.rows.clear();
  if (turn.entry) {
    if (auto failure = write(turn)) return failure;
    if (turn.written == turn.after + 1) return std::nullopt;
    turn.rows.clear();
  }
  std::array<PostgresStep, 1> steps{{{PostgresStatement::room_rows, {}, {}}}};
  steps[0]
      .parameters.add(std::string_view(turn.room))
      .add(static_cast<std::int64_t>(turn.after))
      .add(static_cast<std::int64_t>(kMostRows));
  steps[0].read = [&](const PostgresRows& rows) {
    for (int row = 0; row < rows.size(); ++row)
      turn.rows.push_back(
          {rows.number<std::uint64_t>(row, 0), rows.time(row, 1), rows.text(row, 2)});
  };
  return run(steps);
}

std::optional<Failure> PostgresRoomLog::write(RoomTurn& turn) {
  std::array<PostgresStep, 1> steps{{{PostgresStatement::room_write, {}, {}}}};
  steps[0].parameters.add(std::string_view(turn.room)).add(std::string_view(*turn.entry));
  steps[0].read = [&](const PostgresRows& rows) {
    if (rows.size() == 0) return;
    turn.written = rows.number<std::uint64_t>(0, 0);
    turn.rows = {{turn.written, rows.time(0, 1), *turn.entry}};
  };
  return run(steps);
}

std::optional<Failure> PostgresRoomLog::read(const std::string& room,
                                             std::optional<RoomSnapshot>& snapshot) {
  snapshot.reset();
  std::array<PostgresStep, 1> steps{{{PostgresStatement::room_snapshot, {}, {}}}};
  steps[0].parameters.add(std::string_view(room));
  steps[0].read = [&](const PostgresRows& rows) {
    if (rows.size() > 0) snapshot = RoomSnapshot{rows.number<std::uint64_t>(0, 0), rows.text(0, 1)};
  };
  return run(steps);
}

std::optional<Failure> PostgresRoomLog::keep(const std::string& room,
                                             const RoomSnapshot& snapshot) {
  std::array<PostgresStep, 1> steps{{{PostgresStatement::room_keep, {}, {}}}};
  steps[0]
      .parameters.add(std::string_view(room))
      .add(static_cast<std::int64_t>(snapshot.number))
      .add(std::string_view(snapshot.bytes));
  return run(steps);
}

}  // namespace

std::unique_ptr<RoomLog> postgres_room_log(const std::string& url) {
  return std::make_unique<PostgresRoomLog>(url);
}

}  // namespace spillway::store
