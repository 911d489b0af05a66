// How many jobs of each route are in each state. Counting them would take as long as there are
// jobs; the figures are kept in memory and written with the jobs that change them, once a
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

  void load();   // after opening, and when a transaction was rolled back
  void write();  // before a transaction's end

  // A route that is not known gets an id if there is to be one, else nullopt.
  std::optional<std::int64_t> find(const std::string& name) const;
  std::int64_t find_or_add(const std::string& name);
  const Route& route(std::int64_t id) const;
  const std::map<std::int64_t, Route>& routes() const { return routes_; }
  // How many jobs of a tenant wait. All are counted when that is asked for first; from then on it
  // is kept in memory.
  std::uint64_t waiting_of(std::int64_t route, std::int64_t tenant);
  // nullopt: the job is new, or gone.
  void moved(std::int64_t route, std::int64_t tenant, std::optional<jobs::JobState> from,
             std::optional<jobs::JobState> to);

 private:
  using Tenants = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

  void count_tenants();

  Database& database_;
  Statement insert_, update_;
  std::map<std::int64_t, Route> routes_;
  std::map<std::string, std::int64_t, std::less<>> ids_;
  std::optional<Tenants> tenants_;  // of each route, those with jobs that wait
};

}  // namespace spillway::store
