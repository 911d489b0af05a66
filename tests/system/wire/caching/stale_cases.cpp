#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

const Expectation kNotTheStaleOne = [](const Observation& seen) -> std::string {
  if (seen.responses.at(0).body == numbered_body(1)) return "got the stale answer";
  return seen.responses.at(0).status() < 500 ? "no error" : "";
};

// Stale when the origin fails: the stored answer is given all the same.
Case stands_in(std::string section, std::string sentence, Response failure, Lines lines) {
  return may(std::move(section), std::move(sentence), {says(std::move(lines)), std::move(failure)},
             {get().from_origin(1), get().later().answers(1).tried()});
}

// Stale when the origin is gone, or fails: an error, though failures are otherwise stood in for.
Case no_stand_in(std::string what, std::string section, Lines lines, Response failure) {
  const bool gone = failure.framing == Framing::nothing;
  return must(std::move(section),
              what + " is not given stale when the origin " + (gone ? "is gone" : "answers 500"),
              {says(std::move(lines)), std::move(failure), says({})},
              {get().from_origin(1), get().later().any_status().satisfies(kNotTheStaleOne).tried(),
               get().from_origin(3)})
      .stale_by_configuration();
}

void add_bound(std::vector<Case>& cases) {
  const std::string tag = "ETag: \"a\"";
  for (const Response& failure : {fails(), says(500, {})}) {
    cases.push_back(no_stand_in("must-revalidate", "9111 5.2.2.2",
                                {"Cache-Control: max-age=1, must-revalidate", tag}, failure));
    cases.push_back(no_stand_in("proxy-revalidate", "9111 5.2.2.8",
                                {"Cache-Control: max-age=1, proxy-revalidate", tag}, failure));
    cases.push_back(
        no_stand_in("s-maxage", "9111 5.2.2.10", {"Cache-Control: s-maxage=1", tag}, failure));
    cases.push_back(
        no_stand_in("no-cache", "9111 5.2.2.4", {"Cache-Control: no-cache", tag}, failure));
  }
  cases.push_back(no_stand_in("must-revalidate with stale-if-error", "9111 5.2.2.2",
                              {"Cache-Control: max-age=1, must-revalidate, stale-if-error=60"},
                              fails()));
  cases.push_back(
      should("9111 5.2.2.2", "must-revalidate answers 504 when the origin is gone",
             {says({"Cache-Control: max-age=1, must-revalidate"}), fails()},
             {get().from_origin(1), get().later().status(504).tried()})
          .otherwise("the section lets another error be more fitting: 502 says what happened"));
}

}  // namespace

std::vector<Case> stale_cases() {
  const Lines revalidating{"Cache-Control: max-age=1, stale-while-revalidate=60"};
  const Lines on_error{"Cache-Control: max-age=1, stale-if-error=60"};
  const Lines second{"Cache-Control: max-age=1"};
  std::vector<Case> cases{
      may("5861 3", "stale-while-revalidate answers at once and asks afterwards",
          {says(revalidating), says({"Cache-Control: max-age=60"})},
          {get().from_origin(1), get().later().answers(1).refreshes(),
           get().eventually().from_store(2)}),
      should("5861 3", "stale-while-revalidate ends",
             {says({"Cache-Control: max-age=1, stale-while-revalidate=0"}), says({})},
             {get().from_origin(1), get().later().from_origin(2)}),
      must("9111 5.2.2.2", "stale-while-revalidate does not overrule must-revalidate",
           {says({"Cache-Control: max-age=1, stale-while-revalidate=60, must-revalidate"}),
            says({})},
           {get().from_origin(1), get().later().from_origin(2)}),
      stands_in("5861 4", "stale-if-error stands in for an origin that is gone", fails(), on_error),
      should("5861 4", "stale-if-error ends",
             {says({"Cache-Control: max-age=1, stale-if-error=0"}), says(500, {})},
             {get().from_origin(1), get().later().status(500).from_origin(2)}),
      should("5861 4", "stale-if-error does not stand in for a 404",
             {says(on_error), says(404, {})},
             {get().from_origin(1), get().later().status(404).from_origin(2)}),
      should("5861 4", "stale-if-error does not stand in while the origin is well",
             {says(on_error), says({})}, {get().from_origin(1), get().later().from_origin(2)}),
      must("9111 4.2.4", "a stale answer is not given without leave when the origin answers 500",
           {says(second), says(500, {})},
           {get().from_origin(1), get().later().status(500).from_origin(2)}),
      must("9111 4.2.4", "a stale answer is not given without leave while the origin is well",
           {says(second), says({})}, {get().from_origin(1), get().later().from_origin(2)}),
      ours("leave of the operator is for trouble and not for when the origin is well",
           {says(second), says({})}, {get().from_origin(1), get().later().from_origin(2)})
          .stale_by_configuration(),
      must("9111 4", "a stale answer says an Age beyond its lifetime", {says(on_error), fails()},
           {get().from_origin(1), get().later().answers(1).age(2, 50)})};
  for (const int status : {500, 502, 503, 504}) {
    cases.push_back(stands_in("5861 4", "stale-if-error stands in for a " + std::to_string(status),
                              says(status, {}), on_error));
  }
  cases.push_back(stands_in("9111 4.2.4",
                            "a stale answer stands in for an origin that is gone by configuration",
                            fails(), second)
                      .stale_by_configuration());
  cases.push_back(stands_in("9111 4.2.4", "a stale answer stands in for a 503 by configuration",
                            says(503, {}), second)
                      .stale_by_configuration());
  cases.push_back(may("9111 4.2.4", "a stale answer stands in for one failure after another",
                      {says(second), says(503, {}), fails(), says({})},
                      {get().from_origin(1), get().later().answers(1).asked(),
                       get().answers(1).tried(), get().from_origin(4)})
                      .stale_by_configuration());
  add_bound(cases);
  return cases;
}

}  // namespace spillway::wire::caching
