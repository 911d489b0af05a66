#include "bench/jobs/depth.hpp"

#include <unistd.h>

#include "bench/jobs/empty_stores.hpp"
#include "bench/jobs/group_writer.hpp"
#include "bench/jobs/proxy.hpp"
#include "bench/jobs/store_cycle.hpp"

namespace spillway::job_bench {
namespace {

constexpr std::size_t kTogether = 64;  // jobs outstanding that are put in

constexpr std::uint64_t kWorthWaiting = 100'000;

// Little: what is put in makes the queue longer.
std::chrono::milliseconds short_time(const Plan& plan) { return plan.time / 8; }

// What the filling left to be written must not take the disk's time from a figure.
void settle(std::uint64_t pending) {
  if (pending >= kWorthWaiting) ::sync();
}

void measure_start(const Plan& plan, const std::string& url, Cell cell, const Record& record) {
  Proxy proxy(plan.programs, url);
  const double start_ms = proxy.first_answer_ms();
  cell.what = "start";
  cell.outstanding = 0;
  record(cell, {.start_ms = start_ms, .rss_kib = proxy.memory_kib()});
  cell.what = "accept";
  cell.contender = cell.contender == "store-sqlite" ? "http-sqlite" : "http-postgres";
  cell.outstanding = kTogether;
  record(cell, {.figures = proxy.accept(kTogether, plan.time), .rss_kib = proxy.memory_kib()});
}

}  // namespace

void measure_depth(const Plan& plan, const std::string& contender, int round, const Record& record,
                   bool (*is_stopped)()) {
  if (contender != "store-sqlite" && contender != "store-postgres") return;
  EmptyStores stores(contender == "store-sqlite" ? StoreKind::sqlite : StoreKind::postgres);
  const std::string url = stores.next();
  Cell cell{.contender = contender, .round = round};
  Shop shop(url, "/");
  shop.open();
  for (const std::uint64_t pending :
       {std::uint64_t{0}, plan.most_pending / 10, plan.most_pending}) {
    shop.fill(pending);
    settle(pending);
    cell.pending = pending;
    cell.what = "lease";
    for (const std::size_t together : {std::size_t{1}, kTogether, kMostJobs}) {
      if (is_stopped()) return;
      cell.outstanding = together;
      record(cell, {.figures = shop.cycle(together, plan.time)});
    }
    if (pending == 0) continue;  // accept has measured that
    cell.what = "accept";
    cell.outstanding = kTogether;
    record(cell, {.figures = shop.enqueue(kTogether, short_time(plan))});
  }
  shop.close();
  settle(plan.most_pending);
  if (!is_stopped()) measure_start(plan, url, cell, record);
}

}  // namespace spillway::job_bench
