#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "simulate/captions.hpp"
#include "simulate/figures.hpp"
#include "simulate/palette.hpp"

namespace spillway::simulate {
namespace {

using Row = std::vector<std::string>;

constexpr double kRowHeight = 20;
constexpr double kNameWidth = 96;  // of the first column
constexpr std::size_t kNameCharacters = 13;
constexpr std::size_t kShownTenants = 12;

// The first row is the headings; the first column is on the left, the others on the right of equal
// columns.
double table(Svg& svg, const Place& place, const std::vector<Row>& rows) {
  const double columns = static_cast<double>(rows.front().size()) - 1;
  const double step = std::min((place.width - kNameWidth) / columns, 110.0);
  double y = place.y;
  for (const Row& row : rows) {
    const bool is_heading = &row == &rows.front();
    y += kRowHeight;
    const Type name{
        .size = 12, .colour = is_heading ? palette::kMuted : palette::kInk, .bold = !is_heading};
    const Type figure{.size = 12, .colour = name.colour, .anchor = Anchor::end};
    svg.text(place.x, y - 6, cut(row.front(), kNameCharacters), name);
    for (std::size_t i = 1; i < row.size(); ++i) {
      svg.text(place.x + kNameWidth + static_cast<double>(i) * step, y - 6, row[i], figure);
    }
    svg.element("rect", {{"x", place.x},
                         {"y", y},
                         {"width", kNameWidth + columns * step},
                         {"height", is_heading ? 1 : 0.5},
                         {"fill", is_heading ? palette::kFrame : palette::kGrid}});
  }
  return y + 10;
}

}  // namespace

double class_table(Svg& svg, const Place& place, const Recording& recording) {
  if (recording.classes.empty()) return place.y;
  std::vector<Row> rows{
      {"class", "offered", "success", "denied", "degraded", "expired", "p95", "p99"}};
  for (const ClassSummary& each : recording.classes) {
    rows.push_back({each.name, count_text(each.counts.offered, 8),
                    each.counts.offered == 0 ? "-" : share_text(each.success),
                    count_text(each.counts.denied, 8), count_text(each.counts.degraded, 8),
                    count_text(each.counts.expired, 8), latency_text(each.p95),
                    latency_text(each.p99)});
  }
  return table(svg, place, rows);
}

double tenant_table(Svg& svg, const Place& place, const Recording& recording) {
  if (recording.tenants.empty()) return place.y;
  std::vector<TenantSummary> busiest = recording.tenants;
  std::ranges::stable_sort(busiest, std::greater{}, &TenantSummary::offered);
  std::vector<Row> rows{{"tenant", "offered", "served", "success"}};
  for (std::size_t i = 0; i < std::min(busiest.size(), kShownTenants); ++i) {
    rows.push_back({busiest[i].name, count_text(busiest[i].offered, 8),
                    count_text(busiest[i].served, 8),
                    share_text(busiest[i].served, busiest[i].offered)});
  }
  if (busiest.size() > kShownTenants) {
    rows.push_back({"and " + std::to_string(busiest.size() - kShownTenants) + " more", "", "", ""});
  }
  return table(svg, place, rows);
}

}  // namespace spillway::simulate
