#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

Case reused_with_lifetime(int status, std::string section) {
  return may(std::move(section), "a " + std::to_string(status) + " with max-age is reused",
             {says(status, {"Cache-Control: max-age=60", "X-Mark: first"})},
             {get().status(status).with("X-Mark", "first").asked(),
              get().status(status).with("X-Mark", "first").not_asked()});
}

Case not_reused(std::string sentence, std::string section, Level level, Lines lines) {
  return Case(level, std::move(section), std::move(sentence), {says(std::move(lines)), says({})},
              {get().from_origin(1), get().from_origin(2)});
}

// A method whose answer is not for a GET that follows.
Case not_for_get(std::string method, std::string section) {
  return must(std::move(section), "an answer to " + method + " is not given to a GET",
              {says({"Cache-Control: max-age=60"}), says({"Cache-Control: max-age=60"})},
              {ask(method, {}, "x").from_origin(1), get().from_origin(2), get().from_store(2)});
}

void add_statuses(std::vector<Case>& cases) {
  for (const int status : {203, 204, 300, 301, 308, 404, 405, 410, 414, 501}) {
    cases.push_back(reused_with_lifetime(status, "9111 3"));
  }
  for (const int status : {302, 307}) cases.push_back(reused_with_lifetime(status, "9111 3"));
  cases.push_back(reused_with_lifetime(403, "9111 3"));
  cases.push_back(reused_with_lifetime(299, "9111 3"));
  for (const int status : {500, 503}) cases.push_back(reused_with_lifetime(status, "9111 3"));
  for (const int status : {404, 405, 410, 414, 501, 503}) {
    cases.push_back(
        ours("a " + std::to_string(status) + " that does not say for how long is not kept",
             {says(status, {"X-Mark: first"}), says({"X-Mark: second"})},
             {get().status(status).with("X-Mark", "first").asked(),
              get().with("X-Mark", "second").asked()}));
  }
  for (const std::string name :
       {"X-HTTP-Method-Override", "X-HTTP-Method", "X-Original-URL", "X.HTTP.Method.Override"}) {
    cases.push_back(
        ours("what " + name + " brings about is no answer to the request line",
             {says({"Cache-Control: max-age=60"}), says({"Cache-Control: max-age=60"})},
             {get({name + ": DELETE"}).from_origin(1), get().from_origin(2), get().from_store(2)}));
  }
  for (const int status : {302, 403, 500}) {
    cases.push_back(must("9111 4.2.2",
                         "a " + std::to_string(status) + " without a lifetime is not reused",
                         {says(status, {"X-Mark: first"}), says(status, {"X-Mark: second"})},
                         {get().status(status).with("X-Mark", "first").asked(),
                          get().status(status).with("X-Mark", "second").asked()}));
  }
}

void add_incomplete(std::vector<Case>& cases) {
  cases.insert(cases.end(),
               {must("9111 3.3", "a body cut off before its Content-Length answers no other client",
                     {framed(Framing::cut_off, says({"Cache-Control: max-age=60"})),
                      says({"Cache-Control: max-age=60"})},
                     {get().broken_off(), get().from_origin(2), get().from_store(2)}),
                must("9111 3.3", "a body cut off before its last chunk answers no other client",
                     {framed(Framing::cut_off_chunked, says({"Cache-Control: max-age=60"})),
                      says({"Cache-Control: max-age=60"})},
                     {get().broken_off(), get().from_origin(2), get().from_store(2)}),
                must("9111 3.3", "a part that a Range asked for is not given as the whole",
                     {with_ranges(says({"Cache-Control: max-age=60", "ETag: \"a\""})),
                      says({"Cache-Control: max-age=60", "ETag: \"a\""})},
                     {get({"Range: bytes=0-2"}).any_status().satisfies(part_or_whole),
                      get().whole(), get().whole().not_asked()}),
                may("9111 3", "a chunked body is stored whole",
                    {framed(Framing::chunked, says({"Cache-Control: max-age=60"}))},
                    {get().from_origin(1), get().from_store(1)}),
                may("9112 8", "a body that ends with its connection is stored whole",
                    {framed(Framing::until_close, says({"Cache-Control: max-age=60"}))},
                    {get().from_origin(1), get().from_store(1)})});
}

void add_methods(std::vector<Case>& cases) {
  cases.push_back(must("9111 4", "each POST reaches the origin",
                       {says({"Cache-Control: max-age=60"}), says({})},
                       {post().from_origin(1), post().from_origin(2)}));
  cases.push_back(not_for_get("POST", "9110 9.3.3"));
  cases.push_back(not_for_get("PUT", "9110 9.3.4"));
  cases.push_back(not_for_get("DELETE", "9110 9.3.5"));
  cases.push_back(must("9110 9.3.7", "each OPTIONS reaches the origin",
                       {says({"Cache-Control: max-age=60"}), says({"Cache-Control: max-age=60"}),
                        says({"Cache-Control: max-age=60"})},
                       {ask("OPTIONS").from_origin(1), ask("OPTIONS").from_origin(2),
                        get().from_origin(3), get().from_store(3)}));
  cases.push_back(must("9111 3", "each request of an unknown method reaches the origin",
                       {says({"Cache-Control: max-age=60"}), says({"Cache-Control: max-age=60"}),
                        says({"Cache-Control: max-age=60"})},
                       {ask("FROB").from_origin(1), ask("FROB").from_origin(2),
                        get().from_origin(3), get().from_store(3)}));
  cases.push_back(must("9111 4", "an answer to HEAD is not given to a GET",
                       {says({"Cache-Control: max-age=60"}), says({"Cache-Control: max-age=60"})},
                       {head().asked(), get().whole(), get().whole().not_asked()}));
  cases.push_back(ours("a GET with a body is not answered from the store",
                       {says({"Cache-Control: max-age=60"}), says({})},
                       {get().from_origin(1), ask("GET", {}, "x").from_origin(2)}));
}

}  // namespace

std::vector<Case> storing_cases() {
  std::vector<Case> cases{
      may("9111 4", "a GET's answer with max-age is reused", {says({"Cache-Control: max-age=60"})},
          {get().from_origin(1), get().from_store(1), get().from_store(1)}),
      not_reused("no-store in a response keeps it out", "9111 5.2.2.5", Level::must,
                 {"Cache-Control: no-store, max-age=60"}),
      not_reused("directives are told apart regardless of case", "9111 5.2", Level::must,
                 {"Cache-Control: Max-Age=60, NO-STORE"}),
      not_reused("no-store in a second Cache-Control line keeps it out", "9111 5.2.2.5",
                 Level::must, {"Cache-Control: max-age=60", "Cache-Control: no-store"}),
      not_reused("private keeps a response out", "9111 5.2.2.7", Level::must,
                 {"Cache-Control: private, max-age=60"}),
      not_reused("private with s-maxage still keeps it out", "9111 5.2.2.7", Level::must,
                 {"Cache-Control: private, s-maxage=60"}),
      not_reused("Set-Cookie keeps a response out", "9111 7.3", Level::ours,
                 {"Cache-Control: max-age=60", "Set-Cookie: session=1"}),
      must("9111 5.2.2.7", "fields that private names are not given to another",
           {says({"Cache-Control: private=\"X-User\", max-age=60", "X-User: 1"}),
            says({"X-User: 2"})},
           {get().from_origin(1).with("X-User", "1"),
            get().satisfies([](const Observation& seen) -> std::string {
              return seen.responses.at(0).field("X-User") == "1" ? "X-User is 1" : "";
            })}),
      may("9111 5.2.2.7", "what private does not name may be reused",
          {says({"Cache-Control: private=\"X-User\", max-age=60", "X-User: 1"}),
           says({"X-User: 2"})},
          {get().from_origin(1), get().from_store(1).without("X-User")})
          .otherwise(
              "a qualified private counts as an unqualified one, as the section's note allows"),
      may("9111 5.2.1.5", "no-store in a request keeps its answer out",
          {says({"Cache-Control: max-age=60"}), says({})},
          {get({"Cache-Control: no-store"}).from_origin(1), get().from_origin(2)}),
      must("9111 5.2.2.3", "must-understand keeps a response of unknown status out",
           {says(299, {"Cache-Control: must-understand, max-age=60"}), says(299, {})},
           {get().status(299).from_origin(1), get().status(299).from_origin(2)}),
      should("9111 5.2.2.3", "must-understand overrules no-store where the status is understood",
             {says({"Cache-Control: must-understand, no-store, max-age=60"})},
             {get().from_origin(1), get().from_store(1)})};
  add_statuses(cases);
  add_incomplete(cases);
  add_methods(cases);
  return cases;
}

}  // namespace spillway::wire::caching
