#include "simulate/report/plot.hpp"

#include <doctest/doctest.h>

#include <cctype>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "unit/simulate/recordings.hpp"
#include "unit/simulate/xml.hpp"

namespace spillway::simulate {
namespace {

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool shows(std::string_view picture, std::string_view text) {
  return picture.find('>' + std::string(text) + '<') != std::string_view::npos;
}

// A word that to_chars or printf would write for what is not finite.
bool has_word(std::string_view text, std::string_view word) {
  const auto is_letter = [&](std::size_t i) {
    return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0;
  };
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (!is_letter(at - 1) && !is_letter(at + word.size())) return true;
  }
  return false;
}

void check_sound(const std::string& picture) {
  CHECK(malformed(picture) == "");
  CHECK(!has_word(picture, "nan"));
  CHECK(!has_word(picture, "inf"));
  CHECK(occurrences(picture, "http") == 1);  // the namespace, and nothing from elsewhere
  for (const char* foreign : {"<script", "<image", "<use", "href", "url(", "@import", "<style"}) {
    CHECK(picture.find(foreign) == std::string::npos);
  }
}

}  // namespace

TEST_CASE("a comparison shows both runs beside each other with their states and figures") {
  const Recording without = made_up_spike(false);
  const std::string picture = plot(made_up_spike(true), &without);
  check_sound(picture);
  for (const char* text :
       {"spike", "Twice as much as the backend can do arrives for forty seconds.", "With shedding",
        "Without shedding", "98.10 %", "11.80 %", "93 ms", "16.9 s", "OVERLOADED: QUEUE_WAIT_RISK",
        "CRITICAL: TAIL_LATENCY", "offered", "served in time", "answered too late",
        "gap: denied, expired or waiting", "CRITICAL"}) {
    CAPTURE(text);
    CHECK(shows(picture, text));
  }
  CHECK(occurrences(picture, " % success; requests/s<") == 6);  // of each class in each run
  for (const char* title : {"Queue depth", "p95 of requests served in time"}) {
    CAPTURE(title);
    CHECK(occurrences(picture, title) == 2);
  }
}

TEST_CASE("panels side by side have equal scales and are logarithmic when peaks are far apart") {
  const Recording without = made_up_spike(false);
  const std::string both = plot(made_up_spike(true), &without);
  CHECK(occurrences(both, ">seconds, log scale<") == 2);
  CHECK(occurrences(both, ">requests, log scale<") == 2);
  CHECK(occurrences(both, ">10 s<") == 2);
  CHECK(occurrences(both, ">10k<") == 2);
  CHECK(occurrences(both, ">400<") == 2);  // of P2, in requests a second
  const std::string alone = plot(made_up_spike(true), nullptr);
  check_sound(alone);
  CHECK(occurrences(alone, "log scale") == 0);
  CHECK(!shows(alone, "Without shedding"));
}

TEST_CASE("the same recordings give the same bytes and other recordings others") {
  const Recording without = made_up_spike(false);
  const std::string once = plot(made_up_spike(true), &without);
  CHECK(once == plot(made_up_spike(true), &without));
  CHECK(once != plot(without, &without));
}

TEST_CASE("an empty recording and a single second and eight classes have a picture") {
  check_sound(plot(Recording{}, nullptr));
  const Recording empty;
  check_sound(plot(made_up_spike(true), &empty));
  const std::string second = plot(made_up_run(1, 1), nullptr);
  check_sound(second);
  CHECK(shows(second, "class 0"));
  const Recording eight = made_up_run(8, 120);
  const std::string picture = plot(eight, &eight);
  check_sound(picture);
  for (const ClassSummary& each : eight.classes) {
    CAPTURE(each.name);
    CHECK(occurrences(picture, '>' + each.name + '<') == 2);  // the panels of two runs
  }
}

TEST_CASE("a picture is sound when figures are no numbers and texts are hostile") {
  Recording run = made_up_run(2, 30);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  run.goodput = kNaN;
  run.wasted = -kInfinity;
  run.p95 = kInfinity;
  run.warm_up = kNaN;
  run.seconds[3].p95 = kInfinity;
  run.seconds[4].p95 = kNaN;
  run.classes[0].success = kNaN;
  run.changes.push_back({kInfinity, State::critical, Reason::error_burst});
  run.scenario = "<b>\"spike\" & co</b>";
  run.sentence = "</title><script>alert('x')</script>\x02" + std::string(500, 'w');
  run.classes[1].name = "a<b&c";
  run.tenants = {{"<t>", 0, 0}};
  run.jain = kNaN;
  check_sound(plot(run, nullptr));
  CHECK(shows(plot(run, nullptr), "a&lt;b&amp;c"));
}

TEST_CASE("a run with tenants has its Jain index among the key figures") {
  Recording run = made_up_run(1, 10);
  CHECK(!shows(plot(run, nullptr), "Jain index"));
  run.tenants = {{"one", 100, 50}, {"other", 100, 50}};
  CHECK(shows(plot(run, nullptr), "Jain index"));
}

TEST_CASE("a run without overload control has no states to show") {
  Recording run = made_up_run(1, 10);
  run.changes.clear();
  CHECK(shows(plot(run, nullptr), "NORMAL"));
  run.shedding = false;
  const std::string picture = plot(run, nullptr);
  check_sound(picture);
  CHECK(shows(picture, "no overload control"));
  CHECK(occurrences(picture, ">NORMAL<") == 1);  // the legend
}

TEST_CASE("seconds in which nothing was served leave a gap in the line of p95") {
  Recording run = made_up_run(1, 10);
  CHECK(!shows(plot(run, nullptr), "gaps: none served in time; seconds"));
  run.seconds[4].p95 = 0;
  CHECK(shows(plot(run, nullptr), "gaps: none served in time; seconds"));
}

TEST_CASE("a state has its reason in the strip where there is room for it") {
  const std::string roomy = plot(made_up_run(1, 30), nullptr);
  CHECK(shows(roomy, "OVERLOADED: QUEUE_SATURATION"));
  const std::string flapping = plot(made_up_run(1, 100), nullptr);
  CHECK(!shows(flapping, "OVERLOADED: QUEUE_SATURATION"));
  CHECK(occurrences(flapping, ">OVERLOADED<") == 5 + 1);  // and the legend
}

}  // namespace spillway::simulate
