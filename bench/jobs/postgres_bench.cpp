// The PostgreSQL store of deferred requests by itself: see README.md.
#include <libpq-fe.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>

#include "bench/jobs/plain_queue.hpp"
#include "bench/jobs/store_cycle.hpp"
#include "tests/support/postgres.hpp"

namespace {

using spillway::bench::Figures;
using spillway::bench::Shop;
using spillway::support::Postgres;

void print(const std::string& what, double per_second) {
  std::printf("%-44s %10.0f jobs/s\n", what.c_str(), per_second);
  std::fflush(stdout);
}

void print(const std::string& what, const Figures& figures) {
  std::printf("%-44s %10.0f jobs/s   p50 %7.3f ms   p99 %7.3f ms\n", what.c_str(),
              figures.per_second, figures.median_ms, figures.p99_ms);
  std::fflush(stdout);
}

// A transaction that looks at the database as it was: nothing that is deleted later can be
// vacuumed.
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

constexpr std::size_t kTogether = 16;  // jobs in hand, of the closed loop
constexpr int kConnections = 4;        // of the plain queue

// Both queues by turns, in windows: what matters is whether the later ones are slower.
void compare_loops(Postgres& server, std::chrono::seconds window, bool is_pinned) {
  const std::string with = is_pinned ? ", snapshot pinned for " : ", after ";
  const std::string ours = server.create_database(), plain = server.create_database();
  Shop shop(ours, ".");
  shop.open();
  spillway::bench::make_plain_queue(plain);
  for (const bool is_plain : {false, true}) {
    std::optional<Snapshot> snapshot;
    if (is_pinned) snapshot.emplace(is_plain ? plain : ours);
    for (int n = 1; n <= 4; ++n) {
      const std::string when = with + std::to_string(n * window.count()) + " s";
      if (is_plain) {
        print("plain SKIP LOCKED" + when, spillway::bench::plain_loop(plain, kConnections, window));
      } else {
        print("in, claim, settle" + when, shop.loop(kTogether, window));
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Benchmark of the PostgreSQL store of deferred requests"};
  int seconds = 4, window = 10;
  app.add_option("--seconds", seconds, "of each figure");
  app.add_option("--window", window, "of each of four figures beside a pinned snapshot");
  CLI11_PARSE(app, argc, argv);

  const std::chrono::seconds time(seconds);
  Postgres server({"shared_buffers=1GB", "max_wal_size=8GB", "checkpoint_timeout=30min"});
  const std::string plain = server.create_database();
  spillway::bench::make_plain_queue(plain);
  Shop shop(server.create_database(), ".");
  shop.open();
  for (const std::size_t outstanding : {1, 16, 64, 256}) {
    const std::string rows = std::to_string(outstanding);
    print("enqueue, " + rows + " outstanding", shop.enqueue(outstanding, time));
    print("plain insert, " + rows + " rows a statement",
          spillway::bench::plain_inserts(plain, static_cast<int>(outstanding), time));
  }
  Shop deep(server.create_database(), ".");
  deep.open();
  for (const std::uint64_t pending : {0, 100'000, 1'000'000}) {
    deep.fill(pending);
    for (const std::size_t limit : {1, 64, 256}) {
      print(
          "claim and settle " + std::to_string(limit) + ", " + std::to_string(pending) + " pending",
          deep.cycle(limit, time));
    }
  }
  compare_loops(server, std::chrono::seconds(window), false);
  compare_loops(server, std::chrono::seconds(window), true);
  return 0;
}
