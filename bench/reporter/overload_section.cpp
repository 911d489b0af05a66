#include "overload_section.hpp"

#include <utility>

#include "names.hpp"
#include "overload_figures.hpp"
#include "simulate/figures.hpp"
#include "table.hpp"

namespace spillway::report {
namespace {

using simulate::fixed;

constexpr std::string_view kScenario = "capacity-known";
constexpr double kPriorityShare = 0.1;  // P0's of the mix

std::string load_text(double load) { return fixed(load, load < 2 ? 1 : 0) + "×"; }

std::string middle(const Spread& spread) { return spread.count == 0 ? "" : number(spread.median); }

std::string percent(const Spread& spread) {
  return spread.count == 0 ? "" : fixed(spread.median * 100, 2);
}

std::string percent_range(const Spread& spread) {
  if (spread.count == 0) return "";
  if (spread.count == 1) return percent(spread);
  return percent(spread) + " (" + fixed(spread.lowest * 100, 2) + "–" +
         fixed(spread.highest * 100, 2) + ")";
}

// Until it was as before; "> 12" if it never was while anybody looked.
std::string recovery_text(const std::vector<OverloadCell>& cells, const OverloadPlace& place) {
  const Spread seconds = over_repetitions(cells, place, recovery);
  if (seconds.count == 0) return "";
  const bool all = over_repetitions(cells, place, recovered).lowest > 0;
  return (all ? "" : "> ") + number(seconds.median);
}

// The aims of one load, as rows of a table.
class Aims {
 public:
  Aims(const std::vector<OverloadCell>& cells, double load, Table& table)
      : cells_(cells), load_(load), table_(table) {}

  void add_all() {
    if (load_ > 1) {
      ratio("goodput, of HAProxy's", "all", goodput, 0.99, Direction::at_least);
      below("denial on arrival, p99 ms", "all", denial_p99, 5);
      below("evicted and timed out, of all refusals", "all", late_refusals, 0.01);
    }
    if (load_ * kPriorityShare <= 0.8) {
      above("P0 success", "P0", 0.999);
      ratio("P0 p99, of HAProxy's", "P0", p99, 1.10, Direction::at_most);
    }
    if (load_ == 2) above("P2 success", "P2", 0.15);
    if (load_ == 6) above("P2 success", "P2", 0.01);
    if (load_ == 10) {
      above("P0 success", "P0", 0.93);
      above("P1 success", "P1", 0.01);
      above("P2 success", "P2", 1e-9);
    }
  }

 private:
  enum class Direction { at_least, at_most };

  Spread of(std::string_view contender, std::string_view cls, OverloadFigure figure) const {
    return over_repetitions(
        cells_, {.scenario = kScenario, .load = load_, .contender = contender, .cls = cls}, figure);
  }

  void row(std::string what, const Spread& ours, const Spread& theirs, std::string judged,
           std::string aim, bool kept) {
    if (ours.count == 0) return;
    table_.add({load_text(load_), std::move(what), middle(ours), middle(theirs), std::move(judged),
                std::move(aim), kept ? "yes" : "NO"});
  }

  void ratio(std::string what, std::string_view cls, OverloadFigure figure, double aim,
             Direction direction) {
    const Spread ours = of("spillway", cls, figure), theirs = of("haproxy-tuned", cls, figure);
    if (theirs.count == 0 || theirs.median == 0) return;
    const double value = ours.median / theirs.median;
    const bool at_least = direction == Direction::at_least;
    row(std::move(what), ours, theirs, fixed(value, 3), (at_least ? "≥ " : "≤ ") + fixed(aim, 2),
        at_least ? value >= aim : value <= aim);
  }

  void below(std::string what, std::string_view cls, OverloadFigure figure, double aim) {
    const Spread ours = of("spillway", cls, figure);
    row(std::move(what), ours, of("haproxy-tuned", cls, figure), number(ours.median),
        "≤ " + number(aim), ours.median <= aim);
  }

  void above(std::string what, std::string_view cls, double aim) {
    const Spread ours = of("spillway", cls, success);
    row(std::move(what), ours, of("haproxy-tuned", cls, success), percent(ours) + " %",
        aim < 1e-6 ? "> 0" : "≥ " + fixed(aim * 100, aim > 0.99 ? 1 : 0) + " %",
        ours.median >= aim);
  }

  const std::vector<OverloadCell>& cells_;
  double load_;
  Table& table_;
};

}  // namespace

std::string overload_aims(const std::vector<OverloadCell>& cells) {
  Table table({"load", "aim", "Spillway", "HAProxy, tuned", "judged", "bound", "kept"}, 2);
  for (const double load : loads(cells, kScenario)) Aims(cells, load, table).add_all();
  return table.empty() ? "" : table.markdown();
}

std::string overload_table(const std::vector<OverloadCell>& cells, std::string_view scenario) {
  Table table({"load, contender", "goodput / capacity", "P0 ok %", "P0 p50", "P0 p99 ms", "P1 ok %",
               "P1 p99 ms", "P2 ok %", "P2 p99 ms", "denial p99 ms", "late refusals %", "wasted %",
               "recovery s", "Jain", "runs"});
  for (const double load : loads(cells, scenario)) {
    for (const std::string& contender : contenders(cells, scenario)) {
      const auto of = [&](std::string_view cls, OverloadFigure figure) {
        return over_repetitions(
            cells, {.scenario = scenario, .load = load, .contender = contender, .cls = cls},
            figure);
      };
      const Spread good = of("all", goodput);
      if (good.count + of("all", success).count + of("P0", success).count == 0) continue;
      table.add({load_text(load) + " " + display_name(contender),
                 good.count == 0 ? ""
                                 : fixed(good.median, 3) + " (" + fixed(good.lowest, 3) + "–" +
                                       fixed(good.highest, 3) + ")",
                 percent_range(of("P0", success)), middle(of("P0", p50)), middle(of("P0", p99)),
                 percent(of("P1", success)), middle(of("P1", p99)), percent(of("P2", success)),
                 middle(of("P2", p99)), middle(of("all", denial_p99)),
                 percent(of("all", late_refusals)), percent(of("all", wasted)),
                 recovery_text(cells, {.scenario = scenario, .load = load, .contender = contender}),
                 middle(of("all", jain)), std::to_string(good.count)});
    }
  }
  return table.empty() ? "" : table.markdown();
}

std::string overload_remarks(const std::vector<OverloadCell>& cells) {
  std::string text;
  for (const OverloadCell& cell : cells) {
    if (cell.failure.empty()) continue;
    text += "* Failed: " + cell.scenario + " at " + load_text(cell.load) + ", " +
            display_name(cell.contender) + ", repetition " + std::to_string(cell.repetition) +
            ": " + cell.failure + "\n";
  }
  return text;
}

}  // namespace spillway::report
