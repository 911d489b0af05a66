#include "bench/jobs/loop.hpp"

#include <libpq-fe.h>

#include <functional>
#include <optional>

#include "bench/jobs/empty_stores.hpp"
#include "bench/jobs/plain_queue.hpp"
#include "bench/jobs/store_cycle.hpp"

namespace spillway::job_bench {
namespace {

constexpr std::size_t kTogether = 16;  // jobs in hand, of the store
constexpr int kConnections = 4;        // of the plain queue
constexpr int kWindows = 4;

// A transaction that looks at the database as it was.
class Snapshot {
 public:
  explicit Snapshot(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
    PQclear(PQexec(connection_, "BEGIN ISOLATION LEVEL REPEATABLE READ"));
    PQclear(PQexec(connection_, "SELECT count(*) FROM pg_class"));
  }
  ~Snapshot() { PQfinish(connection_); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  PGconn* connection_;
};

}  // namespace

void measure_loop(const Plan& plan, const std::string& contender, int round, const Record& record,
                  bool (*is_stopped)()) {
  if (contender != "store-postgres" && contender != "plain") return;
  PostgresServer server;
  for (const char* what : {"loop", "pinned-loop"}) {
    const std::string url = server.create_database();
    std::optional<Shop> shop;
    if (contender == "plain") {
      make_plain_queue(url);
    } else {
      shop.emplace(url, "/").open();
    }
    std::optional<Snapshot> snapshot;
    if (what == std::string("pinned-loop")) snapshot.emplace(url);
    for (int n = 1; n <= kWindows && !is_stopped(); ++n) {
      const double rate =
          shop ? shop->loop(kTogether, plan.window) : plain_loop(url, kConnections, plan.window);
      record({.what = what,
              .contender = contender,
              .round = round,
              .outstanding = shop ? kTogether : kConnections,
              .after_s = n * static_cast<int>(plan.window.count())},
             {.figures = {.per_second = rate}});
    }
  }
}

}  // namespace spillway::job_bench
