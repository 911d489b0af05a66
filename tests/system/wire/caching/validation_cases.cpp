#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

const std::string kLastModified = date(-86'400);

// Stale by now; the second answer is a 304 with these lines if the origin is asked conditionally.
Case validated(std::string sentence, std::string section, Level level, Lines stored, Lines said,
               Step second, std::vector<Step> more = {}) {
  std::vector<Step> steps{get().from_origin(1), second.later().answers(1).asked()};
  steps.insert(steps.end(), more.begin(), more.end());
  return Case(level, std::move(section), std::move(sentence),
              {says(std::move(stored)), validating(says(std::move(said)))}, std::move(steps));
}

}  // namespace

std::vector<Case> validation_cases() {
  const std::string modified = "Last-Modified: " + kLastModified;
  return {
      validated("a stale answer is validated by its entity tag", "9111 4.3.1", Level::must,
                {"Cache-Control: max-age=1", "ETag: \"a\""}, {"ETag: \"a\""},
                get().asked_with("If-None-Match", "\"a\"")),
      validated("a stale answer is validated by its weak entity tag", "9111 4.3.1", Level::must,
                {"Cache-Control: max-age=1", "ETag: W/\"a\""}, {"ETag: W/\"a\""},
                get().asked_with("If-None-Match", "W/\"a\"")),
      validated("an answer that arrives stale is validated by its entity tag", "9111 4.3.1",
                Level::must,
                {"Cache-Control: max-age=60, must-revalidate", "Age: 3600", "ETag: \"a\""},
                {"ETag: \"a\""}, get().asked_with("If-None-Match", "\"a\"")),
      validated("a stale answer is validated by Last-Modified", "9111 4.3.1", Level::should,
                {"Cache-Control: max-age=1", modified}, {modified},
                get().asked_with("If-Modified-Since", kLastModified)),
      validated("a stale answer with both validators is validated by both", "9111 4.3.1",
                Level::should, {"Cache-Control: max-age=1", modified, "ETag: \"a\""},
                {"ETag: \"a\""},
                get()
                    .asked_with("If-None-Match", "\"a\"")
                    .asked_with("If-Modified-Since", kLastModified)),
      validated("no-cache with an entity tag is validated each time", "9111 5.2.2.4", Level::may,
                {"Cache-Control: no-cache", "ETag: \"a\""},
                {"Cache-Control: no-cache", "ETag: \"a\""},
                get().asked_with("If-None-Match", "\"a\"")),
      validated("max-age=0 with an entity tag is validated each time", "9111 4.3.1", Level::may,
                {"Cache-Control: max-age=0", "ETag: \"a\""},
                {"Cache-Control: max-age=0", "ETag: \"a\""},
                get().asked_with("If-None-Match", "\"a\"")),
      validated("a 304 with max-age makes fresh again", "9111 4.3.4", Level::may,
                {"Cache-Control: max-age=1", "ETag: \"a\""},
                {"Cache-Control: max-age=60", "ETag: \"a\""}, get(), {get().from_store(1)}),
      validated("a 304 without a lifetime leaves the old one", "9111 3.2", Level::may,
                {"Cache-Control: max-age=60", "Age: 3600", "ETag: \"a\""}, {"ETag: \"a\""}, get(),
                {get().from_store(1)}),
      validated("a 304 replaces fields of the stored answer", "9111 3.2", Level::must,
                {"Cache-Control: max-age=1", "ETag: \"a\"", "X-Old: 1", "X-Same: 1"},
                {"Cache-Control: max-age=60", "ETag: \"a\"", "X-Old: 2"}, get(),
                {get().from_store(1).with("X-Old", "2").with("X-Same", "1")}),
      validated("a 304 replaces every line of a field", "9111 3.2", Level::must,
                {"Cache-Control: max-age=1", "ETag: \"a\"", "X-Old: 1", "X-Old: 2"},
                {"Cache-Control: max-age=60", "ETag: \"a\"", "X-Old: 3"}, get(),
                {get().from_store(1).with("X-Old", "3")}),
      validated("a 304 adds fields to the stored answer", "9111 3.2", Level::must,
                {"Cache-Control: max-age=1", "ETag: \"a\""},
                {"Cache-Control: max-age=60", "ETag: \"a\"", "X-New: 1"}, get(),
                {get().from_store(1).with("X-New", "1")}),
      validated("the answer that a 304 confirms has the 304's fields already", "9111 4.3.4",
                Level::must, {"Cache-Control: max-age=1", "ETag: \"a\"", "X-Old: 1"},
                {"Cache-Control: max-age=60", "ETag: \"a\"", "X-Old: 2"}, get().with("X-Old", "2")),
      validated("a 304 leaves the Content-Length of the stored answer", "9111 3.2", Level::must,
                {"Cache-Control: max-age=1", "ETag: \"a\""},
                {"Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 999"}, get(),
                {get().from_store(1).with("Content-Length", "8")}),
      validated("fields that Connection names in a 304 are not stored", "9111 3.2", Level::must,
                {"Cache-Control: max-age=1", "ETag: \"a\""},
                {"Cache-Control: max-age=60", "ETag: \"a\"", "Connection: X-Hop", "X-Hop: 1"},
                get().without("X-Hop"), {get().from_store(1).without("X-Hop")}),
      validated("what a 304 with no-store confirmed is not reused", "9111 5.2.2.5", Level::must,
                {"Cache-Control: max-age=1", "ETag: \"a\""},
                {"Cache-Control: no-store", "ETag: \"a\""}, get(), {get().asked()}),
      must("9111 4.3.1", "a stale answer without a validator is asked for unconditionally",
           {says({"Cache-Control: max-age=1"}), says({})},
           {get().from_origin(1), get()
                                      .later()
                                      .from_origin(2)
                                      .asked_without("If-None-Match")
                                      .asked_without("If-Modified-Since")}),
      must("9111 4.3.3", "a full answer to a validation takes the place of the stored one",
           {says({"Cache-Control: max-age=1", "ETag: \"a\"", "X-Old: 1"}),
            says({"Cache-Control: max-age=60", "ETag: \"b\""})},
           {get().from_origin(1), get().later().from_origin(2).with("ETag", "\"b\""),
            get().from_store(2).with("ETag", "\"b\"").without("X-Old")}),
      must("9111 4.3.4", "a 304 with another strong entity tag refreshes nothing",
           {says({"Cache-Control: max-age=1", "ETag: \"a\""}),
            says(304, {"Cache-Control: max-age=60", "ETag: \"b\""}), says({})},
           {get().from_origin(1), get().later().any_status().asked_with("If-None-Match", "\"a\""),
            get().asked()}),
      must("9111 4.3.3", "an error while validating is not stored in place of the answer",
           {says({"Cache-Control: max-age=1", "ETag: \"a\""}), says(500, {}),
            says({"Cache-Control: max-age=60", "ETag: \"a\""})},
           {get().from_origin(1), get().later().status(500).from_origin(2), get().from_origin(3),
            get().from_store(3)}),
      may("9111 4.3.3", "after an error the answer is validated still",
          {says({"Cache-Control: max-age=1", "ETag: \"a\""}), says(500, {}),
           validating(says({"Cache-Control: max-age=60", "ETag: \"a\""}))},
          {get().from_origin(1), get().later().status(500).from_origin(2),
           get().answers(1).asked_with("If-None-Match", "\"a\""), get().from_store(1)})};
}

}  // namespace spillway::wire::caching
