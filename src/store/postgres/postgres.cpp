#include "store/postgres/postgres.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "store/postgres/postgres_announcement.hpp"
#include "store/postgres/postgres_batch.hpp"
#include "store/postgres/postgres_totals.hpp"

namespace spillway::store {
namespace {

class PostgresStore final : public JobStore {
 public:
  explicit PostgresStore(const std::string& url) : connection_(url), totals_(url) {}

  std::optional<Failure> open(const KeyMark& mark);
  std::optional<Failure> execute(std::span<Command* const> commands, jobs::WallTime now) override;
  bool is_shared() const override { return true; }
  Heard heard() override;
  int descriptor() const override { return connection_.descriptor(); }

 private:
  std::optional<PostgresFailure> attempt(std::span<Command* const> commands,
                                         std::vector<Enqueue*>& undecided, bool carefully);

  void turn_periods();
  void keep_history();
  void do_beside(std::span<Command* const> commands);

  PostgresConnection connection_;
  PostgresHints hints_;
  PostgresTotals totals_;
  TimePoint turn_periods_at_{};
  TimePoint keep_history_at_{};
};

std::optional<Failure> PostgresStore::open(const KeyMark& mark) {
  if (auto failure = connection_.ensure()) return failure;
  bool is_same_key = false;
  PostgresBatch batch(connection_, hints_, false);
  PostgresParameters parameters;
  parameters.add(mark);
  batch.add(PostgresStatement::keep_mark, std::move(parameters),
            [&](const PostgresRows& rows) { is_same_key = rows.size() > 0; });
  if (!batch.flush()) return batch.failure()->failure;
  if (is_same_key) return std::nullopt;
  return Failure{Failure::Kind::corrupt,
                 "The jobs in the database were written with another key_file, or with none."};
}

Heard PostgresStore::heard() {
  Heard heard;
  for (const std::string& text : connection_.notifications()) {
    if (std::optional<jobs::Lane> lane = read_announcement(text))
      heard.lanes.push_back(*std::move(lane));
    else if (const auto cancel = read_cancel(text))
      heard.cancels.push_back(*cancel);
  }
  return heard;
}

// Consecutive enqueues, buries and settles. They concern different jobs, except when a job is
// settled in the batch that enqueues it: so the enqueues are executed first.
class Group {
 public:
  void add(Enqueue& enqueue) { enqueues_.push_back(&enqueue); }
  void add(Bury& bury) { buries_.push_back(&bury); }
  void add(PostgresBatch& batch, Settle& settle) {
    // A second settle of a job must see the result of the first.
    if (!settled_.insert(settle.id).second) {
      send(batch);
      settled_.insert(settle.id);
    }
    settles_.push_back(&settle);
  }
  void send(PostgresBatch& batch) {
    add_enqueues(batch, enqueues_);
    add_buries(batch, buries_);
    add_settles(batch, settles_);
    enqueues_.clear();
    buries_.clear();
    settles_.clear();
    settled_.clear();
  }

 private:
  std::vector<Enqueue*> enqueues_;
  std::vector<Bury*> buries_;
  std::vector<Settle*> settles_;
  std::set<jobs::JobId> settled_;
};

// Consecutive claims.
class Claims {
 public:
  void add(PostgresBatch& batch, Claim& claim) {
    // A second claim of a lane must see the result of the first.
    const bool is_other = !claims_.empty() && claims_.front()->epoch != claim.epoch;
    if (is_other || lanes_.contains(claim.lane)) send(batch);
    lanes_.insert(claim.lane);
    claims_.push_back(&claim);
  }
  void send(PostgresBatch& batch) {
    add_claims(batch, claims_);
    claims_.clear();
    lanes_.clear();
  }

 private:
  std::vector<Claim*> claims_;
  std::set<jobs::Lane> lanes_;
};

struct Execution {
  PostgresBatch& batch;

  void operator()(Join& join) const { add_join(batch, join); }
  void operator()(Renew& renew) const { add_renew(batch, renew); }
  void operator()(Leave& leave) const { do_leave(batch, leave); }
  void operator()(Release& release) const { do_release(batch, release); }
  void operator()(Enqueue&) const {}  // part of a group
  void operator()(KnowsKey& asked) const {
    KnowsKey* const one = &asked;
    if (!asked.takes) add_knows_keys(batch, {&one, 1});
  }
  void operator()(LetGo&) const {}  // before the transaction
  void operator()(HasUnfinished& asked) const { add_has_unfinished(batch, asked); }
  void operator()(Bury&) const {}  // part of a group
  void operator()(Lanes& lanes) const { add_lanes(batch, lanes); }
  void operator()(Claim&) const {}  // part of a group
  void operator()(Announce& announce) const { add_announce(batch, announce); }
  void operator()(Settle&) const {}  // part of a group
  void operator()(Cancel& cancel) const { do_cancel(batch, cancel); }
  void operator()(Find& find) const { add_find(batch, find); }
  void operator()(ReadAnswer& read) const { add_read_answer(batch, read); }
  void operator()(Inspect& inspect) const { add_inspect(batch, inspect); }
  void operator()(List& list) const { add_list(batch, list); }
  void operator()(Replay& replay) const { do_replay(batch, replay); }
  void operator()(Purge& purge) const { add_purge(batch, purge); }
  void operator()(Sweep& sweep) const { do_sweep(batch, sweep); }
  void operator()(Totals&) const {}  // outside of the transaction
};

// Keys have transactions of their own, before the batch's, which holds locks for long and is
// flushed. Each has one statement that locks keys, in their order, so that proxies cannot deadlock.
// They stay committed if the batch's transaction fails: a second try finds its own keys.
void add_keys(PostgresBatch& batch, std::span<Command* const> commands) {
  std::vector<KnowsKey*> taken;
  for (Command* command : commands) {
    if (const auto* let_go = std::get_if<LetGo>(command)) {
      batch.add(PostgresStatement::begin);
      add_let_go(batch, *let_go);
      batch.add(PostgresStatement::commit);
    }
    if (auto* key = std::get_if<KnowsKey>(command); key && key->takes) taken.push_back(key);
  }
  if (taken.empty()) return;
  batch.add(PostgresStatement::begin);
  add_knows_keys(batch, taken);
  batch.add(PostgresStatement::commit);
}

void add_commands(PostgresBatch& batch, std::span<Command* const> commands) {
  Group group;
  Claims claims;
  for (Command* command : commands) {
    if (auto* claim = std::get_if<Claim>(command)) {
      group.send(batch);
      claims.add(batch, *claim);
      continue;
    }
    claims.send(batch);
    if (auto* enqueue = std::get_if<Enqueue>(command)) {
      group.add(*enqueue);
    } else if (auto* bury = std::get_if<Bury>(command)) {
      group.add(*bury);
    } else if (auto* settle = std::get_if<Settle>(command)) {
      group.add(batch, *settle);
    } else {
      group.send(batch);
      std::visit(Execution{batch}, *command);
    }
  }
  group.send(batch);
  claims.send(batch);
}

// One transaction, after those of the keys.
std::optional<PostgresFailure> PostgresStore::attempt(std::span<Command* const> commands,
                                                      std::vector<Enqueue*>& undecided,
                                                      bool carefully) {
  PostgresBatch batch(connection_, hints_, carefully);
  std::vector<Enqueue*> enqueues;
  for (Command* command : commands) {
    if (auto* enqueue = std::get_if<Enqueue>(command)) enqueues.push_back(enqueue);
  }
  if (!admit(batch, enqueues)) return batch.failure();
  add_keys(batch, commands);
  batch.add(PostgresStatement::begin);
  add_lock_lines(batch, commands);
  add_commands(batch, commands);
  if (batch.ends_jobs) {
    batch.add(PostgresStatement::advance_lines, {}, [this](const PostgresRows& rows) {
      for (int row = 0; row < rows.size(); ++row) hints_.appeared(rows.time(row, 0));
    });
  }
  batch.add(PostgresStatement::commit);
  const TimePoint began = Clock::now();
  if (!batch.flush()) return batch.failure();
  if (batch.scans_fully) hints_.full_scan_took(Clock::now() - began);
  undecided = std::move(batch.undecided);
  return std::nullopt;
}

constexpr std::chrono::milliseconds kShortestPeriod = std::chrono::hours{1};
constexpr Duration kPeriodsTurnEvery = std::chrono::seconds{10};
constexpr Duration kHistoryKeptEvery = std::chrono::seconds{60};
constexpr int kTries = 2;  // once more after a deadlock or a serialization failure

// In a transaction of its own, since it locks tables that others are using. It waits for them only
// for a moment; if that is not enough, it is tried again later.
void PostgresStore::turn_periods() {
  const TimePoint now = Clock::now();
  if (now < turn_periods_at_) return;
  turn_periods_at_ = now + kPeriodsTurnEvery;
  PostgresBatch batch(connection_, hints_, false);
  PostgresParameters parameters;
  parameters.add(static_cast<std::int64_t>(kShortestPeriod.count()));
  batch.add(PostgresStatement::begin);
  batch.add(PostgresStatement::turn_periods, std::move(parameters));
  batch.add(PostgresStatement::commit);
  if (!batch.flush()) connection_.abandon();
}

// Moves rows that outlast their period, a batch with each sweep as long as there are any.
void PostgresStore::keep_history() {
  const TimePoint now = Clock::now();
  if (now < keep_history_at_) return;
  keep_history_at_ = now + kHistoryKeptEvery;
  PostgresBatch batch(connection_, hints_, false);
  PostgresParameters parameters;
  parameters.add(sql_limit(kStepBytes));
  batch.add(PostgresStatement::begin);
  hurry(batch);
  batch.add(PostgresStatement::keep_history, std::move(parameters),
            [this, now](const PostgresRows& rows) {
              if (rows.number<std::int64_t>(0, 0) > 0) keep_history_at_ = now;
            });
  batch.add(PostgresStatement::commit);
  if (!batch.flush()) connection_.abandon();
}

// After the transaction: work that is not part of it.
void PostgresStore::do_beside(std::span<Command* const> commands) {
  for (Command* const command : commands) {
    if (auto* const totals = std::get_if<Totals>(command)) {
      *totals = totals_.latest(totals->patience);
    } else if (std::holds_alternative<Sweep>(*command)) {
      turn_periods();
      keep_history();
    }
  }
}

std::optional<Failure> PostgresStore::execute(std::span<Command* const> commands, jobs::WallTime) {
  std::vector<Enqueue*> undecided;
  std::optional<PostgresFailure> failure;
  bool carefully = false;
  for (int n = 0; n < kTries; ++n) {
    undecided.clear();
    if (auto unreachable = connection_.ensure()) {
      hints_.forget_leases();
      return unreachable;
    }
    failure = attempt(commands, undecided, carefully);
    if (!failure) break;
    hints_.forget();
    // With a conflict or a duplicate the store was reached, so others can reach it too.
    if (!failure->is_conflict && !failure->is_duplicate) hints_.forget_leases();
    connection_.abandon();
    carefully = failure->is_duplicate;
    if (!failure->is_conflict && !failure->is_duplicate) break;
  }
  if (failure) return failure->failure;
  do_beside(commands);
  if (undecided.empty()) return std::nullopt;
  // The key's job was deleted in between, or another proxy has released the key: now the key is as
  // good as unused.
  std::vector<Command> again;
  again.reserve(undecided.size());
  std::vector<Command*> pointers;
  for (Enqueue* each : undecided) pointers.push_back(&again.emplace_back(*each));
  std::vector<Enqueue*> still;
  if (auto failed = attempt(pointers, still, true)) {
    hints_.forget();
    hints_.forget_leases();
    connection_.abandon();
    return failed->failure;
  }
  // A key that comes and goes: its client has to retry; everything else has been done.
  for (Enqueue* each : still) each->result = Enqueue::Result::in_hand;
  for (std::size_t n = 0; n < undecided.size(); ++n) *undecided[n] = std::get<Enqueue>(again[n]);
  return std::nullopt;
}

}  // namespace

bool PostgresBatch::flush() {
  if (failure_) return false;
  if (steps_.empty()) return true;
  failure_ = connection_.run(steps_);
  steps_.clear();
  return !failure_;
}

Opened open_postgres(const std::string& url, const KeyMark& mark) {
  auto store = std::make_unique<PostgresStore>(url);
  if (std::optional<Failure> failure = store->open(mark)) return {nullptr, std::move(*failure)};
  return {std::move(store), {}};
}

}  // namespace spillway::store
