#include "simulate/report/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/reason.hpp"
#include "base/state.hpp"
#include "simulate/recording/figures.hpp"
#include "simulate/report/axis.hpp"
#include "simulate/report/panel.hpp"
#include "simulate/report/states.hpp"
#include "simulate/report/svg.hpp"

namespace spillway::simulate {
namespace {

constexpr double kWidth = 1200;
constexpr double kMargin = 32;
constexpr double kGap = 28;        // between two runs
constexpr double kAxisWidth = 52;  // left of a panel, for the labels of its ticks
constexpr double kTitleHeight = 30;
constexpr double kCharacterWidth = 7;  // at size 12: slightly more than in most fonts
constexpr double kCapitalWidth = 6.7;  // at size 10
constexpr double kHeadroom = 1.08;     // above the highest value
constexpr double kLeastTop = 4.3;      // lowest top of a count's axis: no ticks at half requests
constexpr double kNeverLogarithmic = 1e18;
constexpr double kFarApart = 10;  // ratio of peaks that makes an axis logarithmic

constexpr std::string_view kQueue = "#c9d0d7";
constexpr std::string_view kLate = "#aab2ba";
constexpr std::string_view kDeferred = "#e3d5ef";
// Five colours that no state has; they repeat from the sixth class on, whose panels have names.
constexpr std::array<std::string_view, 5> kClasses{"#0072b2", "#009e73", "#cc79a7", "#56b4e9",
                                                   "#56606b"};

using Runs = std::vector<const Recording*>;

template <class Figure>
Values per_second(const Recording& run, Figure figure) {
  Values values;
  for (const Second& second : run.seconds) values.push_back(static_cast<double>(figure(second)));
  return values;
}

// The sum of these fields of one class.
template <class... Field>
Values counts(const Recording& run, std::size_t cls, Field... field) {
  return per_second(run, [=](const Second& second) {
    return cls < second.classes.size() ? ((second.classes[cls].*field) + ...) : 0;
  });
}

Values offered(const Recording& run, std::size_t cls) {
  return counts(run, cls, &ClassCounts::offered);
}

Values answered(const Recording& run, std::size_t cls) {
  return counts(run, cls, &ClassCounts::served, &ClassCounts::late);
}

Values taken_on(const Recording& run, std::size_t cls) {
  return counts(run, cls, &ClassCounts::served, &ClassCounts::late, &ClassCounts::deferred);
}

Values backlog(const Recording& run) {
  return per_second(run, [](const Second& second) { return second.jobs_pending; });
}

bool is_deferring(const Recording* run) { return run->jobs.has_value(); }

Values queue_depth(const Recording& run) {
  return per_second(run, [](const Second& second) { return second.queued; });
}

Values p95(const Recording& run) {
  return per_second(run, [](const Second& second) {
    return second.p95 > 0 ? second.p95 : std::numeric_limits<double>::quiet_NaN();
  });
}

bool is_shown(double value) { return value > 0 && std::isfinite(value); }

double peak(const Values& values) {
  double highest = 0;
  for (const double value : values) highest = std::max(highest, is_shown(value) ? value : 0);
  return highest;
}

// The range of one series over all runs; logarithmic, but not from below `least`, if their peaks
// are far apart.
template <class Series>
Span span_of(const Runs& runs, double least, Series series) {
  double lowest = std::numeric_limits<double>::infinity(), lowest_peak = lowest, highest = 0;
  for (const Recording* run : runs) {
    const Values values = series(*run);
    for (const double value : values) lowest = std::min(lowest, is_shown(value) ? value : lowest);
    lowest_peak = std::min(lowest_peak, std::max(peak(values), least));
    highest = std::max(highest, peak(values));
  }
  if (highest <= kFarApart * lowest_peak) return {.low = 0, .high = highest * kHeadroom};
  return {.low = std::max(lowest, least) / 1.3, .high = highest * 1.3};
}

// The axes that all runs share.
struct Axes {
  explicit Axes(const Runs& runs)
      : queue(span_of(runs, 1, queue_depth)), latency(span_of(runs, 1e-4, p95)) {
    queue.high = std::max(queue.high, kLeastTop);
    has_backlog = std::ranges::any_of(runs, is_deferring);
    is_about_deferral = has_backlog && runs.back()->shedding;
    if (has_backlog) {
      pending = span_of(runs, kNeverLogarithmic, backlog);
      pending.high = std::max(pending.high, kLeastTop);
    }
    for (const Recording* run : runs) {
      seconds = std::max(seconds, static_cast<double>(run->seconds.size()));
      classes.resize(std::max(classes.size(), run->classes.size()), {.high = kLeastTop});
      for (std::size_t i = 0; i < run->classes.size(); ++i) {
        const double top = std::max(peak(offered(*run, i)), peak(answered(*run, i)));
        classes[i].high = std::max(classes[i].high, top * kHeadroom);
      }
    }
  }

  double seconds = 1;
  Span queue, latency, pending;
  bool has_backlog = false;
  bool is_about_deferral = false;
  std::vector<Span> classes;
};

// One run, from its key figures down to its p95.
class Column {
 public:
  Column(Svg& svg, const Recording& run, const Axes& axes, double x, double y, double width)
      : svg_(svg), run_(run), axes_(axes), x_(x), y_(y), width_(width), spans_(state_spans(run)) {}

  // Returns the position of its lower end.
  double draw() {
    key_figures();
    state_strip();
    for (std::size_t i = 0; i < axes_.classes.size(); ++i) traffic(i);
    const bool has_log_queue = axes_.queue.is_logarithmic();
    Panel queue = panel("Queue depth", has_log_queue ? "requests, log scale" : "requests", 96,
                        axes_.queue, count_label);
    queue.area(queue_depth(run_), kQueue);
    queue.steps(queue_depth(run_), 1.2);
    if (axes_.has_backlog) {
      Panel pending =
          panel("Deferred and not done yet", "requests", 84, axes_.pending, count_label);
      pending.area(backlog(run_), kDeferred);
      pending.steps(backlog(run_), 1.2);
    }
    const Values latency = p95(run_);
    std::string note;
    if (std::ranges::any_of(latency, [](double each) { return std::isnan(each); }))
      note = "gaps: none served in time; ";
    Panel last = panel("p95 of requests served in time",
                       note + (axes_.latency.is_logarithmic() ? "seconds, log scale" : "seconds"),
                       96, axes_.latency, duration_label);
    last.steps(latency, 1.8);
    last.time_axis();
    return y_ + 24;
  }

 private:
  void key_figures() {
    std::vector<std::pair<std::string, std::string>> figures;
    if (!run_.classes.empty()) {
      const ClassSummary& top = run_.classes.front();
      figures.emplace_back(cut(top.name, 8) + " success", success(top));
    }
    figures.emplace_back("goodput", share_text(run_.goodput));
    figures.emplace_back("wasted work", share_text(run_.wasted));
    figures.emplace_back("p95 of served", latency_text(run_.p95));
    figures.emplace_back("longest queue", std::to_string(run_.max_queued));
    if (!run_.tenants.empty()) figures.emplace_back("Jain index", fixed(run_.jain, 3));
    if (run_.jobs) {
      figures.emplace_back("deferred", std::to_string(run_.jobs->deferred));
      figures.emplace_back("done later", std::to_string(run_.jobs->done));
    }
    svg_.text(x_, y_ + 16, title(), {.size = 16, .bold = true});
    const double step = std::min(width_ / static_cast<double>(figures.size()), 150.0);
    double x = x_;
    for (const auto& [label, value] : figures) {
      svg_.text(x, y_ + 44, value, {.size = step < 100 ? 15.0 : 18.0, .bold = true});
      svg_.text(x, y_ + 60, label, {.size = 11, .colour = kMuted});
      x += step;
    }
    y_ += 72;
  }

  std::string_view title() const {
    if (axes_.is_about_deferral) return run_.jobs ? "With deferral" : "Without deferral";
    return run_.shedding ? "With shedding" : "Without shedding";
  }

  // The states over time, with state and reason if there is room for them.
  void state_strip() {
    const double left = x_ + kAxisWidth;
    const Axis time({0, axes_.seconds}, left, x_ + width_);
    if (!has_states(run_)) {
      svg_.text(left, y_ + 12.5, "no overload control", {.size = 11, .colour = kMuted});
    } else {
      for (const StateSpan& span : spans_) {
        const double x = time(span.from), width = time(span.to) - x;
        svg_.rect(x, y_, width, 18, kStateColours[index(span.state)]);
        std::string words(name(span.state));
        const auto fits = [&] { return words.size() * kCapitalWidth <= width; };
        if (span.reason != Reason::none) words += ": " + std::string(name(span.reason));
        if (!fits()) words = name(span.state);
        if (!fits()) continue;
        svg_.text(x + width / 2, y_ + 12.5, words,
                  {.size = 10,
                   .colour = span.state == State::critical ? "#ffffff" : kInk,
                   .anchor = Anchor::middle});
      }
    }
    y_ += 20;
  }

  void traffic(std::size_t cls) {
    const std::string_view colour = kClasses[cls % kClasses.size()];
    const std::size_t count = axes_.classes.size();
    std::string title, note = "requests/s";
    if (cls < run_.classes.size()) {
      title = run_.classes[cls].name;
      if (run_.classes[cls].counts.offered > 0)
        note = success(run_.classes[cls]) + " success; " + note;
    }
    svg_.rect(x_ + kAxisWidth - 16, y_ + kTitleHeight - 15, 10, 10, colour);
    Panel drawn = panel(title, note, count <= 3 ? 84 : 56, axes_.classes[cls], count_label);
    if (run_.jobs) drawn.area(taken_on(run_, cls), kDeferred);
    drawn.area(answered(run_, cls), kLate);
    drawn.area(counts(run_, cls, &ClassCounts::served), colour);
    drawn.steps(offered(run_, cls), 1.2);
  }

  Panel panel(std::string_view title, std::string_view note, double height, const Span& values,
              Panel::Label label) {
    const double x = x_ + kAxisWidth, width = width_ - kAxisWidth;
    y_ += kTitleHeight;
    svg_.text(x, y_ - 6, title, {.size = 12, .bold = true});
    svg_.text(x + width, y_ - 6, note, {.size = 11, .colour = kMuted, .anchor = Anchor::end});
    Panel drawn(svg_, {x, y_, width, height}, axes_.seconds, values);
    drawn.background(spans_, label, run_.warm_up);
    y_ += height;
    return drawn;
  }

  static std::string success(const ClassSummary& each) {
    return each.counts.offered == 0 ? "-" : share_text(each.success);
  }

  Svg& svg_;
  const Recording& run_;
  const Axes& axes_;
  double x_, y_, width_;
  std::vector<StateSpan> spans_;
};

// Scenario, seed and warm-up. Returns the position of its lower end.
double heading(Svg& svg, const Recording& run) {
  double y = kMargin + 20;
  svg.text(kMargin, y, cut(run.scenario, 70), {.size = 26, .bold = true});
  std::string sentence = cut(run.sentence, 135);
  if (sentence.size() < run.sentence.size()) sentence += "…";
  svg.text(kMargin, y += 22, sentence, {.size = 14.5});
  std::string note = std::to_string(run.seconds.size()) + " s, seed " + std::to_string(run.seed);
  if (run.warm_up > 0) {
    note += "; figures leave out the warm-up, the first " + fixed(run.warm_up, 1) +
            " s up to the dashed line";
  }
  svg.text(kMargin, y += 20, note, {.colour = kMuted});
  return y + 24;
}

void legend(Svg& svg, double y, bool has_jobs) {
  double x = kMargin;
  const auto entry = [&](std::string_view text, std::optional<std::string_view> colour) {
    if (colour) svg.rect(x, y - 10, 14, 11, *colour);
    x += colour ? 20 : 0;
    svg.text(x, y, text, {.colour = kMuted});
    x += static_cast<double>(text.size()) * kCharacterWidth + 22;
  };
  svg.rect(x, y - 5.5, 14, 2, kInk);
  x += 20;
  entry("offered", std::nullopt);
  for (std::size_t i = 0; i < 3; ++i)
    svg.rect(x + 5 * static_cast<double>(i), y - 10, 5, 11, kClasses[i]);
  x += 20;
  entry("served in time", std::nullopt);
  entry("answered too late", kLate);
  if (has_jobs) entry("deferred", kDeferred);
  entry("gap: denied, expired or waiting", std::nullopt);
  x += has_jobs ? 0 : 60;
  for (std::size_t i = 0; i < kStateCount; ++i)
    entry(name(static_cast<State>(i)), kStateColours[i]);
}

}  // namespace

std::string plot(const Recording& with, const Recording* without) {
  Runs runs{&with};
  if (without != nullptr) runs.push_back(without);
  const Axes axes(runs);
  Svg svg;
  double top = heading(svg, with);
  legend(svg, top, axes.has_backlog);
  top += 28;
  const auto columns = static_cast<double>(runs.size());
  const double width = (kWidth - 2 * kMargin - kGap * (columns - 1)) / columns;
  double x = kMargin, bottom = top;
  for (const Recording* run : runs) {
    bottom = std::max(bottom, Column(svg, *run, axes, x, top, width).draw());
    x += width + kGap;
  }
  return svg.finish(kWidth, bottom + kMargin / 2, with.scenario + ": " + with.sentence);
}

}  // namespace spillway::simulate
