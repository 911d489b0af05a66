#include "simulate/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "simulate/captions.hpp"
#include "simulate/palette.hpp"
#include "simulate/panel.hpp"
#include "simulate/scale.hpp"
#include "simulate/states.hpp"
#include "simulate/svg.hpp"

namespace spillway::simulate {
namespace {

constexpr double kWidth = 1200;
constexpr double kMargin = 32;
constexpr double kGap = 28;         // between two runs
constexpr double kAxis = 52;        // left of a panel, for its labels
constexpr double kTitle = 22;       // above a panel
constexpr double kHeadroom = 1.08;  // above the highest value
constexpr double kApart = 10;       // peaks this many times apart need a logarithm
constexpr double kWhole = 96;       // height of the panels of all classes

using Values = std::vector<double>;
using Runs = std::vector<const Recording*>;

template <class Figure>
Values per_second(const Recording& run, Figure figure) {
  Values values;
  values.reserve(run.seconds.size());
  for (const Second& second : run.seconds) values.push_back(static_cast<double>(figure(second)));
  return values;
}

Values counts(const Recording& run, std::size_t cls, std::uint64_t ClassCounts::*field) {
  return per_second(run, [=](const Second& second) {
    return cls < second.classes.size() ? second.classes[cls].*field : 0;
  });
}

Values sum(Values left, const Values& right) {
  for (std::size_t i = 0; i < left.size(); ++i) left[i] += right[i];
  return left;
}

Values queue_depth(const Recording& run) {
  return per_second(run, [](const Second& second) { return second.queued; });
}

// Without a number where nothing was answered.
Values tail_latency(const Recording& run) {
  return per_second(run, [](const Second& second) {
    return second.p95 > 0 ? second.p95 : std::numeric_limits<double>::quiet_NaN();
  });
}

double highest(const Values& values) {
  double most = 0;
  for (const double value : values) {
    if (std::isfinite(value)) most = std::max(most, value);
  }
  return most;
}

// The range that all runs share in one row of panels.
struct Range {
  double low = std::numeric_limits<double>::infinity();  // above zero
  double high = 0;
  bool logarithmic = false;

  Scale scale(const Box& box) const {
    return logarithmic ? Panel::logarithmic(box, low, high * kHeadroom * kHeadroom)
                       : Panel::linear(box, high * kHeadroom);
  }
};

// `least` is the smallest value that a logarithmic scale is to tell from nothing.
Range range(const std::vector<Values>& runs, double least) {
  Range range;
  double lowest_peak = std::numeric_limits<double>::infinity();
  for (const Values& values : runs) {
    const double peak = highest(values);
    range.high = std::max(range.high, peak);
    lowest_peak = std::min(lowest_peak, std::max(peak, least));
    for (const double value : values) {
      if (value > 0) range.low = std::min(range.low, std::max(value, least));
    }
  }
  range.logarithmic = range.high > kApart * lowest_peak;
  return range;
}

template <class Figure>
Range range_of(const Runs& runs, double least, Figure figure) {
  std::vector<Values> values;
  for (const Recording* run : runs) values.push_back(figure(*run));
  return range(values, least);
}

// What is equal in all columns.
struct Shared {
  explicit Shared(const Runs& runs)
      : queue(range_of(runs, 1, queue_depth)), latency(range_of(runs, 1e-3, tail_latency)) {
    std::size_t class_count = 0;
    for (const Recording* run : runs) {
      seconds = std::max(seconds, static_cast<double>(run->seconds.size()));
      class_count = std::max(class_count, run->classes.size());
    }
    for (std::size_t i = 0; i < class_count; ++i) {
      const Range offered = range_of(
          runs, 1, [=](const Recording& run) { return counts(run, i, &ClassCounts::offered); });
      const Range answered = range_of(runs, 1, [=](const Recording& run) {
        return sum(counts(run, i, &ClassCounts::served), counts(run, i, &ClassCounts::late));
      });
      class_tops.push_back(std::max(offered.high, answered.high));
    }
    class_height = class_count <= 3 ? 84 : class_count <= 5 ? 64 : 50;
  }

  double seconds = 1;
  Range queue;
  Range latency;
  Values class_tops;
  double class_height = 0;
};

// One run from its name down to its tables.
class Column {
 public:
  Column(Svg& svg, const Recording& run, const Shared& shared, const Place& place)
      : svg_(svg), run_(run), shared_(shared), place_(place), spans_(state_spans(run)) {}

  double draw() {
    place_.y = key_figures(svg_, place_, run_);
    const Place strip{place_.x + kAxis, place_.y, place_.width - kAxis};
    place_.y = state_strip(svg_, strip, run_, shared_.seconds);
    for (std::size_t i = 0; i < shared_.class_tops.size(); ++i) traffic(i);
    queue();
    latency();
    place_.y = class_table(svg_, {place_.x, place_.y + 30, place_.width}, run_);
    return tenant_table(svg_, place_, run_);
  }

 private:
  // The box of the next panel, below its title.
  Box next(std::string_view title, std::string_view unit, std::string_view colour, double height) {
    const Box box{place_.x + kAxis, place_.y + kTitle, place_.width - kAxis, height};
    svg_.text(box.x, box.y - 6, title, {.size = 12, .colour = colour, .bold = true});
    svg_.text(box.x + box.width, box.y - 6, unit,
              {.size = 11, .colour = palette::kMuted, .anchor = Anchor::end});
    place_.y = box.y + height;
    return box;
  }

  Panel panel(const Box& box, const Scale& scale, Panel::Label label) {
    Panel panel(svg_, box, shared_.seconds, scale);
    panel.background(spans_, label);
    return panel;
  }

  void traffic(std::size_t cls) {
    const std::string_view colour = palette::of_class(cls);
    const std::string name = cls < run_.classes.size() ? run_.classes[cls].name : "";
    const Box box = next(name, "requests/s", colour, shared_.class_height);
    Panel drawn = panel(box, Panel::linear(box, shared_.class_tops[cls] * kHeadroom), count_label);
    const Values served = counts(run_, cls, &ClassCounts::served);
    drawn.area(Values(served.size(), 0.0), served, colour);
    drawn.area(served, sum(counts(run_, cls, &ClassCounts::late), served), palette::kLate);
    drawn.steps(counts(run_, cls, &ClassCounts::offered), palette::kInk, 1.2);
    drawn.warm_up(run_.warm_up);
  }

  void queue() {
    const Range& range = shared_.queue;
    const Box box = next("Queue depth", range.logarithmic ? "requests, logarithmic" : "requests",
                         palette::kInk, kWhole);
    Panel drawn = panel(box, range.scale(box), count_label);
    const Values depth = queue_depth(run_);
    drawn.area(Values(depth.size(), 0.0), depth, "#c3cad1");
    drawn.steps(depth, palette::kInk, 1.2);
    drawn.warm_up(run_.warm_up);
  }

  void latency() {
    const Range& range = shared_.latency;
    const Box box = next("p95 from arrival to answer", range.logarithmic ? "logarithmic" : "",
                         palette::kInk, kWhole);
    Panel drawn = panel(box, range.scale(box), duration_label);
    drawn.steps(tail_latency(run_), palette::kInk, 1.8);
    drawn.warm_up(run_.warm_up);
    drawn.time_axis();
  }

  Svg& svg_;
  const Recording& run_;
  const Shared& shared_;
  Place place_;
  std::vector<StateSpan> spans_;
};

// The height is known only when all is drawn: draw once to measure, once to keep.
double draw(Svg& svg, const Runs& runs) {
  const Shared shared(runs);
  Place place{kMargin, kMargin - 6, kWidth - 2 * kMargin};
  place.y = heading(svg, place, *runs.front());
  place.y = legend(svg, place) + 10;
  const auto columns = static_cast<double>(runs.size());
  place.width = (place.width - kGap * (columns - 1)) / columns;
  double bottom = place.y;
  for (const Recording* run : runs) {
    bottom = std::max(bottom, Column(svg, *run, shared, place).draw());
    place.x += place.width + kGap;
  }
  return bottom + kMargin - 10;
}

}  // namespace

std::string plot(const Recording& with, const Recording* without) {
  Runs runs{&with};
  if (without != nullptr) runs.push_back(without);
  Svg trial(kWidth, kWidth, "");
  const double height = draw(trial, runs);
  Svg svg(kWidth, height, with.scenario + ": " + with.sentence);
  draw(svg, runs);
  return std::move(svg).finish();
}

}  // namespace spillway::simulate
