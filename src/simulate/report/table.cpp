#include "simulate/report/table.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include "simulate/recording/figures.hpp"

namespace spillway::simulate {
namespace {

constexpr std::size_t kNameWidth = 10;  // OVERLOADED
constexpr std::size_t kLeadWidth = 4 + 2 + kNameWidth + 8 + 9;
constexpr std::size_t kWideClasses = 3;
constexpr std::size_t kStateWidth = 4 + 2 + kNameWidth;
constexpr std::size_t kPairWidth = 3 * 6;  // of one class, for two runs

// The columns of one class; widths include the space before each.
struct Columns {
  std::array<std::string_view, 4> headings;
  std::array<std::size_t, 4> widths;

  std::size_t width() const { return widths[0] + widths[1] + widths[2] + widths[3]; }
};

constexpr Columns kWide{{"offer", "admit", "degrade", "deny"}, {6, 6, 8, 6}};
constexpr Columns kNarrow{{"off", "adm", "deg", "deny"}, {5, 5, 5, 5}};

constexpr std::size_t kJobsWidth = 8;

std::string jobs_cell(const Second& recorded) {
  return " |" + right(count_text(recorded.jobs_pending, kJobsWidth - 1), kJobsWidth);
}

const Columns& columns(std::size_t classes) { return classes > kWideClasses ? kNarrow : kWide; }

std::string cell(std::uint64_t count, std::size_t width) {
  return right(count_text(count, width - 1), width);
}

}  // namespace

std::string header(const std::vector<std::string>& classes, bool jobs) {
  const Columns& each = columns(classes.size());
  std::string names(kLeadWidth, ' ');
  std::string headings =
      right("sec", 4) + "  " + left("state", kNameWidth) + right("queued", 8) + right("p95", 9);
  for (const std::string& name : classes) {
    names += " |" + left(" " + cut(name, each.width() - 1), each.width());
    headings += " |";
    for (std::size_t i = 0; i < each.widths.size(); ++i) {
      headings += right(each.headings[i], each.widths[i]);
    }
  }
  if (jobs) {
    names += " |" + left(" jobs", kJobsWidth);
    headings += " |" + right("pending", kJobsWidth);
  }
  return names + '\n' + headings + '\n';
}

std::string line(std::size_t second, const Second& recorded, bool jobs) {
  const Columns& each = columns(recorded.classes.size());
  std::string text = cell(second, 5).substr(1) + "  " + left(name(recorded.state), kNameWidth) +
                     cell(recorded.queued, 8) + right(latency_text(recorded.p95), 9);
  for (const ClassCounts& counts : recorded.classes) {
    text += " |" + cell(counts.offered, each.widths[0]) + cell(counts.admitted, each.widths[1]) +
            cell(counts.degraded, each.widths[2]) + cell(counts.denied, each.widths[3]);
  }
  if (jobs) text += jobs_cell(recorded);
  return text + '\n';
}

std::string compare_header(const std::vector<std::string>& classes, bool jobs) {
  std::string names = std::string(kStateWidth, ' ') + right("queued", 16) + right("p95", 18);
  std::string headings = right("sec", 4) + "  " + left("state", kNameWidth);
  for (const std::size_t width : {8, 9}) headings += right("with", width) + right("w/o", width);
  for (const std::string& name : classes) {
    names += " |" + left(" " + cut(name + " served", kPairWidth - 1), kPairWidth);
    headings += " |" + right("offer", 6) + right("with", 6) + right("w/o", 6);
  }
  if (jobs) {
    names += " |" + left(" jobs", kJobsWidth);
    headings += " |" + right("pending", kJobsWidth);
  }
  return names + '\n' + headings + '\n';
}

std::string compare_line(std::size_t second, const Second& with, const Second& without, bool jobs) {
  std::string text = cell(second, 5).substr(1) + "  " + left(name(with.state), kNameWidth) +
                     cell(with.queued, 8) + cell(without.queued, 8) +
                     right(latency_text(with.p95), 9) + right(latency_text(without.p95), 9);
  for (std::size_t i = 0; i < with.classes.size(); ++i) {
    const std::uint64_t other = i < without.classes.size() ? without.classes[i].served : 0;
    text +=
        " |" + cell(with.classes[i].offered, 6) + cell(with.classes[i].served, 6) + cell(other, 6);
  }
  if (jobs) text += jobs_cell(with);
  return text + '\n';
}

}  // namespace spillway::simulate
