// The log of waiting rooms in PostgreSQL. A row is written by one statement that commits by itself:
// it takes the room's next number, and that row's lock, which orders the proxies, is released with
// the commit. So a proxy that hangs, or is disconnected, holds nothing that others wait for.
#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>

#include "store/contract/room_log.hpp"
#include "store/postgres/postgres_connection.hpp"

namespace spillway::store {
namespace {

// Short, because visitors wait for the result.
constexpr std::chrono::milliseconds kRoomPatience{2'000};

std::string_view as_bytes(const VisitorSecret& secret) {
  return {reinterpret_cast<const char*>(secret.data()), secret.size()};
}

bool copy_secret(std::string_view bytes, HmacKey& to) {
  if (bytes.size() != to.size()) return false;
  std::ranges::copy(bytes, to.begin());
  return true;
}

// number, secret, since, lasting, former
std::optional<waiting::TokenSecrets> secrets_of(const PostgresRows& rows) {
  if (rows.size() == 0) return std::nullopt;
  waiting::TokenSecrets secrets{
      .number = rows.number<std::uint32_t>(0, 0), .since = rows.time(0, 2), .former = {}};
  bool is_whole = copy_secret(rows.bytes(0, 1), secrets.newest) &&
                  copy_secret(rows.bytes(0, 3), secrets.lasting);
  if (!rows.is_null(0, 4))
    is_whole = copy_secret(rows.bytes(0, 4), secrets.former.emplace()) && is_whole;
  return is_whole ? std::optional(secrets) : std::nullopt;
}

Failure damaged() { return {Failure::Kind::corrupt, "the secret of waiting rooms is damaged"}; }

class PostgresRoomLog final : public RoomLog {
 public:
  explicit PostgresRoomLog(const std::string& url) : connection_(url, false, kRoomPatience) {}

  std::optional<Failure> agree_on(const VisitorSecret& first,
                                  waiting::TokenSecrets& agreed) override;
  std::optional<Failure> read(waiting::TokenSecrets& secrets) override;
  std::optional<Failure> replace(const waiting::SecretChange& change, Milliseconds announced,
                                 waiting::TokenSecrets& secrets, bool& is_done) override;
  std::optional<Failure> restore(const waiting::TokenSecrets& secrets) override;
  std::optional<Failure> forget_former() override;
  std::optional<Failure> take(RoomTurn& turn) override;
  std::optional<Failure> read(const std::string& room,
                              std::optional<RoomSnapshot>& snapshot) override;
  std::optional<Failure> keep(const std::string& room, const RoomSnapshot& snapshot) override;
  std::optional<Failure> forget_rooms(const std::vector<std::string>& own,
                                      Milliseconds kept) override;
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

// If two proxies come first together, one sees no row at first, and the other's on its second try.
std::optional<Failure> PostgresRoomLog::agree_on(const VisitorSecret& first,
                                                 waiting::TokenSecrets& agreed) {
  std::optional<waiting::TokenSecrets> known;
  std::array<PostgresStep, 1> steps{{{PostgresStatement::room_secret, {}, {}}}};
  steps[0].parameters.add(as_bytes(first));
  steps[0].read = [&](const PostgresRows& rows) { known = secrets_of(rows); };
  for (int attempt = 0; attempt < 2 && !known; ++attempt) {
    if (auto failure = run(steps)) return failure;
  }
  if (!known) return damaged();
  agreed = *known;
  return std::nullopt;
}

std::optional<Failure> PostgresRoomLog::read(waiting::TokenSecrets& secrets) {
  std::optional<waiting::TokenSecrets> known;
  std::array<PostgresStep, 1> steps{{{PostgresStatement::room_secrets, {}, {}}}};
  steps[0].read = [&](const PostgresRows& rows) { known = secrets_of(rows); };
  if (auto failure = run(steps)) return failure;
  if (!known) return damaged();
  secrets = *known;
  return std::nullopt;
}

std::optional<Failure> PostgresRoomLog::replace(const waiting::SecretChange& change,
                                                Milliseconds announced,
                                                waiting::TokenSecrets& secrets, bool& is_done) {
  std::optional<waiting::TokenSecrets> known;
  std::array<PostgresStep, 1> steps{{{PostgresStatement::room_replace, {}, {}}}};
  steps[0]
      .parameters.add(as_bytes(change.secret))
      .add(change.how == waiting::Replacement::at_once)
      .add(std::int64_t{announced.count()})
      .add(std::int64_t{waiting::TokenSecrets::kOverlap.count()});
  steps[0].read = [&](const PostgresRows& rows) { known = secrets_of(rows); };
  if (auto failure = run(steps)) return failure;
  is_done = known.has_value();
  if (!known) return read(secrets);
  secrets = *known;
  return std::nullopt;
}

std::optional<Failure> PostgresRoomLog::restore(const waiting::TokenSecrets& secrets) {
  std::optional<std::string_view> former;
  if (secrets.former) former = as_bytes(*secrets.former);
  std::array<PostgresStep, 1> steps{{{PostgresStatement::room_restore, {}, {}}}};
  steps[0]
      .parameters.add(std::int64_t{secrets.number})
      .add(as_bytes(secrets.newest))
      .add(std::int64_t{secrets.since.time_since_epoch().count()})
      .add(as_bytes(secrets.lasting))
      .add(former);
  return run(steps);
}

std::optional<Failure> PostgresRoomLog::forget_former() {
  std::array<PostgresStep, 1> steps{{{PostgresStatement::room_forget_former, {}, {}}}};
  steps[0].parameters.add(std::int64_t{waiting::TokenSecrets::kOverlap.count()});
  return run(steps);
}

// In two transactions: a proxy that hangs while it reads a long result has already released the
// room in the first.
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

std::optional<Failure> PostgresRoomLog::forget_rooms(const std::vector<std::string>& own,
                                                     Milliseconds kept) {
  PostgresColumn names(PostgresType::text);
  for (const std::string& name : own) names.add(std::string_view(name));
  std::array<PostgresStep, 1> steps{{{PostgresStatement::room_forget, {}, {}}}};
  steps[0].parameters.add(std::move(names)).add(std::int64_t{kept.count()});
  return run(steps);
}

}  // namespace

std::unique_ptr<RoomLog> postgres_room_log(const std::string& url) {
  return std::make_unique<PostgresRoomLog>(url);
}

}  // namespace spillway::store
