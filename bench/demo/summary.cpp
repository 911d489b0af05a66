#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "figures.hpp"

namespace spillway::demo {
namespace {

constexpr std::string_view kColumns = "    ok%   degr.   defer  denied  failed   p50   p95";
constexpr std::size_t kLead = 26;

std::string result(const Counts& counts, const Paint& paint) {
  std::string ok = fmt::format("{:7.2f}", per_cent(counts.ok, counts));
  if (counts.ended() > 0) {
    ok = counts.ok_share() >= 0.99 ? paint.good(std::move(ok))
         : counts.ok_share() < 0.5 ? paint.bad(std::move(ok))
                                   : ok;
  }
  return fmt::format("{} {:7} {:7} {:7} {:7} {:>5} {:>5}", ok, counts.degraded, counts.deferred,
                     counts.denied, counts.failed, latency(counts, 0.5), latency(counts, 0.95));
}

// "12040 x QUEUE_WAIT_RISK, 88 x EVICTED", the most frequent first.
std::string listed(const Tally::Causes& causes) {
  std::vector<std::pair<std::string, std::uint64_t>> sorted(causes.begin(), causes.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [cause, count] : sorted) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, cause);
  }
  return text;
}

std::string told(const Run& run) {
  std::string text;
  for (std::size_t kind = 0; kind < load::kKindCount; ++kind) {
    const auto name = load::kKinds[kind].traffic_class;
    if (const auto& modes = run.tally.degraded_modes(kind); !modes.empty()) {
      text += fmt::format("  {} degraded: {}\n", name, listed(modes));
    }
    if (const auto& reasons = run.tally.denial_reasons(kind); !reasons.empty()) {
      text += fmt::format("  {} denied: {}", name, listed(reasons));
      if (const auto& retry = run.tally.retry_after(kind); retry.seen > 0) {
        text += fmt::format("; Retry-After {}-{} s", retry.shortest, retry.longest);
      }
      text += '\n';
    }
    if (const auto& causes = run.tally.failure_causes(kind); !causes.empty()) {
      text += fmt::format("  {} failed: {}\n", name, listed(causes));
    }
  }
  if (const auto& backlog = run.tally.backlog()) {
    text += fmt::format("  deferred: {} written down, {} of them done", backlog->deferred,
                        backlog->done);
    text += backlog->empty_after
                ? fmt::format("; nothing was left {:.1f} s after the last request of the load\n",
                              to_seconds(*backlog->empty_after))
                : std::string("; the rest is still to be done\n");
  }
  return text;
}

}  // namespace

std::string summary(std::span<const Run> runs, std::span<const load::Phase> phases,
                    const Paint& paint) {
  std::string titles(kLead, ' ');
  std::string columns = fmt::format("{:<9} {:<5} {:>9}", "phase", "class", "req/s");
  columns.resize(kLead, ' ');
  for (const Run& run : runs) {
    titles += fmt::format("| {:<{}} ", run.title, kColumns.size());
    columns += fmt::format("| {} ", kColumns);
  }
  std::string text = paint.strong(titles) + '\n' + paint.strong(columns) + '\n';

  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    for (std::size_t kind = 0; kind < load::kKindCount; ++kind) {
      std::string line = fmt::format("{:<9} {:<5} {:>9.0f}", kind == 0 ? phases[phase].name : "",
                                     load::kKinds[kind].traffic_class,
                                     phases[phase].rate * load::kKinds[kind].share);
      line.resize(kLead, ' ');
      for (const Run& run : runs) {
        line += "| " + result(run.tally.phase(phase)[kind], paint) + " ";
      }
      text += line + '\n';
    }
  }
  for (const Run& run : runs) {
    text += fmt::format("\n{} (sent within {:.1f} ms of the intended instant in 99 % of cases)\n",
                        run.title, to_milliseconds(run.tally.sending_lag_p99()));
    text += told(run);
  }
  return text;
}

}  // namespace spillway::demo
