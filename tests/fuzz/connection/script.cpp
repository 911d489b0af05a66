#include "fuzz/connection/script.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "fuzz/connection/messages.hpp"

namespace spillway::fuzz {
namespace {

constexpr std::array<std::string_view, kVerbCount> kWords{
    "request", "send",    "half_close", "leave", "reads", "answer",
    "stray",   "hang_up", "refuse",     "pause", "drain"};
constexpr std::array<std::string_view, 2> kNoYes{"yes", "no"};
constexpr std::array<std::string_view, 2> kThen{"stays", "leaves"};

Argument named(std::string_view key, std::span<const std::string_view> names) {
  return {key, names, static_cast<unsigned>(names.size())};
}

std::string_view take_word(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return word;
}

void set_argument(Step& step, std::string_view key, std::string_view value) {
  const auto arguments = arguments_of(step.verb);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].key != key) continue;
    const auto& names = arguments[i].names;
    const auto name = std::find(names.begin(), names.end(), value);
    unsigned number = 0;
    if (name != names.end()) {
      number = static_cast<unsigned>(name - names.begin());
    } else {
      std::from_chars(value.data(), value.data() + value.size(), number);
    }
    step.values[i] = static_cast<std::uint8_t>(number % arguments[i].count);
  }
}

std::optional<Step> parse_step(std::string_view line) {
  const std::string_view word = take_word(line, ' ');
  const auto verb = std::find(kWords.begin(), kWords.end(), word);
  if (verb == kWords.end()) return std::nullopt;
  Step step{static_cast<Verb>(verb - kWords.begin()), {}};
  while (!line.empty()) {
    std::string_view argument = take_word(line, ' ');
    const std::string_view key = take_word(argument, '=');
    set_argument(step, key, argument);
  }
  return step;
}

std::size_t below(Random& random, std::size_t count) { return random.next() % count; }

Step any_step(Random& random) {
  // What is said is most of a script.
  constexpr std::array kOften{Verb::request, Verb::request, Verb::send,
                              Verb::send,    Verb::answer,  Verb::answer};
  const std::size_t place = below(random, kVerbCount + kOften.size());
  Step step{place < kVerbCount ? static_cast<Verb>(place) : kOften[place - kVerbCount], {}};
  const auto arguments = arguments_of(step.verb);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (below(random, 2) == 0)
      step.values[i] = static_cast<std::uint8_t>(below(random, arguments[i].count));
  }
  return step;
}

void change_argument(Step& step, Random& random) {
  const auto arguments = arguments_of(step.verb);
  if (arguments.empty()) return;
  const std::size_t i = below(random, arguments.size());
  const unsigned count = arguments[i].count;
  const std::size_t by = below(random, 3);
  const std::size_t value = by == 0   ? step.values[i] + 1u
                            : by == 1 ? step.values[i] + count - 1u
                                      : below(random, count);
  step.values[i] = static_cast<std::uint8_t>(value % count);
}

}  // namespace

std::span<const Argument> arguments_of(Verb verb) {
  static const Argument client{"client", {}, kClients};
  static const std::array request{client,
                                  named("method", kMethods),
                                  named("form", kRequestForms),
                                  named("body", kRequestBodies),
                                  named("edit", kEdits),
                                  Argument{"at", {}, 256},
                                  named("target", kTargets)};
  static const std::array send{client, Argument{"bytes", {}, 256}, named("then", kThen)};
  static const std::array one_client{client};
  static const std::array reads{client, named("on", kNoYes)};
  static const std::array answer{named("status", kStatuses),   named("form", kAnswerForms),
                                 named("body", kAnswerBodies), named("edit", kEdits),
                                 Argument{"at", {}, 256},      named("pieces", kPieces),
                                 named("end", kEndings),       named("when", kWhens)};
  static const std::array stray{Argument{"connection", {}, 4}, named("what", kStrays)};
  static const std::array hang_up{Argument{"connection", {}, 4}};
  static const std::array refuse{Argument{"connections", {}, 4}};
  static const std::array pause{named("for", kPauses)};
  switch (verb) {
    case Verb::request: return request;
    case Verb::send: return send;
    case Verb::half_close:
    case Verb::leave: return one_client;
    case Verb::reads: return reads;
    case Verb::answer: return answer;
    case Verb::stray: return stray;
    case Verb::hang_up: return hang_up;
    case Verb::refuse: return refuse;
    case Verb::pause: return pause;
    case Verb::drain: return {};
  }
  return {};
}

Script parse_script(std::string_view text) {
  Script script;
  while (!text.empty() && script.size() < kMostSteps) {
    if (const auto step = parse_step(take_word(text, '\n'))) script.push_back(*step);
  }
  return script;
}

std::string text_of(const Script& script) {
  std::string text;
  for (const Step& step : script) {
    text += kWords[static_cast<std::size_t>(step.verb)];
    const auto arguments = arguments_of(step.verb);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::uint8_t value = step.values[i];
      if (value == 0) continue;
      text.append(" ").append(arguments[i].key).append("=");
      text += arguments[i].names.empty() ? std::to_string(value)
                                         : std::string(arguments[i].names[value]);
    }
    text += '\n';
  }
  return text;
}

void mutate(Script& script, Random& random) {
  for (std::size_t times = 1 + below(random, 4); times > 0; --times) {
    const std::size_t at = below(random, script.size() + 1);
    const auto place = script.begin() + static_cast<std::ptrdiff_t>(at);
    const bool is_step = place != script.end();
    switch (below(random, 8)) {
      case 0:
      case 1:
        if (script.size() < kMostSteps) script.insert(place, any_step(random));
        break;
      case 2:
        if (is_step) script.erase(place);
        break;
      case 3:
        if (is_step && script.size() < kMostSteps) script.insert(place, Step(*place));
        break;
      case 4:
        if (is_step) std::swap(*place, script[below(random, script.size())]);
        break;
      default:
        if (is_step) change_argument(*place, random);
    }
  }
}

Script crossed(const Script& a, const Script& b, Random& random) {
  const auto first = static_cast<std::ptrdiff_t>(below(random, a.size() + 1));
  const auto second = static_cast<std::ptrdiff_t>(below(random, b.size() + 1));
  Script script(a.begin(), a.begin() + first);
  script.insert(script.end(), b.begin() + second, b.end());
  if (script.size() > kMostSteps) script.resize(kMostSteps);
  return script;
}

}  // namespace spillway::fuzz
