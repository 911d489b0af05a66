#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

// Stored with these lines; then a request with those, answered from the store or not.
Case then(std::string sentence, std::string section, Level level, Lines stored, Step second,
          bool reused) {
  return Case(level, std::move(section), std::move(sentence), {says(std::move(stored)), says({})},
              {get().from_origin(1), reused ? second.from_store(1) : second.from_origin(2)});
}
Case then(std::string sentence, std::string section, Level level, Lines stored, const Lines& lines,
          bool reused) {
  return then(std::move(sentence), std::move(section), level, std::move(stored), get(lines),
              reused);
}

// The same when the first answer has got stale, by less than the operator lets it be given.
Case later(std::string sentence, std::string section, Level level, Lines stored, const Lines& lines,
           bool reused) {
  return then(std::move(sentence), std::move(section), level, std::move(stored), get(lines).later(),
              reused)
      .stale_by_configuration();
}

}  // namespace

std::vector<Case> request_cases() {
  const Lines fresh{"Cache-Control: max-age=60"};
  const Lines second{"Cache-Control: max-age=1"};
  const Lines aged{"Cache-Control: max-age=3600", "Age: 1800"};

  const std::string control = "Cache-Control: ";
  return {
      then("no-cache in a request asks the origin", "9111 5.2.1.4", Level::may, fresh,
           {control + "no-cache"}, false),
      may("9111 5.2.1.4", "no-cache in a request validates what is stored",
          {says({"Cache-Control: max-age=60", "ETag: \"a\""}), says(304, {"ETag: \"a\""})},
          {get().from_origin(1),
           get({control + "no-cache"}).answers(1).asked_with("If-None-Match", "\"a\"")}),
      may("9111 5.2.1.4", "what a no-cache request fetched is there for the next",
          {says(fresh), says(fresh)},
          {get().from_origin(1), get({control + "no-cache"}).from_origin(2), get().from_store(2)}),
      then("Pragma: no-cache asks the origin", "9111 5.4", Level::may, fresh, {"Pragma: no-cache"},
           false),
      then("Pragma means nothing beside Cache-Control", "9111 5.4", Level::may, fresh,
           {"Pragma: no-cache", control + "max-age=60"}, true),
      then("max-age=0 asks the origin", "9111 5.2.1.1", Level::may, fresh, {control + "max-age=0"},
           false),
      then("max-age in a request keeps an older answer away", "9111 5.2.1.1", Level::may, aged,
           {control + "max-age=600"}, false),
      then("max-age in a request takes a younger answer", "9111 5.2.1.1", Level::may, aged,
           {control + "max-age=2400"}, true),
      then("min-fresh keeps an answer away that is not fresh so long", "9111 5.2.1.3", Level::may,
           aged, {control + "min-fresh=2400"}, false),
      then("min-fresh takes an answer that is fresh so long", "9111 5.2.1.3", Level::may, aged,
           {control + "min-fresh=600"}, true),
      later("max-stale takes a stale answer", "9111 5.2.1.2", Level::may, second,
            {control + "max-stale"}, true),
      later("max-stale takes an answer that has been stale no longer", "9111 5.2.1.2", Level::may,
            second, {control + "max-stale=600"}, true),
      later("max-stale keeps an answer away that has been stale longer", "9111 5.2.1.2",
            Level::must, second, {control + "max-stale=0"}, false),
      later("max-stale does not take what must be validated", "9111 5.2.2.2", Level::must,
            {"Cache-Control: max-age=1, must-revalidate"}, {control + "max-stale"}, false),
      then("max-stale does not take what no-cache forbids", "9111 5.2.2.4", Level::must,
           {"Cache-Control: no-cache"}, {control + "max-stale"}, false),
      later("max-stale does not take past s-maxage", "9111 5.2.2.10", Level::must,
            {"Cache-Control: s-maxage=1"}, {control + "max-stale"}, false),
      then("no-store in a request may still be answered from the store", "9111 5.2.1.5", Level::may,
           fresh, {control + "no-store"}, true),
      then("only-if-cached takes what is stored", "9111 5.2.1.7", Level::should, fresh,
           {control + "only-if-cached"}, true),
      should("9111 5.2.1.7", "only-if-cached with nothing stored is a 504", {},
             {get({control + "only-if-cached"}).status(504).not_asked()}),
      should("9111 5.2.1.7", "only-if-cached with something stale stored is a 504", {says(second)},
             {get().from_origin(1),
              get({control + "only-if-cached"}).later().status(504).not_asked()}),
      may("9111 5.2.1.7", "only-if-cached with max-stale takes what is stale", {says(second)},
          {get().from_origin(1),
           get({control + "only-if-cached, max-stale=600"}).later().from_store(1)})
          .stale_by_configuration(),
      must(
          "9111 5.2", "a request's directives go on to the origin",
          {says({"Cache-Control: max-age=1"}), says({})},
          {get().from_origin(1), get({control + "min-fresh=1, other=\"x, y\""})
                                     .later()
                                     .from_origin(2)
                                     .asked_with("Cache-Control", "min-fresh=1, other=\"x, y\"")})};
}

}  // namespace spillway::wire::caching
