#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

Response kept(Lines more = {}) {
  more.push_back("Cache-Control: max-age=60");
  return says(std::move(more));
}

Case undone_by(std::string method, int status) {
  return must(
      "9111 4.4", method + " answered " + std::to_string(status) + " undoes what is stored",
      {kept(), says(status, {}), kept()},
      {get().from_origin(1), ask(method, {}, "x").status(status).asked(), get().from_origin(3)});
}

Case not_undone_by(std::string method, int status) {
  return may("9111 4.4", method + " answered " + std::to_string(status) + " leaves what is stored",
             {kept(), says(status, {})},
             {get().from_origin(1), ask(method).status(status).asked(), get().from_store(1)});
}

// Stored below /p at a host; then a POST to /q of a.example that is answered with this line.
Case names_other(std::string sentence, Level level, std::string line, std::string host,
                 bool undone) {
  return Case(level, "9111 4.4", std::move(sentence),
              {kept(), says(201, {std::move(line)}), kept()},
              {get_at("/p", host).from_origin(1), post_at("/q").status(201).asked(),
               undone ? get_at("/p", host).from_origin(3) : get_at("/p", host).from_store(1)});
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
      {may("9111 4.4", "a write that gets no answer leaves what is stored", {kept(), fails()},
           {get().from_origin(1), post().any_status().asked(), get().from_store(1)}),
       may("9111 4.4", "a write to one query leaves another's answer", {kept(), says({}), kept()},
           {get_at("/p?a=1").from_origin(1), post_at("/p?a=2").asked(),
            get_at("/p?a=1").from_store(1)}),
       must(
           "9111 4.4", "a write at one host leaves another's answer", {kept(), says({}), kept()},
           {get_of("b.example").from_origin(1), post().asked(), get_of("b.example").from_store(1)}),
       must("9111 4.4", "a write undoes the answers for every selecting field",
            {kept({"Vary: X-A"}), kept({"Vary: X-A"}), says({}), kept({"Vary: X-A"}),
             kept({"Vary: X-A"})},
            {get({"X-A: 1"}).from_origin(1), get({"X-A: 2"}).from_origin(2), post().asked(),
             get({"X-A: 1"}).from_origin(4), get({"X-A: 2"}).from_origin(5)}),
       may("9111 4.4", "what is stored after a write is reused again", {kept(), says({}), kept()},
           {get().from_origin(1), post().asked(), get().whole(), get().whole().not_asked()}),
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
                              "a.example", true)
                      .otherwise("the section asks for none of them; read are absolute paths and "
                                 "URIs, as servers say them"));
  return cases;
}

}  // namespace spillway::wire::caching
