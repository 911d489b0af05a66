#include "system/caching/cases.hpp"

namespace spillway::caching {

namespace {

Answer kept(Lines more = {}) {
  more.push_back("Cache-Control: max-age=60");
  return says(std::move(more));
}

Case undone_by(std::string method, int status) {
  return {.sentence = method + " answered " + std::to_string(status) + " undoes what is stored",
          .section = "4.4",
          .level = Level::must,
          .origin = {kept(), says(status, {}), kept()},
          .client = {get().from_origin(1), ask(method).body("x").status(status).asked(),
                     get().from_origin(3)}};
}

Case not_undone_by(std::string method, int status) {
  return {
      .sentence = method + " answered " + std::to_string(status) + " leaves what is stored",
      .section = "4.4",
      .level = Level::may,
      .origin = {kept(), says(status, {})},
      .client = {get().from_origin(1), ask(method).status(status).asked(), get().from_store(1)}};
}

// Stored below /p at a host; then a POST to /q of a.example that is answered with this line.
Case names_other(std::string sentence, Level level, std::string line, std::string host,
                 bool undone) {
  return {.sentence = std::move(sentence),
          .section = "4.4",
          .level = level,
          .origin = {kept(), says(201, {std::move(line)}), kept()},
          .client = {get_at("/p").host(host).from_origin(1),
                     Step("POST", "/q", {}).body("x").status(201).asked(),
                     undone ? get_at("/p").host(host).from_origin(3)
                            : get_at("/p").host(host).from_store(1)}};
}

}  // namespace

std::vector<Case> invalidation_cases() {
  std::vector<Case> cases;
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "FROB"}) {
    cases.push_back(undone_by(method, 200));
  }
  cases.push_back(undone_by("POST", 204));
  cases.push_back(undone_by("POST", 303));
  for (const int status : {400, 404, 500, 503}) cases.push_back(not_undone_by("POST", status));
  cases.push_back(not_undone_by("OPTIONS", 200));
  cases.insert(
      cases.end(),
      {{.sentence = "a write that gets no answer leaves what is stored",
        .section = "4.4",
        .level = Level::may,
        .origin = {kept(), fails()},
        .client = {get().from_origin(1), post().any_status().asked(), get().from_store(1)}},
       {.sentence = "a write to one query leaves another's answer",
        .section = "4.4",
        .level = Level::may,
        .origin = {kept(), says({}), kept()},
        .client = {get_at("/p?a=1").from_origin(1), Step("POST", "/p?a=2", {}).body("x").asked(),
                   get_at("/p?a=1").from_store(1)}},
       {.sentence = "a write at one host leaves another's answer",
        .section = "4.4",
        .level = Level::must,
        .origin = {kept(), says({}), kept()},
        .client = {get().host("b.example").from_origin(1), post().asked(),
                   get().host("b.example").from_store(1)}},
       {.sentence = "a write undoes the answers for every selecting field",
        .section = "4.4",
        .level = Level::must,
        .origin = {kept({"Vary: X-A"}), kept({"Vary: X-A"}), says({}), kept({"Vary: X-A"}),
                   kept({"Vary: X-A"})},
        .client = {get({"X-A: 1"}).from_origin(1), get({"X-A: 2"}).from_origin(2), post().asked(),
                   get({"X-A: 1"}).from_origin(4), get({"X-A: 2"}).from_origin(5)}},
       {.sentence = "what is stored after a write is reused again",
        .section = "4.4",
        .level = Level::may,
        .origin = {kept(), says({}), kept()},
        .client = {get().from_origin(1), post().asked(), get().whole(), get().whole().not_asked()}},
       names_other("Location undoes what it names", Level::may, "Location: {base}/p", "a.example",
                   true),
       names_other("a whole URI in Location undoes what it names", Level::may,
                   "Location: http://a.example{base}/p", "a.example", true),
       names_other("Content-Location undoes what it names", Level::may,
                   "Content-Location: {base}/p", "a.example", true),
       names_other("Location leaves what another host has", Level::must,
                   "Location: http://b.example{base}/p", "b.example", false),
       names_other("Content-Location leaves what another host has", Level::must,
                   "Content-Location: http://b.example{base}/p", "b.example", false),
       names_other("Location leaves what another port has", Level::must,
                   "Location: http://a.example:81{base}/p", "a.example:81", false)});
  cases.push_back(names_other("a relative Location undoes what it names", Level::may, "Location: p",
                              "a.example", true));
  cases.back().otherwise =
      "the section asks for none of them; read are absolute paths and URIs, as servers say them";
  return cases;
}

}  // namespace spillway::caching
