// A case of the tables: one sentence of an RFC (or one promise of ours), played in bytes between a
// client and an origin with a proxy under test between them. It has one step or several
// (step.hpp), each on a connection of its own.
//
//   must("9112 9.6", "close ends the connection behind the response",
//        sends(get("/", "Connection: close\r\n")).passes().closed())
//
//   must("9111 4.3.1", "a stale answer with an entity tag is validated by it",
//        {says({"Cache-Control: max-age=1", "ETag: \"a\""}), says(304, {"ETag: \"a\""})},
//        {get().from_origin(1), get().later().answers(1).asked_with("If-None-Match", "\"a\"")})
//
// The origin answers the requests that reach it in turn: first with the answers of the case, then
// with those of its steps, in order. When they have run out it says 200 and "ok", which must not be
// stored.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "system/wire/step.hpp"

namespace spillway::wire {

enum class Level { must, should, may, ours };
std::string_view name_of(Level level);

class Case {
 public:
  Case(Level level, std::string section, std::string sentence, std::vector<Answer> answers,
       std::vector<Step> steps);
  Case(Level level, std::string section, std::string sentence, Step step)
      : Case(level, std::move(section), std::move(sentence), {}, std::vector{std::move(step)}) {}

  // Why Spillway does otherwise on purpose.
  Case& otherwise(std::string reason);
  // The operator lets stale answers be given for a minute: when the upstream fails, or to clients
  // that accept them. Else nothing stale is given but by leave of the response.
  Case& stale_by_configuration();

  Level level() const { return level_; }
  const std::string& section() const { return section_; }  // "9112 6.1" is RFC 9112 section 6.1
  const std::string& sentence() const { return sentence_; }
  const std::string& reason() const { return otherwise_; }
  const std::vector<Answer>& answers() const { return answers_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::string& route() const { return route_; }  // its paths begin with this
  bool breaks_off() const { return std::ranges::any_of(steps_, &Step::breaks_off); }
  bool wants_stored() const { return std::ranges::any_of(steps_, &Step::wants_stored); }

 private:
  Level level_;
  std::string section_;
  std::string sentence_;
  std::vector<Answer> answers_;
  std::vector<Step> steps_;
  std::string route_ = "/fresh";
  std::string otherwise_;
};

// The rest is `Step` or `std::vector<Answer>, std::vector<Step>`.
Case must(std::string section, std::string sentence, Step step);
Case must(std::string section, std::string sentence, std::vector<Answer> answers,
          std::vector<Step> steps);
Case should(std::string section, std::string sentence, Step step);
Case should(std::string section, std::string sentence, std::vector<Answer> answers,
            std::vector<Step> steps);
Case may(std::string section, std::string sentence, Step step);
Case may(std::string section, std::string sentence, std::vector<Answer> answers,
         std::vector<Step> steps);
Case ours(std::string sentence, Step step);
Case ours(std::string sentence, std::vector<Answer> answers, std::vector<Step> steps);

}  // namespace spillway::wire
