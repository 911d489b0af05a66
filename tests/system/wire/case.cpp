#include "system/wire/case.hpp"

namespace spillway::wire {

std::string_view name_of(Level level) {
  switch (level) {
    case Level::must: return "MUST";
    case Level::should: return "SHOULD";
    case Level::may: return "MAY";
    case Level::ours: return "ours";
  }
  return "";
}

Case::Case(Level level, std::string section, std::string sentence, std::vector<Answer> answers,
           std::vector<Step> steps)
    : level_(level),
      section_(std::move(section)),
      sentence_(std::move(sentence)),
      answers_(std::move(answers)),
      steps_(std::move(steps)) {
  for (const Step& step : steps_) {
    answers_.insert(answers_.end(), step.answers().begin(), step.answers().end());
  }
}

Case& Case::otherwise(std::string reason) {
  otherwise_ = std::move(reason);
  return *this;
}

Case& Case::stale_by_configuration() {
  route_ = "/stale";
  return *this;
}

Case must(std::string section, std::string sentence, Step step) {
  return {Level::must, std::move(section), std::move(sentence), std::move(step)};
}
Case must(std::string section, std::string sentence, std::vector<Answer> answers,
          std::vector<Step> steps) {
  return {Level::must, std::move(section), std::move(sentence), std::move(answers),
          std::move(steps)};
}
Case should(std::string section, std::string sentence, Step step) {
  return {Level::should, std::move(section), std::move(sentence), std::move(step)};
}
Case should(std::string section, std::string sentence, std::vector<Answer> answers,
            std::vector<Step> steps) {
  return {Level::should, std::move(section), std::move(sentence), std::move(answers),
          std::move(steps)};
}
Case may(std::string section, std::string sentence, Step step) {
  return {Level::may, std::move(section), std::move(sentence), std::move(step)};
}
Case may(std::string section, std::string sentence, std::vector<Answer> answers,
         std::vector<Step> steps) {
  return {Level::may, std::move(section), std::move(sentence), std::move(answers),
          std::move(steps)};
}
Case ours(std::string sentence, Step step) {
  return {Level::ours, "ours", std::move(sentence), std::move(step)};
}
Case ours(std::string sentence, std::vector<Answer> answers, std::vector<Step> steps) {
  return {Level::ours, "ours", std::move(sentence), std::move(answers), std::move(steps)};
}

}  // namespace spillway::wire
