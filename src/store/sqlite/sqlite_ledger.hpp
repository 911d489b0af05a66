// The number of jobs of each route in each state. Counting would take time in proportion to the
// jobs, so the numbers are kept in memory and written with the jobs that change them, once per
// transaction.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "store/sqlite/sqlite_database.hpp"

namespace spillway::store {

class SqliteLedger {
 public:
  struct Route {
    std::string name;
    std::array<std::int64_t, jobs::kJobStateCount> by_state{};
    bool is_changed = false;

    std::uint64_t waiting() const;
  };

  explicit SqliteLedger(Database& database);

  void load();   // after opening, and after a rollback
  void write();  // before a transaction's end

  // find() returns nullopt for an unknown route; find_or_add() gives it an id.
  std::optional<std::int64_t> find(const std::string& name) const;
  std::int64_t find_or_add(const std::string& name);
  const Route& route(std::int64_t id) const;
  const std::map<std::int64_t, Route>& routes() const { return routes_; }
  // The number of a tenant's waiting jobs. All are counted on the first call; from then on the
  // numbers are kept in memory.
  std::uint64_t waiting_of(std::int64_t route, std::int64_t tenant);
  // nullopt: the job is new, or deleted.
  void moved(std::int64_t route, std::int64_t tenant, std::optional<jobs::JobState> from,
             std::optional<jobs::JobState> to);

 private:
  using Tenants = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

  void count_tenants();

  Database& database_;
  Statement insert_, update_;
  std::map<std::int64_t, Route> routes_;
  std::map<std::string, std::int64_t, std::less<>> ids_;
  std::optional<Tenants> tenants_;  // for each route, those with waiting jobs
};

}  // namespace spillway::store
