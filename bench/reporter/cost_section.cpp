#include "cost_section.hpp"

#include <algorithm>
#include <utility>

#include "cost_figures.hpp"
#include "names.hpp"
#include "simulate/figures.hpp"
#include "table.hpp"

namespace spillway::report {
namespace {

constexpr std::string_view kUs = "spillway";
constexpr std::string_view kThem = "haproxy";
constexpr double kNoisy = 0.05;  // of the proxy's core, taken by others

std::string middle(const Spread& spread) { return spread.count == 0 ? "" : number(spread.median); }

std::string ratio(const Spread& spread) {
  return spread.count == 0 ? "" : simulate::fixed(spread.median, 2);
}

std::string range(const Spread& spread) {
  if (spread.count < 2) return "";
  return simulate::fixed(spread.lowest, 2) + "–" + simulate::fixed(spread.highest, 2);
}

std::string with_range(const Spread& spread) {
  if (spread.count < 2) return middle(spread);
  return number(spread.median) + " (" + number(spread.lowest) + "–" + number(spread.highest) + ")";
}

// With a question mark where the rounds disagree, or one alone says nothing of the others.
std::string kept(const Spread& spread, double aim) {
  if (spread.count == 0) return "?";
  const bool disagree = spread.lowest <= aim && spread.highest > aim;
  return std::string(spread.median <= aim ? "yes" : "NO") +
         (disagree || spread.count < 2 ? "?" : "");
}

std::string cpu_table(const std::vector<CostCell>& cells) {
  Table table({"CPU µs per request", "Spillway", "HAProxy", "NGINX", "relay", "of HAProxy",
               "lowest–highest", "aim", "kept", "NGINX of HAProxy"});
  for (const std::string& workload : workloads(cells)) {
    const auto cpu = [&](std::string_view contender) {
      return over_rounds(cells, workload, contender, &CostCell::cpu_us);
    };
    const Spread ours = ratio_to(cells, workload, kUs, kThem, &CostCell::cpu_us);
    if (cpu(kUs).count + cpu(kThem).count == 0) continue;  // it is not about CPU
    const double aim = cost_aim(workload);
    table.add({workload, middle(cpu(kUs)), middle(cpu(kThem)), middle(cpu("nginx")),
               middle(cpu("relay")), ratio(ours), range(ours), simulate::fixed(aim, 2),
               kept(ours, aim),
               ratio(ratio_to(cells, workload, "nginx", kThem, &CostCell::cpu_us))});
  }
  return table.empty() ? "" : table.markdown();
}

std::string latency_table(const std::vector<CostCell>& cells) {
  Table table({"p50 / p99 ms", "Spillway", "HAProxy", "NGINX", "relay", "backend alone",
               "p99 of HAProxy", "lowest–highest", "aim", "kept"});
  for (const std::string& workload : workloads(cells)) {
    const auto latency = [&](std::string_view contender) {
      const Spread p50 = over_rounds(cells, workload, contender, &CostCell::p50_ms);
      const Spread p99 = over_rounds(cells, workload, contender, &CostCell::p99_ms);
      return p99.count == 0 ? "" : number(p50.median) + " / " + number(p99.median);
    };
    if (latency(kUs).empty() && latency(kThem).empty()) continue;
    const Spread ours = ratio_to(cells, workload, kUs, kThem, &CostCell::p99_ms);
    table.add({workload, latency(kUs), latency(kThem), latency("nginx"), latency("relay"),
               latency("direct"), ratio(ours), range(ours), "1.00", kept(ours, 1)});
  }
  return table.empty() ? "" : table.markdown();
}

std::string other_table(const std::vector<CostCell>& cells) {
  Table table({"memory and workers", "Spillway", "HAProxy", "NGINX", "judged", "aim", "kept"});
  const auto row = [&](std::string what, std::string_view workload, CostFigure figure,
                       const Spread& judged, double aim) {
    const auto figures = [&](std::string_view contender) {
      return over_rounds(cells, workload, contender, figure);
    };
    if (figures(kUs).count + figures(kThem).count == 0) return;
    table.add({std::move(what), middle(figures(kUs)), middle(figures(kThem)),
               middle(figures("nginx")),
               ratio(judged) + (judged.count < 2 ? "" : " (" + range(judged) + ")"),
               simulate::fixed(aim, 2), kept(judged, aim)});
  };
  row("RSS with 64 connections, KiB; of HAProxy's", "small-get", &CostCell::rss_kib,
      ratio_to(cells, "small-get", kUs, kThem, &CostCell::rss_kib), 1);
  row("an idle connection, KiB", "idle", &CostCell::idle_kib,
      over_rounds(cells, "idle", kUs, &CostCell::idle_kib), 1);
  row("RSS with 8000 idle connections, KiB; of HAProxy's", "idle", &CostCell::rss_kib,
      ratio_to(cells, "idle", kUs, kThem, &CostCell::rss_kib), 1);
  const auto of_one = [&](std::string_view contender, std::string_view workload) {
    return ratio_of_workloads(cells, contender, workload, "small-get", &CostCell::cpu_us);
  };
  row("two workers, CPU µs per request; of one worker's", "two-workers", &CostCell::cpu_us,
      of_one(kUs, "two-workers"), 1.1);
  row("two workers on one core, the same", "two-on-one-core", &CostCell::cpu_us,
      of_one(kUs, "two-on-one-core"), 1.1);
  if (table.empty()) return "";
  const auto each = [&](std::string what, std::string_view workload) {
    table.add({std::move(what), ratio(of_one(kUs, workload)), ratio(of_one(kThem, workload)),
               ratio(of_one("nginx", workload))});
  };
  each("two workers of one, each", "two-workers");
  each("two workers on one core of one, each", "two-on-one-core");
  return table.markdown();
}

}  // namespace

double cost_aim(std::string_view workload) {
  return workload == "small-get" || workload == "denied" ? 0.8 : 1.0;
}

std::string cost_tables(const std::vector<CostCell>& cells) {
  std::string text;
  for (const std::string& table : {cpu_table(cells), latency_table(cells), other_table(cells)}) {
    if (!table.empty()) text += (text.empty() ? "" : "\n") + table;
  }
  return text;
}

std::string cost_details(const std::vector<CostCell>& cells) {
  Table table({"workload, contender", "CPU µs", "user", "system", "requests/s", "p50 ms", "p99 ms",
               "RSS KiB", "idle KiB", "rounds"});
  for (const std::string& workload : workloads(cells)) {
    for (const std::string& contender : contenders(cells)) {
      const auto figure = [&](CostFigure which) {
        return over_rounds(cells, workload, contender, which);
      };
      const std::size_t measured =
          std::max(figure(&CostCell::rps).count, figure(&CostCell::idle_kib).count);
      if (measured == 0) continue;
      table.add({workload + ", " + display_name(contender), with_range(figure(&CostCell::cpu_us)),
                 middle(figure(&CostCell::user_us)), middle(figure(&CostCell::system_us)),
                 with_range(figure(&CostCell::rps)), with_range(figure(&CostCell::p50_ms)),
                 with_range(figure(&CostCell::p99_ms)), middle(figure(&CostCell::rss_kib)),
                 with_range(figure(&CostCell::idle_kib)), std::to_string(measured)});
    }
  }
  return table.empty() ? "" : table.markdown();
}

std::string cost_remarks(const std::vector<CostCell>& cells) {
  std::string text;
  std::size_t noisy = 0;
  double worst = 0;
  for (const CostCell& cell : cells) {
    if (!cell.failure.empty()) {
      text += "* Failed: " + cell.workload + ", " + display_name(cell.contender) + ", round " +
              std::to_string(cell.round) + ": " + cell.failure + "\n";
    }
    noisy += cell.foreign.value_or(0) > kNoisy;
    worst = std::max(worst, cell.foreign.value_or(0));
  }
  if (noisy > 0) {
    text += "* Noise: in " + std::to_string(noisy) + " of " + std::to_string(cells.size()) +
            " cells others took more than 5 % of the proxy's core, at worst " +
            simulate::fixed(worst * 100, 0) + " %.\n";
  }
  return text;
}

}  // namespace spillway::report
