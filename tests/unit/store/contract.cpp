#include "unit/store/contract.hpp"

#include "store/memory_store.hpp"
#include "store/sealed_store.hpp"
#include "store/sqlite/sqlite.hpp"
#include "support/temporary_directory.hpp"
#include "unit/store/postgres_contract.hpp"

namespace spillway::store {
namespace {

class MemoryContract final : public Contract {
 public:
  std::unique_ptr<JobStore> make() override { return open_memory(); }
  std::unique_ptr<JobStore> reopen() override { return nullptr; }
};

class SqliteContract final : public Contract {
 public:
  std::unique_ptr<JobStore> make() override {
    return open_store("sqlite:jobs.db", directory_.path()).store;
  }
  std::unique_ptr<JobStore> reopen() override { return make(); }

 private:
  support::TemporaryDirectory directory_;
};

// What is sealed is read as it was written.
class SealedContract final : public Contract {
 public:
  std::unique_ptr<JobStore> make() override {
    return open_store("sqlite:jobs.db", directory_.path(), Key{{1, 2, 3}}).store;
  }
  std::unique_ptr<JobStore> reopen() override { return make(); }

 private:
  support::TemporaryDirectory directory_;
};

template <class Kind>
std::unique_ptr<Contract> make_contract() {
  return std::make_unique<Kind>();
}

}  // namespace

std::vector<Implementation> implementations() {
  return {{"memory", make_contract<MemoryContract>},
          {"sqlite", make_contract<SqliteContract>},
          {"sealed sqlite", make_contract<SealedContract>},
          {"postgresql", make_contract<PostgresContract>},
          {"sealed postgresql", make_contract<SealedPostgresContract>}};
}

}  // namespace spillway::store
