#include "bench/overload/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "bench/load/percentile.hpp"
#include "bench/overload/confidence.hpp"

namespace spillway::bench {
namespace {

struct ClassFigures {
  std::uint64_t sent = 0;
  double ok = 0;  // per cent, as all shares here
  double error = 0;
  std::optional<double> p50, p99;
};

struct Figures {
  double goodput = 0, goodput_error = 0;
  std::array<ClassFigures, load::kKindCount> classes;
  std::optional<double> denied_p99;
  std::optional<double> evicted, timed_out;  // of the refusals
  double gave_up = 0;                        // of what was sent
  double wasted = 0;
  std::optional<double> recovery, jain;
  bool recovered = true;
};

std::optional<double> percentile_ms(const std::vector<Duration>& times, double share) {
  if (times.empty()) return std::nullopt;
  return to_milliseconds(load::percentile(times, share));
}

double per_cent(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

Figures figures_of(const Result& result) {
  const Counts all = result.all();
  Figures figures;
  figures.goodput = goodput_ratio(result, all);
  figures.goodput_error = figures.goodput * rate_error(all.answered);
  for (std::size_t kind = 0; kind < load::kKindCount; ++kind) {
    const Counts& counts = result.tally.kind(kind);
    figures.classes[kind] = {.sent = counts.sent,
                             .ok = per_cent(counts.succeeded, counts.sent),
                             .error = 100 * share_error(counts.succeeded, counts.sent),
                             .p50 = percentile_ms(counts.latencies, 0.5),
                             .p99 = percentile_ms(counts.latencies, 0.99)};
  }
  figures.denied_p99 = percentile_ms(all.denials, 0.99);
  const std::uint64_t refused = all.denied + all.evicted + all.timed_out;
  if (refused > 0) {
    figures.evicted = per_cent(all.evicted, refused);
    figures.timed_out = per_cent(all.timed_out, refused);
  }
  figures.gave_up = per_cent(all.gave_up, all.attempts);
  figures.wasted = 100 * result.wasted_ratio;
  if (result.recovery) {
    figures.recovery = result.recovery->seconds;
    figures.recovered = result.recovery->within_cell;
  }
  figures.jain = jain(result);
  return figures;
}

template <class Read>
auto median(const std::vector<Figures>& runs, Read read) {
  using Value = decltype(read(runs.front()));
  std::vector<Value> values;
  for (const Figures& run : runs) values.push_back(read(run));
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Figures median_of(const std::vector<Figures>& runs) {
  Figures figures;
  const auto take = [&](auto member) {
    figures.*member = median(runs, [&](const Figures& run) { return run.*member; });
  };
  take(&Figures::goodput);
  take(&Figures::denied_p99);
  take(&Figures::evicted);
  take(&Figures::timed_out);
  take(&Figures::gave_up);
  take(&Figures::wasted);
  take(&Figures::recovery);
  take(&Figures::jain);
  figures.recovered =
      std::all_of(runs.begin(), runs.end(), [](const auto& r) { return r.recovered; });
  for (std::size_t kind = 0; kind < load::kKindCount; ++kind) {
    const auto of_class = [&](auto member) {
      figures.classes[kind].*member =
          median(runs, [&](const Figures& run) { return run.classes[kind].*member; });
    };
    of_class(&ClassFigures::sent);
    of_class(&ClassFigures::ok);
    of_class(&ClassFigures::p50);
    of_class(&ClassFigures::p99);
  }
  return figures;
}

std::string number(const std::optional<double>& value) {
  if (!value) return "-";
  return *value < 9.95 ? fmt::format("{:.1f}", *value) : fmt::format("{:.0f}", *value);
}

std::string share(const ClassFigures& figures) {
  if (figures.sent == 0) return "-";
  return figures.error > 0 ? fmt::format("{:.2f}±{:.2f}", figures.ok, figures.error)
                           : fmt::format("{:.2f}", figures.ok);
}

constexpr std::string_view kRow =
    "{:<19}|{:>11} |{:>12}{:>5}{:>5} |{:>12}{:>5}{:>5} |{:>12}{:>5}{:>5} "
    "|{:>7}{:>7}{:>7}{:>7}{:>7} "
    "|{:>6}{:>6}\n";

std::string heading() {
  return fmt::format(kRow, "", "goodput", "P0 ok%", "p50", "p99", "P1 ok%", "p50", "p99", "P2 ok%",
                     "p50", "p99", "denied", "evict%", "late%", "left%", "waste%", "back", "Jain");
}

std::string row(std::string_view name, const Figures& figures) {
  const auto& [p0, p1, p2] = figures.classes;
  const auto goodput = figures.goodput_error > 0
                           ? fmt::format("{:.3f}±{:.3f}", figures.goodput, figures.goodput_error)
                           : fmt::format("{:.3f}", figures.goodput);
  const auto back =
      figures.recovery ? (figures.recovered ? "" : ">") + number(figures.recovery) : "";
  return fmt::format(kRow, name, goodput, share(p0), number(p0.p50), number(p0.p99), share(p1),
                     number(p1.p50), number(p1.p99), share(p2), number(p2.p50), number(p2.p99),
                     number(figures.denied_p99), number(figures.evicted), number(figures.timed_out),
                     number(figures.gave_up), number(figures.wasted), back,
                     figures.jain ? fmt::format("{:.3f}", *figures.jain) : "");
}

bool same_table(const Result& one, const Result& other) {
  return one.cell.scenario == other.cell.scenario && one.cell.load == other.cell.load;
}

std::string title(const Cell& cell) {
  return fmt::format("\n{}, {:g} x {:.0f} requests a second: {}\n", cell.scenario->name, cell.load,
                     capacity_rps(*cell.scenario), cell.scenario->sentence);
}

// The rows of those results that belong beside `first`.
std::string rows(std::span<const Result> results, const Result& first) {
  std::vector<const Contender*> contenders;
  for (const Result& result : results) {
    if (!same_table(result, first)) continue;
    if (std::find(contenders.begin(), contenders.end(), result.cell.contender) ==
        contenders.end()) {
      contenders.push_back(result.cell.contender);
    }
  }
  std::string text;
  for (const Contender* contender : contenders) {
    std::vector<Figures> runs;
    std::string failures;
    for (const Result& result : results) {
      if (!same_table(result, first) || result.cell.contender != contender) continue;
      if (result.failure.empty()) {
        runs.push_back(figures_of(result));
      } else {
        failures += fmt::format("{:<19}| failed: {}\n", contender->name, result.failure);
      }
    }
    if (!runs.empty()) {
      text += row(contender->name, runs.size() == 1 ? runs.front() : median_of(runs));
    }
    text += failures;
  }
  return text;
}

constexpr std::string_view kLegend =
    "goodput: answered in time meanwhile / capacity · ok%: of the class's requests · p50, p99: ms "
    "from the "
    "intended "
    "instant ·\ndenied: p99 in ms of denials on arrival · evict%, late%: refusals of requests that "
    "lost "
    "their place, or waited\nas long as the proxy lets them · left%: clients that gave up after a "
    "second "
    "· waste%: of the backend's work,\nfor clients already gone · back: seconds until as before "
    "the "
    "disturbance · ±: 95 % confidence, from the counts\n";

}  // namespace

std::string result_tables(std::span<const Result> results) {
  std::string text;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto earlier = results.first(i);
    if (std::any_of(earlier.begin(), earlier.end(),
                    [&](const Result& other) { return same_table(other, results[i]); })) {
      continue;
    }
    text += title(results[i].cell) + heading() + rows(results, results[i]);
  }
  return text.empty() ? text : text + '\n' + std::string(kLegend);
}

}  // namespace spillway::bench
