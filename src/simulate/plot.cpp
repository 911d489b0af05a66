#include "simulate/plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulate/captions.hpp"
#include "simulate/palette.hpp"
#include "simulate/panel.hpp"
#include "simulate/scale.hpp"
#include "simulate/series.hpp"
#include "simulate/states.hpp"
#include "simulate/svg.hpp"

namespace spillway::simulate {
namespace {

constexpr double kWidth = 1200;
constexpr double kMargin = 32;
constexpr double kGap = 28;         // between two runs
constexpr double kAxis = 52;        // left of a panel, for its labels
constexpr double kAbovePanel = 30;  // for its title
constexpr double kWhole = 96;       // height of the panels of all classes
constexpr double kHeadroom = 1.08;  // above the highest value, in linear panels
constexpr double kLeastTop = 4;     // of counts: an axis without halves of requests
constexpr double kFactor = 1.3;     // above the highest and below the lowest in logarithmic ones

using Runs = std::vector<const Recording*>;

template <class Series>
Extent extent_of(const Runs& runs, double least, Series series) {
  std::vector<Values> values;
  for (const Recording* run : runs) values.push_back(series(*run));
  return extent(values, least);
}

Values answered(const Recording& run, std::size_t cls) {
  return sum(counts(run, cls, &ClassCounts::served), counts(run, cls, &ClassCounts::late));
}

Scale scale(const Box& box, const Extent& extent) {
  return extent.logarithmic ? Panel::logarithmic(box, extent.low / kFactor, extent.high * kFactor)
                            : Panel::linear(box, extent.high * kHeadroom);
}

// What is equal in all columns.
struct Shared {
  explicit Shared(const Runs& runs)
      : queue(extent_of(runs, 1, queue_depth)), latency(extent_of(runs, 1e-4, tail_latency)) {
    queue.high = std::max(queue.high, kLeastTop);
    queue.low = kFactor;  // the axis begins at one request
    std::size_t class_count = 0;
    for (const Recording* run : runs) {
      seconds = std::max(seconds, static_cast<double>(run->seconds.size()));
      class_count = std::max(class_count, run->classes.size());
    }
    for (std::size_t i = 0; i < class_count; ++i) {
      const auto offered = [=](const Recording& run) {
        return counts(run, i, &ClassCounts::offered);
      };
      const auto all_answered = [=](const Recording& run) { return answered(run, i); };
      class_tops.push_back(std::max(
          {extent_of(runs, 1, offered).high, extent_of(runs, 1, all_answered).high, kLeastTop}));
    }
    class_height = class_count <= 3 ? 84 : class_count <= 5 ? 64 : 50;
  }

  double seconds = 1;
  Extent queue;
  Extent latency;
  Values class_tops;
  double class_height = 0;
};

// One run from its name down to its tables.
class Column {
 public:
  Column(Svg& svg, const Recording& run, const Shared& shared, const Place& place)
      : svg_(svg), run_(run), shared_(shared), place_(place), spans_(state_spans(run)) {}

  // Returns where it ends.
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
  void traffic(std::size_t cls) {
    const std::string_view colour = palette::of_class(cls);
    const Box box = next(shared_.class_height);
    svg_.element("rect", {{"x", box.x},
                          {"y", box.y - 15},
                          {"width", 10},
                          {"height", 10},
                          {"rx", 2},
                          {"fill", colour}});
    title(box, 16, cls < run_.classes.size() ? run_.classes[cls].name : "", "requests/s");
    Panel drawn = panel(box, Panel::linear(box, shared_.class_tops[cls] * kHeadroom), count_label);
    const Values served = counts(run_, cls, &ClassCounts::served);
    drawn.area(Values(served.size(), 0.0), served, colour);
    drawn.area(served, answered(run_, cls), palette::kLate);
    drawn.steps(counts(run_, cls, &ClassCounts::offered), palette::kInk, 1.2);
    drawn.warm_up(run_.warm_up);
  }

  void queue() {
    const Box box = next(kWhole);
    title(box, 0, "Queue depth", shared_.queue.logarithmic ? "requests, log scale" : "requests");
    Panel drawn = panel(box, scale(box, shared_.queue), count_label);
    const Values depth = queue_depth(run_);
    drawn.area(Values(depth.size(), 0.0), depth, palette::kQueue);
    drawn.steps(depth, palette::kInk, 1.2);
    drawn.warm_up(run_.warm_up);
  }

  void latency() {
    const Box box = next(kWhole);
    const Values p95 = tail_latency(run_);
    const bool gaps = std::ranges::any_of(p95, [](double each) { return std::isnan(each); });
    std::string note = gaps ? "gaps: none served in time" : "";
    if (shared_.latency.logarithmic) note += gaps ? "; log scale" : "log scale";
    title(box, 0, "p95 of those served in time", note);
    Panel drawn = panel(box, scale(box, shared_.latency), duration_label);
    drawn.steps(p95, palette::kInk, 1.8);
    drawn.warm_up(run_.warm_up);
    drawn.time_axis();
  }

  Box next(double height) {
    const Box box{place_.x + kAxis, place_.y + kAbovePanel, place_.width - kAxis, height};
    place_.y = box.y + height;
    return box;
  }

  void title(const Box& box, double indent, std::string_view what, std::string_view unit) {
    svg_.text(box.x + indent, box.y - 6, what, {.size = 12, .bold = true});
    svg_.text(box.x + box.width, box.y - 6, unit,
              {.size = 11, .colour = palette::kMuted, .anchor = Anchor::end});
  }

  Panel panel(const Box& box, const Scale& values, Panel::Label label) {
    Panel drawn(svg_, box, shared_.seconds, values);
    drawn.background(spans_, label);
    return drawn;
  }

  Svg& svg_;
  const Recording& run_;
  const Shared& shared_;
  Place place_;
  std::vector<StateSpan> spans_;
};

// Returns how high the picture has to be.
double draw(Svg& svg, const Runs& runs) {
  const Shared shared(runs);
  Place place{kMargin, kMargin - 6, kWidth - 2 * kMargin};
  place.y = heading(svg, place, *runs.front());
  place.y = legend(svg, place) + 14;
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
  // Only what is drawn knows its height: once to measure, once to keep.
  Svg trial(kWidth, kWidth, "");
  const double height = draw(trial, runs);
  Svg svg(kWidth, height, with.scenario + ": " + with.sentence);
  draw(svg, runs);
  return std::move(svg).finish();
}

}  // namespace spillway::simulate
