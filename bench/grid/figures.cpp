#include "bench/grid/figures.hpp"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "simulate/run/fairness.hpp"

namespace spillway::grid {
namespace {

using nlohmann::ordered_json;
using simulate::ClassCounts;
using simulate::Second;
using simulate::WorkDone;

constexpr double kSaturated = 1.1;          // offered / available
constexpr std::size_t kSaturatedFor = 5;    // seconds, at least, for a figure about them
constexpr std::uint64_t kFewServed = 1000;  // of a class: its Jain index would be noise
constexpr std::uint32_t kRecovery = 20;     // seconds in which a loss is counted
constexpr std::uint32_t kSettled = 5;       // seconds after a disturbance

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Refused by the proxy, on arrival or later.
double refused(const ClassCounts& counts) {
  return static_cast<double>(counts.denied + counts.expired - counts.left);
}

double in_all(const Second& second, const std::function<double(const ClassCounts&)>& what) {
  double sum = 0;
  for (const ClassCounts& counts : second.classes) sum += what(counts);
  return sum;
}
double offered(const Second& second) {
  return in_all(second,
                [](const ClassCounts& counts) { return static_cast<double>(counts.offered); });
}
double refused(const Second& second) {
  return in_all(second, [](const ClassCounts& counts) { return refused(counts); });
}

// The run second by second, in seconds of a slot.
class Course {
 public:
  explicit Course(const Run& run) : run_(run), mean_(mean_cost(run)) {}

  std::size_t from() const { return run_.times.warm_up; }
  std::size_t until() const { return run_.recording.seconds.size(); }
  WorkDone work(std::size_t s) const {
    WorkDone work = run_.recording.seconds[s].work;
    if (s == 0) return work;
    const WorkDone& before = run_.recording.seconds[s - 1].work;
    work.available -= before.available;
    work.useful -= before.useful;
    work.wasted -= before.wasted;
    return work;
  }
  double offered(std::size_t s) const { return grid::offered(run_.recording.seconds[s]) * mean_; }
  bool is_saturated(std::size_t s) const { return offered(s) >= kSaturated * work(s).available; }
  double ideal(std::size_t s) const {
    return std::min(offered(s), work(s).available) * run_.alone.useful;
  }

 private:
  static double mean_cost(const Run& run) { return run.cell.slots / capacity(run.cell); }

  const Run& run_;
  double mean_;
};

void add_work(const Run& run, ordered_json& line) {
  const Course course(run);
  double useful = 0, ideal = 0, all_useful = 0, all_ideal = 0, busy = 0, available = 0;
  std::size_t saturated = 0;
  for (std::size_t s = course.from(); s < course.until(); ++s) {
    const WorkDone work = course.work(s);
    all_useful += work.useful;
    all_ideal += course.ideal(s);
    if (!course.is_saturated(s)) continue;
    ++saturated;
    useful += work.useful;
    ideal += course.ideal(s);
    if (refused(run.recording.seconds[s]) == 0) continue;
    busy += work.useful + work.wasted;
    available += work.available;
  }
  line["useful_s"] = all_useful;
  line["useful_of_ideal"] = ratio(all_useful, all_ideal);
  line["wasted"] = run.recording.wasted;
  if (saturated < kSaturatedFor) return;
  line["saturated_useful_s"] = useful;
  line["saturated_useful"] = ratio(useful, ideal);
  if (available > 0 && run.cell.shape != Shape::thrash)
    line["idle_while_refused"] = 1 - busy / available;
}

void add_classes(const Run& run, ordered_json& line) {
  double all = 0, of_refused = 0, late = 0;
  for (const simulate::ClassSummary& one : run.recording.classes) {
    const auto& counts = one.counts;
    all += static_cast<double>(counts.offered);
    of_refused += refused(counts);
    late += static_cast<double>(counts.told_late);
    line["success_" + one.name] = one.success;
    line["refused_" + one.name] = ratio(refused(counts), static_cast<double>(counts.offered));
    if (counts.served > 0) line["p99_" + one.name + "_ms"] = 1000 * one.p99;
  }
  line["offered"] = all;
  line["refused"] = of_refused;
  if (of_refused > 0) line["refused_late"] = late / of_refused;
}

void add_fairness(const Run& run, ordered_json& line) {
  for (const simulate::ClassSummary& one : run.recording.classes) {
    std::vector<double> demand, got;
    for (const simulate::TenantSummary& tenant : run.recording.tenants) {
      if (tenant.name.substr(0, 2) != one.name) continue;
      demand.push_back(static_cast<double>(tenant.offered));
      got.push_back(static_cast<double>(tenant.served));
    }
    if (one.counts.served >= kFewServed)
      line["jain_" + one.name] = simulate::max_min_fairness(demand, got);
  }
}

void add_states(const Run& run, ordered_json& line) {
  const auto& changes = run.recording.changes;
  line["transitions"] = std::count_if(changes.begin(), changes.end(), [&](const auto& change) {
    return change.at >= run.times.warm_up;
  });
  double limit = 0;
  bool gave_up = false;
  const auto& seconds = run.recording.seconds;
  const std::size_t last = std::min<std::size_t>(20, run.times.measured);
  for (std::size_t s = run.times.warm_up; s < seconds.size(); ++s) {
    gave_up = gave_up || seconds[s].reason == Reason::shedding_does_not_help;
    if (s + last >= seconds.size()) limit += seconds[s].limit / static_cast<double>(last);
  }
  line["limit"] = limit;
  line["does_not_help"] = gave_up;
}

// What the disturbance leaves behind.
void add_recovery(const Run& run, ordered_json& line) {
  const Cell& cell = run.cell;
  const bool is_over = cell.shape == Shape::step || cell.shape == Shape::slow2 ||
                       cell.shape == Shape::slow5 || cell.shape == Shape::cut ||
                       cell.shape == Shape::storm;
  if (!is_over) return;
  const Course course(run);
  const std::size_t end = run.times.end(cell.shape);
  double lost = 0, least = 0;
  for (std::size_t s = end; s < std::min<std::size_t>(end + kRecovery, course.until()); ++s) {
    lost += (course.ideal(s) - course.work(s).useful) / cell.slots;
    least = std::max(least, lost);
  }
  line["lost_after_s"] = least;
  const double load = cell.shape == Shape::step ? 0.85 : cell.load;
  if (load > 0.96) return;
  double asked = 0, turned_away = 0;
  for (std::size_t s = end + kSettled; s < course.until(); ++s) {
    asked += offered(run.recording.seconds[s]);
    turned_away += refused(run.recording.seconds[s]);
  }
  line["refused_after"] = ratio(turned_away, asked);
  double normal_at = 0;
  for (const simulate::StateChange& change : run.recording.changes) normal_at = change.at;
  const bool is_normal =
      run.recording.changes.empty() || run.recording.changes.back().to == State::normal;
  line["normal_after_s"] = is_normal ? std::max(0.0, normal_at - static_cast<double>(end))
                                     : static_cast<double>(run.times.total() - end);
}

}  // namespace

void round_figures(ordered_json& line) {
  for (auto& value : line) {
    if (value.is_number_float()) value = std::stod(fmt::format("{:.6g}", value.get<double>()));
  }
}

void add_figures(const Run& run, ordered_json& line) {
  add_work(run, line);
  add_classes(run, line);
  add_fairness(run, line);
  add_states(run, line);
  add_recovery(run, line);
}

std::string result_line(const Run& run, const Contender& contender) {
  const Cell& cell = run.cell;
  ordered_json line{{"suite", "grid"},
                    {"cell", name(cell)},
                    {"held_out", is_held_out(cell)},
                    {"contender", contender.name},
                    {"seed", run.seed},
                    {"shape", name(cell.shape)},
                    {"slots", cell.slots},
                    {"service_ms", cell.service.count()},
                    {"sigma", cell.sigma},
                    {"tail", cell.has_tail},
                    {"load", cell.load},
                    {"timeout_ms", cell.timeout.count()},
                    {"measured_s", run.times.measured},
                    {"demand_P0", share_of_first_class(cell)},
                    {"alone_p99_ms", 1000 * run.alone.p99},
                    {"alone_answered", run.alone.answered}};
  add_figures(run, line);
  round_figures(line);
  return line.dump() + '\n';
}

}  // namespace spillway::grid
