#include "system/caching/cases.hpp"

namespace spillway::caching {

namespace {

const Check kNotTheStaleOne = [](const Exchange& exchange) -> std::string {
  if (exchange.response->body == body_of_answer(1)) return "got the stale answer";
  return exchange.response->status() < 500 ? "no error" : "";
};

// Stale when the origin fails: the stored answer is given all the same.
Case stands_in(std::string sentence, Answer failure, Lines lines,
               Staleness staleness = Staleness::as_said) {
  return {.sentence = std::move(sentence),
          .section = staleness == Staleness::as_said ? "5861 4" : "4.2.4",
          .level = Level::may,
          .origin = {says(std::move(lines)), std::move(failure)},
          .client = {get().from_origin(1), get().later().answers(1).tried()},
          .staleness = staleness};
}

// Stale when the origin is gone, or fails: an error, though failures are otherwise stood in for.
Case no_stand_in(std::string what, std::string section, Lines lines, Answer failure) {
  const bool gone = failure.framing == Framing::nothing;
  return {.sentence =
              what + " is not given stale when the origin " + (gone ? "is gone" : "answers 500"),
          .section = std::move(section),
          .level = Level::must,
          .origin = {says(std::move(lines)), std::move(failure), says({})},
          .client = {get().from_origin(1),
                     get().later().any_status().satisfies(kNotTheStaleOne).tried(),
                     get().from_origin(3)},
          .staleness = Staleness::by_leave};
}

void add_bound(std::vector<Case>& cases) {
  const std::string tag = "ETag: \"a\"";
  for (const Answer& failure : {fails(), says(500, {})}) {
    cases.push_back(no_stand_in("must-revalidate", "5.2.2.2",
                                {"Cache-Control: max-age=1, must-revalidate", tag}, failure));
    cases.push_back(no_stand_in("proxy-revalidate", "5.2.2.8",
                                {"Cache-Control: max-age=1, proxy-revalidate", tag}, failure));
    cases.push_back(
        no_stand_in("s-maxage", "5.2.2.10", {"Cache-Control: s-maxage=1", tag}, failure));
    cases.push_back(no_stand_in("no-cache", "5.2.2.4", {"Cache-Control: no-cache", tag}, failure));
  }
  cases.push_back(no_stand_in("must-revalidate with stale-if-error", "5.2.2.2",
                              {"Cache-Control: max-age=1, must-revalidate, stale-if-error=60"},
                              fails()));
  cases.push_back(
      {.sentence = "must-revalidate answers 504 when the origin is gone",
       .section = "5.2.2.2",
       .level = Level::should,
       .origin = {says({"Cache-Control: max-age=1, must-revalidate"}), fails()},
       .client = {get().from_origin(1), get().later().status(504).tried()},
       .otherwise = "the section lets another error be more fitting: 502 says what happened"});
}

}  // namespace

std::vector<Case> stale_cases() {
  const Lines revalidating{"Cache-Control: max-age=1, stale-while-revalidate=60"};
  const Lines on_error{"Cache-Control: max-age=1, stale-if-error=60"};
  const Lines second{"Cache-Control: max-age=1"};
  std::vector<Case> cases{
      {.sentence = "stale-while-revalidate answers at once and asks afterwards",
       .section = "5861 3",
       .level = Level::may,
       .origin = {says(revalidating), says({"Cache-Control: max-age=60"})},
       .client = {get().from_origin(1), get().later().answers(1).refreshes(),
                  get().eventually().from_store(2)}},
      {.sentence = "stale-while-revalidate ends",
       .section = "5861 3",
       .level = Level::should,
       .origin = {says({"Cache-Control: max-age=1, stale-while-revalidate=0"}), says({})},
       .client = {get().from_origin(1), get().later().from_origin(2)}},
      {.sentence = "stale-while-revalidate does not overrule must-revalidate",
       .section = "5.2.2.2",
       .level = Level::must,
       .origin = {says({"Cache-Control: max-age=1, stale-while-revalidate=60, must-revalidate"}),
                  says({})},
       .client = {get().from_origin(1), get().later().from_origin(2)}},
      stands_in("stale-if-error stands in for an origin that is gone", fails(), on_error),
      {.sentence = "stale-if-error ends",
       .section = "5861 4",
       .level = Level::should,
       .origin = {says({"Cache-Control: max-age=1, stale-if-error=0"}), says(500, {})},
       .client = {get().from_origin(1), get().later().status(500).from_origin(2)}},
      {.sentence = "stale-if-error does not stand in for a 404",
       .section = "5861 4",
       .level = Level::should,
       .origin = {says(on_error), says(404, {})},
       .client = {get().from_origin(1), get().later().status(404).from_origin(2)}},
      {.sentence = "stale-if-error does not stand in while the origin is well",
       .section = "5861 4",
       .level = Level::should,
       .origin = {says(on_error), says({})},
       .client = {get().from_origin(1), get().later().from_origin(2)}},
      {.sentence = "a stale answer is not given without leave when the origin answers 500",
       .section = "4.2.4",
       .level = Level::must,
       .origin = {says(second), says(500, {})},
       .client = {get().from_origin(1), get().later().status(500).from_origin(2)}},
      {.sentence = "a stale answer is not given without leave while the origin is well",
       .section = "4.2.4",
       .level = Level::must,
       .origin = {says(second), says({})},
       .client = {get().from_origin(1), get().later().from_origin(2)}},
      {.sentence = "leave of the operator is for trouble and not for when the origin is well",
       .section = "",
       .level = Level::ours,
       .origin = {says(second), says({})},
       .client = {get().from_origin(1), get().later().from_origin(2)},
       .staleness = Staleness::by_leave},
      {.sentence = "a stale answer says an Age beyond its lifetime",
       .section = "4",
       .level = Level::must,
       .origin = {says(on_error), fails()},
       .client = {get().from_origin(1), get().later().answers(1).age(2, 50)}}};
  for (const int status : {500, 502, 503, 504}) {
    cases.push_back(stands_in("stale-if-error stands in for a " + std::to_string(status),
                              says(status, {}), on_error));
  }
  cases.push_back(stands_in("a stale answer stands in for an origin that is gone by configuration",
                            fails(), second, Staleness::by_leave));
  cases.push_back(stands_in("a stale answer stands in for a 503 by configuration", says(503, {}),
                            second, Staleness::by_leave));
  cases.push_back({.sentence = "a stale answer stands in for one failure after another",
                   .section = "4.2.4",
                   .level = Level::may,
                   .origin = {says(second), says(503, {}), fails(), says({})},
                   .client = {get().from_origin(1), get().later().answers(1).asked(),
                              get().answers(1).tried(), get().from_origin(4)},
                   .staleness = Staleness::by_leave});
  add_bound(cases);
  return cases;
}

}  // namespace spillway::caching
