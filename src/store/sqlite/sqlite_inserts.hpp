// The new jobs of a transaction, inserted together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "store/sqlite/sqlite_claimable.hpp"
#include "store/sqlite/sqlite_ledger.hpp"
#include "store/sqlite/sqlite_record.hpp"
#include "store/sqlite/sqlite_row_inserts.hpp"

namespace spillway::store {

class SqliteInserts {
 public:
  // The other columns of a new job.
  struct Place {
    std::int64_t route = 0;
    bool is_blocked = false;
    std::optional<std::int64_t> window{};  // of its Idempotency-Key
  };

  SqliteInserts(Database& database, SqliteLedger& ledger, SqliteClaimable& claimable,
                SqliteRecords& records);

  void load();  // after opening, and after a rollback

  // The job must stay in memory until write(). Returns its number; unused if its id exists.
  std::int64_t add(const jobs::NewJob& job, const Place& place);
  bool has(const jobs::JobId& id) const;  // among those not yet written
  // Inserts the added jobs; call it before anything else reads jobs.
  void write();

 private:
  struct One {
    const jobs::NewJob* job = nullptr;
    Place place;
    std::int64_t seq = 0;

    std::int64_t tenant() const { return static_cast<std::int64_t>(job->lane.tenant); }
  };
  void write(std::span<const One> part);
  void write_new(std::span<const One> part);
  void write_requests(std::span<const One> part);

  Database& database_;
  SqliteLedger& ledger_;
  SqliteClaimable& claimable_;
  SqliteRecords& records_;
  RowInserts jobs_, requests_;
  std::vector<One> waiting_;
  std::int64_t newest_ = 0;
};

}  // namespace spillway::store
