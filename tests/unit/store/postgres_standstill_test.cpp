// A proxy stands still amid a transaction: what it holds then, and for how long.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>
#include <vector>

#include "store/postgres_connection.hpp"
#include "unit/store/postgres_contract.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

// A process that is stopped (SIGSTOP) once the steps are done, on a connection as the store's.
class StoppedProxy {
 public:
  StoppedProxy(const std::string& url, std::vector<PostgresStep> steps) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    child_ = ::fork();
    if (child_ == 0) {
      PostgresConnection connection(url);
      if (connection.ensure() || connection.run(steps)) _exit(1);
      if (::write(ends[1], "x", 1) != 1) _exit(1);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char done = 0;
    const bool is_done = ::read(ends[0], &done, 1) == 1;
    ::close(ends[0]);
    ::kill(child_, SIGSTOP);
    REQUIRE(is_done);
  }
  ~StoppedProxy() {
    ::kill(child_, SIGKILL);
    int status = 0;
    ::waitpid(child_, &status, 0);
  }
  StoppedProxy(const StoppedProxy&) = delete;
  StoppedProxy& operator=(const StoppedProxy&) = delete;

 private:
  pid_t child_ = -1;
};

// As a batch that ends leased jobs of an order begins.
std::vector<PostgresStep> to_lock_line_of(const jobs::JobId& id) {
  PostgresColumn leased(PostgresType::uuid);
  leased.add(id.bytes);
  PostgresParameters lines;
  lines.add(PostgresColumn(PostgresType::text)).add(PostgresColumn(PostgresType::uuid));
  lines.add(std::move(leased)).add(PostgresColumn(PostgresType::uuid));
  std::vector<PostgresStep> steps;
  steps.push_back({PostgresStatement::begin, {}, {}});
  steps.push_back({PostgresStatement::lock_lines, std::move(lines), {}});
  return steps;
}

}  // namespace

TEST_CASE("while a proxy stands still amid a transaction others wait, and do not fail") {
  PostgresContract contract;
  UnderTest store(contract);
  const Epoch epoch = store.join();
  for (const std::uint64_t n : {1, 2}) {
    jobs::NewJob job = store.job(n);
    job.order = jobs::Digest{1};
    store.enqueue(job);
  }
  REQUIRE(store.claim(epoch).size() == 1);
  const StoppedProxy stopped(contract.url(), to_lock_line_of(job_id(1)));
  // That its line is locked: the batch of another one waits.
  CHECK(support::Postgres::ask(
            contract.url(),
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())") ==
        "1");
  CHECK(store.succeed(epoch, 1));
  CHECK(store.state(1) == "succeeded");
  CHECK(store.claim(epoch) == std::vector{job_id(2)});
}

}  // namespace spillway::store
