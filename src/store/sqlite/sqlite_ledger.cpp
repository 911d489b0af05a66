#include "store/sqlite/sqlite_ledger.hpp"

#include "store/sqlite/sqlite_sql.hpp"

namespace spillway::store {

std::uint64_t SqliteLedger::Route::waiting() const {
  return static_cast<std::uint64_t>(by_state[index(jobs::JobState::queued)] +
                                    by_state[index(jobs::JobState::retrying)]);
}

SqliteLedger::SqliteLedger(Database& database)
    : database_(database),
      insert_(database, "INSERT INTO routes (name) VALUES (?1)"),
      update_(database,
              "UPDATE routes SET queued = ?2, leased = ?3, retrying = ?4, succeeded = ?5,"
              " dead = ?6, expired = ?7, cancelled = ?8 WHERE id = ?1") {}

void SqliteLedger::load() {
  routes_.clear();
  ids_.clear();
  tenants_.reset();
  Statement all(database_,
                "SELECT id, name, queued, leased, retrying, succeeded, dead, expired, cancelled"
                " FROM routes");
  Rows rows = all.with();
  while (rows.next()) {
    Route& route = routes_[rows.number(0)];
    route.name = rows.text(1);
    for (std::size_t state = 0; state < jobs::kJobStateCount; ++state) {
      route.by_state[state] = rows.number(static_cast<int>(2 + state));
    }
    ids_[route.name] = rows.number(0);
  }
}

void SqliteLedger::write() {
  for (auto& [id, route] : routes_) {
    if (!route.is_changed) continue;
    const auto& n = route.by_state;
    update_.execute(id, n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
    route.is_changed = false;
  }
}

std::optional<std::int64_t> SqliteLedger::find(const std::string& name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::int64_t SqliteLedger::find_or_add(const std::string& name) {
  if (const auto known = find(name)) return *known;
  insert_.execute(std::string_view(name));
  if (database_.failed()) return 0;
  const std::int64_t id = sqlite3_last_insert_rowid(database_.handle());
  routes_[id].name = name;
  ids_[name] = id;
  return id;
}

const SqliteLedger::Route& SqliteLedger::route(std::int64_t id) const {
  static const Route kNone;
  const auto found = routes_.find(id);
  return found == routes_.end() ? kNone : found->second;
}

void SqliteLedger::count_tenants() {
  tenants_.emplace();
  Statement waiting(database_, sql::kCountTenants);
  Rows rows = waiting.with();
  while (rows.next()) (*tenants_)[{rows.number(0), rows.number(1)}] = rows.number(2);
}

std::uint64_t SqliteLedger::waiting_of(std::int64_t route, std::int64_t tenant) {
  if (!tenants_) count_tenants();
  const auto found = tenants_->find({route, tenant});
  return found == tenants_->end() ? 0 : static_cast<std::uint64_t>(found->second);
}

void SqliteLedger::moved(std::int64_t id, std::int64_t tenant, std::optional<jobs::JobState> from,
                         std::optional<jobs::JobState> to) {
  if (from == to) return;
  const int more = (to && waits(*to) ? 1 : 0) - (from && waits(*from) ? 1 : 0);
  if (tenants_ && more != 0) {
    const auto its = tenants_->try_emplace({id, tenant}).first;
    its->second += more;
    if (its->second == 0) tenants_->erase(its);
  }
  Route& route = routes_[id];
  if (from) --route.by_state[index(*from)];
  if (to) ++route.by_state[index(*to)];
  route.is_changed = true;
}

}  // namespace spillway::store
