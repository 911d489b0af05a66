#include "simulate/captions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/reason.hpp"
#include "base/state.hpp"
#include "simulate/figures.hpp"
#include "simulate/palette.hpp"
#include "simulate/scale.hpp"
#include "simulate/states.hpp"

namespace spillway::simulate {
namespace {

// The mean width of a character, by size of type; a little more than most fonts have.
constexpr double kCharacter = 0.58;

constexpr double kSmall = 11;

std::size_t characters_in(double width, double size) {
  return static_cast<std::size_t>(std::max(width / (size * kCharacter), 1.0));
}

// Lines of at most `width` characters, broken between words where possible.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::string line = cut(text, width);
    if (line.size() < text.size()) {
      const std::size_t space = line.rfind(' ');
      if (space != std::string::npos && space > 0) line.resize(space);
    }
    text.remove_prefix(line.size());
    while (text.starts_with(' ')) text.remove_prefix(1);
    lines.push_back(std::move(line));
  }
  return lines;
}

void swatch(Svg& svg, double x, double y, std::string_view colour) {
  svg.element("rect", {{"x", x},
                       {"y", y - 10},
                       {"width", 14},
                       {"height", 11},
                       {"rx", 2},
                       {"fill", colour},
                       {"stroke", palette::kFrame},
                       {"stroke-width", 0.5}});
}

// How long each reason lasted, the longest first, as many as fit in `width`
// characters.
std::string reasons(const std::vector<StateSpan>& spans, std::size_t width) {
  std::array<double, kReasonCount> lasted{};
  for (const StateSpan& span : spans) {
    lasted[index(span.reason)] += span.to - span.from;
  }
  lasted[index(Reason::none)] = 0;
  std::string text;
  for (;;) {
    const auto longest = std::ranges::max_element(lasted);
    if (*longest <= 0) break;
    const auto reason = static_cast<Reason>(longest - lasted.begin());
    const std::string more = (text.empty() ? "reasons: " : ", ") + std::string(name(reason)) + ' ' +
                             fixed(*longest, 1) + " s";
    if (text.size() + more.size() > width) return text + " …";
    text += more;
    *longest = 0;
  }
  return text.empty() ? "no overload" : text;
}

}  // namespace

double heading(Svg& svg, const Place& place, const Recording& recording) {
  double y = place.y + 26;
  svg.text(place.x, y, cut(recording.scenario, characters_in(place.width, 26)),
           {.size = 26, .bold = true});
  for (const std::string& line : wrapped(recording.sentence, characters_in(place.width, 14.5))) {
    y += 22;
    svg.text(place.x, y, line, {.size = 14.5});
  }
  std::string note =
      std::to_string(recording.seconds.size()) + " s, seed " + std::to_string(recording.seed);
  if (recording.warm_up > 0) {
    note += "; figures leave out the warm-up, the first " + fixed(recording.warm_up, 1) +
            " s up to the dashed line";
  }
  y += 20;
  svg.text(place.x, y, note, {.size = 12, .colour = palette::kMuted});
  return y + 10;
}

double legend(Svg& svg, const Place& place) {
  const double y = place.y + 14;
  double x = place.x;
  const auto label = [&](std::string_view text, double width) {
    svg.text(x, y, text, {.size = 12, .colour = palette::kMuted});
    x += width;
  };
  svg.element("rect",
              {{"x", x}, {"y", y - 5.5}, {"width", 18}, {"height", 2}, {"fill", palette::kInk}});
  x += 24;
  label("offered", 62);
  for (std::size_t i = 0; i < 3; ++i) {
    svg.element(
        "rect",
        {{"x", x}, {"y", y - 10}, {"width", 8}, {"height", 11}, {"fill", palette::of_class(i)}});
    x += 8;
  }
  x += 6;
  label("served in time", 100);
  swatch(svg, x, y, palette::kLate);
  x += 20;
  label("answered too late", 124);
  label("gap: denied, expired or waiting", 0);
  x = place.x + place.width;
  for (const State state : {State::critical, State::overloaded, State::elevated, State::normal}) {
    x -= 40 + static_cast<double>(name(state).size()) * kSmall * kCharacter * 1.15;
    swatch(svg, x, y, palette::of_state(state));
    svg.text(x + 20, y, name(state), {.size = kSmall, .colour = palette::kMuted});
  }
  return y + 14;
}

double key_figures(Svg& svg, const Place& place, const Recording& recording) {
  std::vector<std::pair<std::string, std::string>> figures;
  if (!recording.classes.empty()) {
    const ClassSummary& highest = recording.classes.front();
    figures.emplace_back(cut(highest.name, 8) + " success",
                         highest.counts.offered == 0 ? "-" : share_text(highest.success));
  }
  figures.emplace_back("goodput", share_text(recording.goodput));
  figures.emplace_back("wasted work", share_text(recording.wasted));
  figures.emplace_back("p95 of served", latency_text(recording.p95));
  figures.emplace_back("longest queue", std::to_string(recording.max_queued));
  if (!recording.tenants.empty()) {
    figures.emplace_back("Jain index", fixed(recording.jain, 3));
  }
  svg.text(place.x, place.y + 16, recording.shedding ? "With shedding" : "Without shedding",
           {.size = 16, .bold = true});
  const double step = std::min(place.width / static_cast<double>(figures.size()), 150.0);
  double x = place.x;
  for (const auto& [label, value] : figures) {
    svg.text(x, place.y + 44, value, {.size = step < 100 ? 15.0 : 18.0, .bold = true});
    svg.text(x, place.y + 60, label, {.size = kSmall, .colour = palette::kMuted});
    x += step;
  }
  return place.y + 72;
}

double state_strip(Svg& svg, const Place& place, const Recording& recording, double seconds) {
  constexpr double kHeight = 18;
  constexpr double kReasons = 20;  // height of the line of reasons
  constexpr double kSize = 10;
  constexpr double kCapitals = 1.15;  // as wide as other characters
  const Scale time = Scale::linear(seconds, place.x, place.x + place.width);
  if (!has_states(recording)) {
    svg.element("rect", {{"x", place.x},
                         {"y", place.y},
                         {"width", place.width},
                         {"height", kHeight},
                         {"fill", "none"},
                         {"stroke", palette::kFrame},
                         {"stroke-dasharray", "3 3"}});
    svg.text(place.x + place.width / 2, place.y + 12.5, "no overload control",
             {.size = kSize, .colour = palette::kMuted, .anchor = Anchor::middle});
    return place.y + kHeight + kReasons;
  }
  const std::vector<StateSpan> spans = state_spans(recording);
  for (const StateSpan& span : spans) {
    const double x = time(span.from);
    const double width = time(span.to) - x;
    std::string words(name(span.state));
    if (span.reason != Reason::none) words += ": " + std::string(name(span.reason));
    svg.element("rect",
                {{"x", x},
                 {"y", place.y},
                 {"width", width},
                 {"height", kHeight},
                 {"fill", palette::of_state(span.state)}},
                words + ", " + fixed(span.from, 1) + " s to " + fixed(span.to, 1) + " s");
    const std::size_t room = characters_in(width, kSize * kCapitals);
    if (words.size() > room) words = name(span.state);
    if (words.size() > room) continue;
    svg.text(x + width / 2, place.y + 12.5, words,
             {.size = kSize, .colour = palette::on_state(span.state), .anchor = Anchor::middle});
  }
  svg.text(place.x, place.y + kHeight + 14, reasons(spans, characters_in(place.width, kSmall)),
           {.size = kSmall, .colour = palette::kMuted});
  return place.y + kHeight + kReasons;
}

}  // namespace spillway::simulate
