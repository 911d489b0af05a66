#include "bench/jobs/play.hpp"

#include <exception>

#include "bench/jobs/contender.hpp"
#include "bench/jobs/depth.hpp"
#include "bench/jobs/loop.hpp"

namespace spillway::job_bench {
namespace {

// More connections than PostgreSQL takes as shipped.
bool is_too_much(const std::string& contender, std::size_t outstanding) {
  return contender == "plain" && outstanding > 64;
}

void accept_all(const Plan& plan, const std::string& contender, int round, const Record& record,
                bool (*is_stopped)()) {
  Cell cell{.what = "accept", .contender = contender, .round = round};
  if (const std::string why = why_missing(contender); !why.empty()) {
    if (round == 1) record(cell, {.skipped = why + " (docker/install-deps.sh peers)"});
    return;
  }
  const auto queue = make_queue(contender, plan.programs);
  for (const std::size_t outstanding : plan.outstanding) {
    if (is_stopped() || is_too_much(contender, outstanding)) return;
    cell.outstanding = outstanding;
    try {
      record(cell, {.figures = queue->accept(outstanding, plan.time)});
    } catch (const std::exception& failure) {
      record(cell, {.failure = failure.what()});
    }
  }
}

}  // namespace

void play(const Plan& plan, const Record& record, bool (*is_stopped)()) {
  for (int round = 1; round <= plan.rounds; ++round) {
    for (const std::string& suite : plan.suites) {
      for (const std::string& contender : plan.contenders) {
        if (is_stopped()) return;
        try {
          if (suite == "accept") accept_all(plan, contender, round, record, is_stopped);
          if (suite == "depth") measure_depth(plan, contender, round, record, is_stopped);
          if (suite == "loop") measure_loop(plan, contender, round, record, is_stopped);
        } catch (const std::exception& failure) {
          record({.what = suite, .contender = contender, .round = round},
                 {.failure = failure.what()});
        }
      }
    }
  }
}

}  // namespace spillway::job_bench
