#include "store/postgres/postgres_totals.hpp"

#include <array>
#include <map>
#include <utility>

namespace spillway::store {
namespace {

void read_totals(const PostgresRows& rows, Totals& totals) {
  std::map<std::string, Totals::Route> routes;
  totals.oldest_letter = jobs::kNoTime;
  for (int row = 0; row < rows.size(); ++row) {
    Totals::Route& route = routes[rows.text(row, 0)];
    const auto state = static_cast<std::size_t>(rows.number<std::int16_t>(row, 1));
    if (state < jobs::kJobStateCount) {
      route.by_state[state] = rows.number<std::uint64_t>(row, 2);
    } else if (state == jobs::kJobStateCount) {
      route.oldest_claimable = rows.time(row, 2);
    } else {
      totals.oldest_letter = rows.time(row, 2);
    }
  }
  totals.routes.clear();
  for (auto& [name, route] : routes) {
    route.route = name;
    totals.routes.push_back(std::move(route));
  }
}

}  // namespace

PostgresTotals::~PostgresTotals() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  connection_.interrupt();
  thread_.join();
}

Totals PostgresTotals::latest(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  const std::uint64_t mine = ++asked_;
  if (patience.count() > 0) rests_until_ = {};
  changed_.notify_all();
  if (patience.count() > 0) changed_.wait_for(lock, patience, [&] { return counted_ >= mine; });
  return latest_;
}

void PostgresTotals::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_over_ || counted_ < asked_; });
    while (!is_over_ && Clock::now() < rests_until_) changed_.wait_until(lock, rests_until_);
    if (is_over_) return;
    const std::uint64_t answers = asked_;
    lock.unlock();
    Totals totals;
    const TimePoint began = Clock::now();
    const bool is_done = count(totals);
    const TimePoint ended = Clock::now();
    lock.lock();
    if (is_done) latest_ = std::move(totals);
    counted_ = answers;
    rests_until_ = ended + kRest * (ended - began);
    changed_.notify_all();
  }
}

// The store's own connection reports a failure; here the previous figures are kept.
bool PostgresTotals::count(Totals& totals) {
  if (connection_.ensure()) return false;
  const std::array<PostgresStep, 2> steps{{
      {PostgresStatement::totals,
       {},
       [&totals](const PostgresRows& rows) { read_totals(rows, totals); }},
      {PostgresStatement::sizes,
       {},
       [&totals](const PostgresRows& rows) {
         totals.bytes = rows.number<std::uint64_t>(0, 0);
         totals.dead_rows = rows.number<std::uint64_t>(0, 1);
       }},
  }};
  return !connection_.run(steps);
}

}  // namespace spillway::store
