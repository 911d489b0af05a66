#include "bench/jobs/cell.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace spillway::job_bench {
namespace {

double thousandths(double value) { return std::round(value * 1000) / 1000; }

}  // namespace

std::string result_line(const Cell& cell, const Outcome& outcome) {
  nlohmann::ordered_json line{{"suite", "jobs"},
                              {"what", cell.what},
                              {"contender", cell.contender},
                              {"round", cell.round},
                              {"outstanding", cell.outstanding},
                              {"pending", cell.pending},
                              {"after_s", cell.after_s}};
  if (cell.lanes > 0) line["lanes"] = cell.lanes;
  const Figures& figures = outcome.figures;
  const auto add = [&line](const char* name, double value) { line[name] = thousandths(value); };
  if (!outcome.failure.empty()) line["failure"] = outcome.failure;
  if (!outcome.skipped.empty()) line["skipped"] = outcome.skipped;
  if (figures.per_second > 0) add("per_second", figures.per_second);
  if (figures.p99_ms > 0) {
    add("p50_ms", figures.median_ms);
    add("p99_ms", figures.p99_ms);
  }
  if (figures.jobs_per_commit) add("jobs_per_commit", *figures.jobs_per_commit);
  if (figures.commit_ms) add("commit_ms", *figures.commit_ms);
  if (outcome.start_ms) add("start_ms", *outcome.start_ms);
  if (outcome.rss_kib) line["rss_kib"] = *outcome.rss_kib;
  return line.dump() + '\n';
}

std::string result_text(const Cell& cell, const Outcome& outcome) {
  std::string text = fmt::format("{:<12} {:<17}", cell.what, cell.contender);
  if (!outcome.skipped.empty()) return text + " not measured: " + outcome.skipped + '\n';
  if (cell.outstanding > 0) text += fmt::format(" {:>4} outstanding", cell.outstanding);
  if (cell.pending > 0) text += fmt::format(" {:>8} pending", cell.pending);
  if (cell.lanes > 0) text += fmt::format(" in {} lanes", cell.lanes);
  if (cell.after_s > 0) text += fmt::format(" after {:>3} s", cell.after_s);
  if (!outcome.failure.empty()) return text + " FAILED: " + outcome.failure + '\n';
  const Figures& figures = outcome.figures;
  if (figures.per_second > 0) text += fmt::format(" {:>9.0f} jobs/s", figures.per_second);
  if (figures.p99_ms > 0) {
    text += fmt::format("  p50 {:.3f} ms  p99 {:.3f} ms", figures.median_ms, figures.p99_ms);
  }
  if (figures.commit_ms) {
    text += fmt::format("  {:.1f} jobs a commit of {:.3f} ms", *figures.jobs_per_commit,
                        *figures.commit_ms);
  }
  if (outcome.start_ms) text += fmt::format(" start {:.0f} ms", *outcome.start_ms);
  if (outcome.rss_kib) text += fmt::format(", {} KiB", *outcome.rss_kib);
  return text + '\n';
}

}  // namespace spillway::job_bench
