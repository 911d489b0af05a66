#include "bench/jobs/depth.hpp"

#include <unistd.h>

#include <algorithm>

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

void measure_leases(const Plan& plan, Shop& shop, Cell cell, const Record& record,
                    bool (*is_stopped)()) {
  cell.what = "lease";
  for (const std::size_t together : {std::size_t{1}, kTogether, kMostJobs}) {
    if (is_stopped()) return;
    cell.outstanding = together;
    record(cell, {.figures = shop.cycle(together, plan.time)});
  }
}

void measure_ever_more(const Plan& plan, const std::string& url, Cell cell, const Record& record,
                       bool (*is_stopped)()) {
  Shop shop(url, "/");
  shop.open();
  for (const std::uint64_t pending :
       {std::uint64_t{0}, plan.most_pending / 10, plan.most_pending}) {
    shop.fill(pending);
    settle(pending);
    cell.pending = pending;
    measure_leases(plan, shop, cell, record, is_stopped);
    if (is_stopped()) return;
    if (pending == 0) continue;  // accept has measured that
    cell.what = "accept";
    cell.outstanding = kTogether;
    record(cell, {.figures = shop.enqueue(kTogether, short_time(plan))});
  }
  shop.close();
  settle(plan.most_pending);
  if (!is_stopped()) measure_start(plan, url, cell, record);
}

// Many tenants that have a few jobs each.
void measure_many_lanes(const Plan& plan, const std::string& url, Cell cell, const Record& record,
                        bool (*is_stopped)()) {
  cell.pending = plan.most_pending;
  cell.lanes = std::min(plan.lanes, plan.most_pending);
  Shop shop(url, "/", {.lanes = cell.lanes});
  shop.open();
  shop.fill(plan.most_pending);
  settle(plan.most_pending);
  measure_leases(plan, shop, cell, record, is_stopped);
  shop.close();
  settle(plan.most_pending);
  if (!is_stopped()) measure_start(plan, url, cell, record);
}

}  // namespace

void measure_depth(const Plan& plan, const std::string& contender, int round, const Record& record,
                   bool (*is_stopped)()) {
  if (contender != "store-sqlite" && contender != "store-postgres") return;
  EmptyStores stores(contender == "store-sqlite" ? StoreKind::sqlite : StoreKind::postgres);
  const Cell cell{.contender = contender, .round = round};
  measure_ever_more(plan, stores.next(), cell, record, is_stopped);
  if (plan.lanes > 0 && !is_stopped())
    measure_many_lanes(plan, stores.next(), cell, record, is_stopped);
}

}  // namespace spillway::job_bench
