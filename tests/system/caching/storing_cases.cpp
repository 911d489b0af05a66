#include "system/caching/cases.hpp"

namespace spillway::caching {

namespace {

Case reused_with_lifetime(int status, std::string section) {
  return {.sentence = "a " + std::to_string(status) + " with max-age is reused",
          .section = std::move(section),
          .level = Level::may,
          .origin = {says(status, {"Cache-Control: max-age=60", "X-Mark: first"})},
          .client = {get().status(status).with("X-Mark", "first").asked(),
                     get().status(status).with("X-Mark", "first").not_asked()}};
}

Case not_reused(std::string sentence, std::string section, Level level, Lines lines) {
  return {.sentence = std::move(sentence),
          .section = std::move(section),
          .level = level,
          .origin = {says(std::move(lines)), says({})},
          .client = {get().from_origin(1), get().from_origin(2)}};
}

// A method whose answer is not for a GET that follows.
Case not_for_get(std::string method, std::string section) {
  return {
      .sentence = "an answer to " + method + " is not given to a GET",
      .section = std::move(section),
      .level = Level::must,
      .origin = {says({"Cache-Control: max-age=60"}), says({"Cache-Control: max-age=60"})},
      .client = {ask(method).body("x").from_origin(1), get().from_origin(2), get().from_store(2)}};
}

void add_statuses(std::vector<Case>& cases) {
  for (const int status : {203, 204, 300, 301, 308, 404, 405, 410, 414, 501}) {
    cases.push_back(reused_with_lifetime(status, "3"));
  }
  for (const int status : {302, 307}) cases.push_back(reused_with_lifetime(status, "3"));
  cases.push_back(reused_with_lifetime(403, "3"));
  cases.push_back(reused_with_lifetime(299, "3"));
  cases.push_back(reused_with_lifetime(503, "3"));
  cases.back().otherwise =
      "an error of an overloaded backend would be given out when it is well again";
  for (const int status : {302, 403, 500}) {
    cases.push_back(
        {.sentence = "a " + std::to_string(status) + " without a lifetime is not reused",
         .section = "4.2.2",
         .level = Level::must,
         .origin = {says(status, {"X-Mark: first"}), says(status, {"X-Mark: second"})},
         .client = {get().status(status).with("X-Mark", "first").asked(),
                    get().status(status).with("X-Mark", "second").asked()}});
  }
}

void add_incomplete(std::vector<Case>& cases) {
  cases.insert(cases.end(),
               {{.sentence = "a body cut off before its Content-Length answers nobody else",
                 .section = "3.3",
                 .level = Level::must,
                 .origin = {framed(Framing::cut_off, says({"Cache-Control: max-age=60"})),
                            says({"Cache-Control: max-age=60"})},
                 .client = {get().broken_off(), get().from_origin(2), get().from_store(2)}},
                {.sentence = "a body cut off before its last chunk answers nobody else",
                 .section = "3.3",
                 .level = Level::must,
                 .origin = {framed(Framing::cut_off_chunked, says({"Cache-Control: max-age=60"})),
                            says({"Cache-Control: max-age=60"})},
                 .client = {get().broken_off(), get().from_origin(2), get().from_store(2)}},
                {.sentence = "a part that a Range asked for is not given as the whole",
                 .section = "3.3",
                 .level = Level::must,
                 .origin = {{.lines = {"Cache-Control: max-age=60", "ETag: \"a\""}, .ranges = true},
                            says({"Cache-Control: max-age=60", "ETag: \"a\""})},
                 .client = {get({"Range: bytes=0-2"}).any_status().part_or_whole(), get().whole(),
                            get().whole().not_asked()}},
                {.sentence = "a chunked body is stored whole",
                 .section = "3",
                 .level = Level::may,
                 .origin = {framed(Framing::chunked, says({"Cache-Control: max-age=60"}))},
                 .client = {get().from_origin(1), get().from_store(1)}},
                {.sentence = "a body that ends with its connection is stored whole",
                 .section = "9112 8",
                 .level = Level::may,
                 .origin = {framed(Framing::until_close, says({"Cache-Control: max-age=60"}))},
                 .client = {get().from_origin(1), get().from_store(1)}}});
}

void add_methods(std::vector<Case>& cases) {
  cases.push_back({.sentence = "each POST reaches the origin",
                   .section = "4",
                   .level = Level::must,
                   .origin = {says({"Cache-Control: max-age=60"}), says({})},
                   .client = {post().from_origin(1), post().from_origin(2)}});
  cases.push_back(not_for_get("POST", "9110 9.3.3"));
  cases.push_back(not_for_get("PUT", "9110 9.3.4"));
  cases.push_back(not_for_get("DELETE", "9110 9.3.5"));
  cases.push_back(
      {.sentence = "each OPTIONS reaches the origin",
       .section = "9110 9.3.7",
       .level = Level::must,
       .origin = {says({"Cache-Control: max-age=60"}), says({"Cache-Control: max-age=60"}),
                  says({"Cache-Control: max-age=60"})},
       .client = {ask("OPTIONS").from_origin(1), ask("OPTIONS").from_origin(2),
                  get().from_origin(3), get().from_store(3)}});
  cases.push_back(
      {.sentence = "each request of an unknown method reaches the origin",
       .section = "3",
       .level = Level::must,
       .origin = {says({"Cache-Control: max-age=60"}), says({"Cache-Control: max-age=60"}),
                  says({"Cache-Control: max-age=60"})},
       .client = {ask("FROB").from_origin(1), ask("FROB").from_origin(2), get().from_origin(3),
                  get().from_store(3)}});
  cases.push_back(
      {.sentence = "an answer to HEAD is not given to a GET",
       .section = "4",
       .level = Level::must,
       .origin = {says({"Cache-Control: max-age=60"}), says({"Cache-Control: max-age=60"})},
       .client = {head().asked(), get().whole(), get().whole().not_asked()}});
  cases.push_back({.sentence = "a GET with a body is not answered from the store",
                   .section = "",
                   .level = Level::ours,
                   .origin = {says({"Cache-Control: max-age=60"}), says({})},
                   .client = {get().from_origin(1), get().body("x").from_origin(2)}});
}

}  // namespace

std::vector<Case> storing_cases() {
  std::vector<Case> cases{
      {.sentence = "a GET's answer with max-age is reused",
       .section = "4",
       .level = Level::may,
       .origin = {says({"Cache-Control: max-age=60"})},
       .client = {get().from_origin(1), get().from_store(1), get().from_store(1)}},
      not_reused("no-store in a response keeps it out", "5.2.2.5", Level::must,
                 {"Cache-Control: no-store, max-age=60"}),
      not_reused("directives are told apart regardless of case", "5.2", Level::must,
                 {"Cache-Control: Max-Age=60, NO-STORE"}),
      not_reused("no-store in a second Cache-Control line keeps it out", "5.2.2.5", Level::must,
                 {"Cache-Control: max-age=60", "Cache-Control: no-store"}),
      not_reused("private keeps a response out", "5.2.2.7", Level::must,
                 {"Cache-Control: private, max-age=60"}),
      not_reused("private with s-maxage still keeps it out", "5.2.2.7", Level::must,
                 {"Cache-Control: private, s-maxage=60"}),
      not_reused("Set-Cookie keeps a response out", "7.3", Level::ours,
                 {"Cache-Control: max-age=60", "Set-Cookie: session=1"}),
      {.sentence = "fields that private names are not given to another",
       .section = "5.2.2.7",
       .level = Level::must,
       .origin = {says({"Cache-Control: private=\"X-User\", max-age=60", "X-User: 1"}),
                  says({"X-User: 2"})},
       .client = {get().from_origin(1).with("X-User", "1"),
                  get().satisfies([](const Exchange& exchange) -> std::string {
                    return exchange.response->field("X-User") == "1" ? "X-User is 1" : "";
                  })}},
      {.sentence = "what private does not name may be reused",
       .section = "5.2.2.7",
       .level = Level::may,
       .origin = {says({"Cache-Control: private=\"X-User\", max-age=60", "X-User: 1"}),
                  says({"X-User: 2"})},
       .client = {get().from_origin(1), get().from_store(1).without("X-User")},
       .otherwise =
           "a qualified private counts as an unqualified one, as the section's note allows"},
      {.sentence = "no-store in a request keeps its answer out",
       .section = "5.2.1.5",
       .level = Level::may,
       .origin = {says({"Cache-Control: max-age=60"}), says({})},
       .client = {get({"Cache-Control: no-store"}).from_origin(1), get().from_origin(2)}},
      {.sentence = "must-understand keeps a response of unknown status out",
       .section = "5.2.2.3",
       .level = Level::must,
       .origin = {says(299, {"Cache-Control: must-understand, max-age=60"}), says(299, {})},
       .client = {get().status(299).from_origin(1), get().status(299).from_origin(2)}},
      {.sentence = "must-understand overrules no-store where the status is understood",
       .section = "5.2.2.3",
       .level = Level::should,
       .origin = {says({"Cache-Control: must-understand, no-store, max-age=60"})},
       .client = {get().from_origin(1), get().from_store(1)}}};
  add_statuses(cases);
  add_incomplete(cases);
  add_methods(cases);
  return cases;
}

}  // namespace spillway::caching
