#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

// Stored with this line, given out without it.
Case left_out(std::string sentence, std::string section, std::string name, Lines lines) {
  lines.push_back("Cache-Control: max-age=60");
  return must(std::move(section), std::move(sentence), {says(std::move(lines))},
              {get().from_origin(1), get().from_store(1).without(std::move(name))});
}

// Two requests that must not be taken for the same.
Case told_apart(std::string sentence, std::string section, Step one, Step other) {
  return must(std::move(section), std::move(sentence),
              {says({"Cache-Control: max-age=60"}), says({"Cache-Control: max-age=60"})},
              {Step(one).from_origin(1), Step(other).from_origin(2), Step(one).from_store(1),
               Step(other).from_store(2)});
}

// The origin may read the path as another's.
Case never_stored(const std::string& what, const std::string& path) {
  return ours("a path with " + what + " is never stored",
              {says({"Cache-Control: max-age=60"}), says({"Cache-Control: max-age=60"})},
              {get_at(path).from_origin(1), get_at(path).from_origin(2)});
}

}  // namespace

std::vector<Case> stored_field_cases() {
  return {
      must("9111 3.1", "unknown and repeated fields are stored",
           {says({"Cache-Control: max-age=60", "X-Strange: 1", "X-Twice: a", "X-Twice: b"})},
           {get().from_origin(1),
            get().from_store(1).with("X-Strange", "1").with_lines("X-Twice", {"a", "b"})}),
      must("9111 5.2", "the status and Cache-Control are passed on from the store",
           {says(404, {"Cache-Control: max-age=60, other=\"x, y\""})},
           {get().status(404).from_origin(1),
            get().status(404).from_store(1).with("Cache-Control", "max-age=60, other=\"x, y\"")}),
      left_out("fields that Connection names are not stored", "9110 7.6.1", "X-Hop",
               {"Connection: X-Hop", "X-Hop: 1"}),
      left_out("Keep-Alive is not stored", "9110 7.6.1", "Keep-Alive",
               {"Connection: keep-alive", "Keep-Alive: timeout=7"}),
      left_out("Proxy-Authenticate is not stored", "9111 3.1", "Proxy-Authenticate",
               {"Proxy-Authenticate: Basic"}),
      left_out("Proxy-Authentication-Info is not stored", "9111 3.1", "Proxy-Authentication-Info",
               {"Proxy-Authentication-Info: a=1"}),
      must("9111 3.1", "trailers do not become header fields",
           {Response{.lines = {"Cache-Control: max-age=60", "Trailer: X-Trail"},
                     .framing = Framing::chunked,
                     .trailers = {"X-Trail: 1"}}},
           {get().from_origin(1), get().from_store(1).without("X-Trail")}),
      must("9110 6.6.1", "a response without Date gets one before it is stored",
           {Response{.lines = {"Cache-Control: max-age=60"}, .undated = true}},
           {get().from_origin(1).with("Date"), get().from_store(1).with("Date")}),
      must("9110 6.6.1", "Date tells when the origin answered, not when the store did",
           {says({"Cache-Control: max-age=60", "Date: " + date(-20)})},
           {get().from_origin(1), get().from_store(1).with("Date", date(-20))}),
      told_apart("queries tell URIs apart", "9111 4", get_at("/p?a=1"), get_at("/p?a=2")),
      told_apart("an empty query is not none", "9111 4", get_at("/p"), get_at("/p?")),
      told_apart("paths are told apart by case", "9110 4.2.3", get_at("/p"), get_at("/P")),
      never_stored("an escaped slash", "/p%2Fq"),
      never_stored("a dot segment", "/p/../q"),
      never_stored("an escaped dot segment", "/p/%2e%2e/q"),
      never_stored("an empty segment", "/p//q"),
      never_stored("parameters", "/p;v=1/q"),
      told_apart("hosts are told apart", "9111 4", get(), get_of("b.example")),
      told_apart("ports are told apart", "9111 4", get(), get_of("a.example:81")),
      may("9110 4.2.3", "hosts are the same regardless of case",
          {says({"Cache-Control: max-age=60"})},
          {get().from_origin(1), get_of("A.Example").from_store(1)})};
}

}  // namespace spillway::wire::caching
