#include "report.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cost_figures.hpp"
#include "cost_section.hpp"
#include "load_plot.hpp"
#include "overload_figures.hpp"
#include "overload_section.hpp"
#include "ratio_plot.hpp"
#include "simulate/figures.hpp"

namespace spillway::report {
namespace {

constexpr std::string_view kCostNotes =
    R"(Each cell is a proxy started afresh, pinned to one core; load (wrk, which asks again as soon as it
is answered, or after a rest where a workload is paced) and backend (NGINX) share another. The
contenders of a workload take turns of a second. A figure is the median of the rounds; a ratio is
the median of the ratios within each round, which a machine that gets slower does not move. Only
ratios within one run mean something. An aim is kept by the median; a question mark says that the
rounds disagree, or that there was but one. How it is measured: `bench/cost/README.md`.
)";

constexpr std::string_view kOverloadNotes =
    R"(Requests arrive at times fixed in advance, whatever becomes of those before, and latency counts
from the intended instant. A figure is the median of the repetitions.
)";

std::string machine_text(const Run& run) {
  std::string text = run.date + ", commit " + run.commit + (run.quick ? ", a quick run" : "") +
                     ".\n" + run.cpu + ", " + std::to_string(run.cores) + " cores, Linux " +
                     run.kernel;
  if (!run.congestion_control.empty()) text += ", TCP with " + run.congestion_control;
  if (run.load_average) {
    text += ", load average before " + simulate::fixed(*run.load_average, 2);
  }
  text += ".\n";
  std::string versions;
  for (const auto& [program, version] : run.versions) {
    versions += (versions.empty() ? "" : ", ") + program + " " + version;
  }
  return versions.empty() ? text : text + versions + ".\n";
}

std::string rounds_text(const std::vector<CostCell>& cells) {
  const int most = rounds(cells);
  return most == 1 ? "1 round.\n" : "Up to " + std::to_string(most) + " rounds.\n";
}

void add_section(std::string& text, const std::string& section) {
  if (!section.empty()) text += "\n" + section;
}

void add_picture(Page& page, const std::string& folder, const std::string& name,
                 const std::string& description, std::string svg) {
  if (svg.empty()) return;
  page.markdown += "\n![" + description + "](" + folder + "/" + name + ".svg)\n";
  page.pictures[name + ".svg"] = std::move(svg);
}

// What was measured when and where is said once where it is the same throughout.
bool is_one_run(const std::vector<Results>& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const Results& part) {
    return machine_text(part.run) == machine_text(parts.front().run);
  });
}

std::vector<OverloadCell> all_overload(const std::vector<Results>& parts) {
  std::vector<OverloadCell> cells;
  for (const Results& part : parts)
    cells.insert(cells.end(), part.overload.begin(), part.overload.end());
  return cells;
}

void add_cost(Page& page, const std::vector<CostCell>& cells, const std::string& folder) {
  page.markdown += "\n" + std::string(kCostNotes) + rounds_text(cells);
  add_section(page.markdown, cost_tables(cells));
  add_section(page.markdown, cost_remarks(cells));
  add_picture(page, folder, "cost-cpu", "CPU per request of HAProxy's",
              ratio_plot(cells, &CostCell::cpu_us, "CPU per request, of HAProxy's"));
  add_picture(page, folder, "cost-p99", "p99 of HAProxy's",
              ratio_plot(cells, &CostCell::p99_ms, "p99 under full load, of HAProxy's"));
  page.markdown += "\n### All figures\n\nMedian (lowest–highest).\n";
  add_section(page.markdown, cost_details(cells));
}

void add_scenario(Page& page, const Results& part, const std::string& scenario, bool says_run,
                  const std::string& folder) {
  page.markdown += "\n### " + scenario + "\n";
  if (says_run) page.markdown += "\n" + machine_text(part.run);
  add_section(page.markdown, overload_table(part.overload, scenario));
  add_picture(page, folder, "overload-" + scenario, scenario, load_plot(part.overload, scenario));
}

}  // namespace

std::string terminal_text(const std::vector<Results>& parts) {
  std::string text;
  for (const Results& part : parts) {
    if (&part == parts.data() || !is_one_run(parts)) add_section(text, machine_text(part.run));
    if (!part.cost.empty()) text += "\ncost: " + rounds_text(part.cost);
    add_section(text, cost_tables(part.cost));
    add_section(text, cost_remarks(part.cost));
    for (const std::string& scenario : scenarios(part.overload)) {
      add_section(text, scenario + "\n\n" + overload_table(part.overload, scenario));
    }
    add_section(text, overload_remarks(part.overload));
  }
  add_section(text, overload_aims(all_overload(parts)));
  return text;
}

Page page(const std::vector<Results>& parts, const std::string& folder) {
  Page page{.markdown = "# Measured\n\nWritten by `bench/run`; the lines it was made of are in `" +
                        folder + "/*.jsonl`.\n",
            .pictures = {}};
  const bool in_parts = !is_one_run(parts);
  if (!in_parts && !parts.empty()) page.markdown += "\n" + machine_text(parts.front().run);
  for (const Results& part : parts) {
    if (part.cost.empty()) continue;
    page.markdown += "\n## Cost\n";
    if (in_parts) page.markdown += "\n" + machine_text(part.run);
    add_cost(page, part.cost, folder);
  }
  const std::vector<OverloadCell> overload = all_overload(parts);
  if (overload.empty()) return page;
  page.markdown += "\n## Overload\n\n" + std::string(kOverloadNotes);
  add_section(page.markdown, overload_aims(overload));
  add_section(page.markdown, overload_remarks(overload));
  for (const Results& part : parts) {
    for (const std::string& scenario : scenarios(part.overload))
      add_scenario(page, part, scenario, in_parts, folder);
  }
  return page;
}

}  // namespace spillway::report
