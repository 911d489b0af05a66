#include "store/sqlite_claim.hpp"

#include <algorithm>
#include <tuple>

#include "store/sqlite_record.hpp"
#include "store/sqlite_sql.hpp"
#include "store/sqlite_time.hpp"

namespace spillway::store {

SqliteClaim::SqliteClaim(Database& database, SqliteLedger& ledger)
    : ledger_(ledger),
      next_lane_(database, sql::kNextLane),
      claimable_(database, sql::kClaimable),
      lease_(database, sql::kLease),
      is_registered_(database, sql::kIsRegistered) {}

void SqliteClaim::each_lane(const std::function<void(const Step&)>& visit) {
  std::int64_t rank = -1, route = 0, tenant = 0;
  for (;;) {
    Step step;
    {
      Rows rows = next_lane_.with(rank, route, tenant);
      if (!rows.next()) return;
      rank = rows.number(0);
      route = rows.number(1);
      tenant = rows.number(2);
      step = {static_cast<std::uint8_t>(rank), route, static_cast<TenantId>(tenant),
              time_of(rows.number(3))};
    }
    visit(step);
  }
}

void SqliteClaim::operator()(Lanes& command, jobs::WallTime now) {
  command.found.clear();
  std::vector<Step> steps;
  each_lane([&](const Step& step) {
    if (step.due <= now + command.ahead) steps.push_back(step);
  });
  // Of too many, those that go first.
  const auto before = [](const Step& a, const Step& b) {
    return std::tie(a.rank, a.due) < std::tie(b.rank, b.due);
  };
  if (steps.size() > command.limit) {
    std::partial_sort(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(command.limit),
                      steps.end(), before);
    steps.resize(command.limit);
  }
  for (const Step& step : steps) {
    command.found.push_back({{step.rank, ledger_.route(step.route).name, step.tenant}, step.due});
  }
}

void SqliteClaim::operator()(Claim& command, jobs::WallTime now) {
  command.jobs.clear();
  const std::optional<std::int64_t> route = ledger_.find(command.lane.route);
  if (!route || !is_registered_.with(command.epoch).next()) return;
  std::vector<std::int64_t> found;
  std::vector<jobs::JobState> states;
  {
    std::size_t expired = 0;
    Rows rows = claimable_.with(std::int64_t{command.lane.rank}, *route,
                                static_cast<std::int64_t>(command.lane.tenant), number_of(now));
    while (found.size() < command.limit && expired < kMostExpired && rows.next()) {
      if (time_of(rows.number(4)) <= now) {
        ++expired;
        continue;
      }
      jobs::LeasedJob& job = command.jobs.emplace_back();
      rows.read(1, job.id.bytes);
      job.lane = command.lane;
      job.tenant_name = rows.text(2);
      job.accepted = time_of(rows.number(3));
      job.expires = time_of(rows.number(4));
      job.progress.state = jobs::JobState::leased;
      job.progress.due = time_of(rows.number(5));
      job.progress.attempts = static_cast<std::uint32_t>(rows.number(6));
      job.progress.recoveries = static_cast<std::uint32_t>(rows.number(7));
      job.progress.cause = static_cast<jobs::Cause>(rows.number(8));
      job.method = rows.text(9);
      job.target = rows.text(10);
      job.head = rows.text(12);
      job.body = rows.text(13);
      found.push_back(rows.number(0));
      states.push_back(static_cast<jobs::JobState>(rows.number(11)));
    }
  }
  for (std::size_t n = 0; n < found.size(); ++n) {
    lease_.execute(found[n], command.epoch);
    ledger_.moved(*route, states[n], jobs::JobState::leased);
  }
}

}  // namespace spillway::store
