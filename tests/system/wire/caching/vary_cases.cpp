#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

// Stored with this Vary for the one request; the other must be asked for anew.
Case not_selected(std::string sentence, Lines vary, Step one, Step other) {
  vary.push_back("Cache-Control: max-age=60");
  return must("9111 4.1", std::move(sentence), {says(vary), says(vary)},
              {one.from_origin(1), other.from_origin(2)});
}

Case selected(std::string sentence, Lines vary, Step one, Step other) {
  vary.push_back("Cache-Control: max-age=60");
  return may("9111 4.1", std::move(sentence), {says(vary)},
             {one.from_origin(1), other.from_store(1)});
}

}  // namespace

std::vector<Case> vary_cases() {
  return {
      selected("a request with the same selecting field gets the stored answer", {"Vary: X-A"},
               get({"X-A: 1"}), get({"X-A: 1", "X-B: 9"})),
      selected("two requests without the selecting field are the same", {"Vary: X-A"}, get(),
               get()),
      selected("lines of a selecting field are combined", {"Vary: X-A"}, get({"X-A: 1", "X-A: 2"}),
               get({"X-A: 1, 2"})),
      selected("names in Vary are the same regardless of case", {"Vary: x-a"}, get({"X-A: 1"}),
               get({"X-a: 1"})),
      selected("languages are the same regardless of case and white space",
               {"Vary: Accept-Language"}, get({"Accept-Language: de-CH, en;q=0.5"}),
               get({"Accept-Language: DE-ch ,en ; q=0.5"})),
      selected("codings are the same regardless of order", {"Vary: Accept-Encoding"},
               get({"Accept-Encoding: gzip, br"}), get({"Accept-Encoding: br,gzip"})),
      not_selected("another value of the selecting field selects another answer", {"Vary: X-A"},
                   get({"X-A: 1"}), get({"X-A: 2"})),
      not_selected("values of an unknown field are told apart by case", {"Vary: X-A"},
                   get({"X-A: a"}), get({"X-A: A"})),
      not_selected("Vary is read regardless of case", {"Vary: x-a"}, get({"X-A: 1"}),
                   get({"X-A: 2"})),
      not_selected("a request without the selecting field is another", {"Vary: X-A"},
                   get({"X-A: 1"}), get()),
      not_selected("a request that adds the selecting field is another", {"Vary: X-A"}, get(),
                   get({"X-A: 1"})),
      not_selected("an absent field is not an empty one", {"Vary: X-A"}, get(), get({"X-A:"})),
      not_selected("an empty field is not an absent one", {"Vary: X-A"}, get({"X-A:"}), get()),
      not_selected("all fields that Vary names must match", {"Vary: X-A, X-B"},
                   get({"X-A: 1", "X-B: 1"}), get({"X-A: 1", "X-B: 2"})),
      not_selected("fields of a second Vary line must match", {"Vary: X-A", "Vary: X-B"},
                   get({"X-A: 1", "X-B: 1"}), get({"X-A: 1", "X-B: 2"})),
      not_selected("values do not slip from one field to the next", {"Vary: X-A, X-B"},
                   get({"X-A: 1", "X-B: 2"}), get({"X-A: 12", "X-B:"})),
      not_selected("a second line of the selecting field makes another", {"Vary: X-A"},
                   get({"X-A: 1"}), get({"X-A: 1", "X-A: 2"})),
      // The origin is not told what Connection names: its answer is for those who do not say it.
      must("9111 4.1", "an answer to a field that Connection names is not for those who send it",
           {says({"Cache-Control: max-age=60", "Vary: X-A"}),
            says({"Cache-Control: max-age=60", "Vary: X-A"})},
           {get({"Connection: X-A", "X-A: 1"}).from_origin(1).asked_without("X-A"),
            get({"X-A: 1"}).from_origin(2), get().from_store(1), get({"X-A: 1"}).from_store(2)}),
      not_selected("Vary: * never matches", {"Vary: *"}, get(), get()),
      not_selected("a star among names never matches", {"Vary: X-A, *"}, get({"X-A: 1"}),
                   get({"X-A: 1"})),
      not_selected("a star in a second line never matches", {"Vary: X-A", "Vary: *"},
                   get({"X-A: 1"}), get({"X-A: 1"})),
      may("9111 4.1", "answers for several values are kept side by side",
          {says({"Cache-Control: max-age=60", "Vary: X-A"}),
           says({"Cache-Control: max-age=60", "Vary: X-A"})},
          {get({"X-A: 1"}).from_origin(1), get({"X-A: 2"}).from_origin(2),
           get({"X-A: 1"}).from_store(1), get({"X-A: 2"}).from_store(2)}),
      must("9111 4.1", "a compressed response is not given to a client that does not accept it",
           {says({"Cache-Control: max-age=60", "Vary: Accept-Encoding", "Content-Encoding: gzip"}),
            says({"Cache-Control: max-age=60", "Vary: Accept-Encoding"})},
           {get({"Accept-Encoding: gzip"}).from_origin(1).with("Content-Encoding", "gzip"),
            get().from_origin(2).without("Content-Encoding"),
            get({"Accept-Encoding: gzip"}).from_store(1).with("Content-Encoding", "gzip")}),
      must("9111 4.1", "each answer's own Vary must match",
           {says({"Cache-Control: max-age=60", "Vary: X-A"}),
            says({"Cache-Control: max-age=60", "Vary: X-B"}), says({})},
           {get({"X-A: 1", "X-B: 1"}).from_origin(1), get({"X-A: 2", "X-B: 2"}).from_origin(2),
            get({"X-A: 2", "X-B: 3"}).from_origin(3)}),
      should("9111 4.1", "an answer that forgets Vary does not hide that others have it",
             {says({"Cache-Control: max-age=60", "Vary: X-A"}), says({"Cache-Control: max-age=60"}),
              says({})},
             {get({"X-A: 1"}).from_origin(1), get({"X-A: 2"}).from_origin(2),
              get({"X-A: 3"}).from_origin(3)}),
      must("9111 4.3.1", "a stale answer is validated for its own value only",
           {says({"Cache-Control: max-age=1", "Vary: X-A", "ETag: \"a\""}),
            says({"Cache-Control: max-age=60", "Vary: X-A", "ETag: \"b\""}),
            says(304, {"Cache-Control: max-age=60", "Vary: X-A", "ETag: \"a\""})},
           {get({"X-A: 1"}).from_origin(1), get({"X-A: 2"}).from_origin(2),
            get({"X-A: 1"}).later().answers(1).asked_with("If-None-Match", "\"a\""),
            get({"X-A: 2"}).from_store(2), get({"X-A: 1"}).from_store(1)})};
}

}  // namespace spillway::wire::caching
