// Paths that backends read in several ways: what a backend gets must not have been given a higher
// class than any of its readings has. Paths below /export are of a low class and have an upstream
// of their own; /checkout and all others are of a high one.
//
// The readings are those of fuzz/path_backends.hpp: of backends, and of routers in front of them,
// on the path that the origin received.
#include <algorithm>

#include "fuzz/path_backends.hpp"
#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

bool is_low(std::string_view path) { return path == "/export" || path.starts_with("/export/"); }

// Of a target in absolute form, too.
std::string_view path_of(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  if (!target.starts_with(kScheme)) return target;
  const std::size_t slash = target.find('/', kScheme.size());
  return slash == target.npos ? "/" : target.substr(slash);
}

Verdict has_no_higher_class(const Observation& seen) {
  for (std::size_t n = 0; n < seen.requests.size(); ++n) {
    if (seen.doors[n] == Door::low) continue;
    const std::string target = seen.requests[n].target();
    for (const fuzz::ServedPath& served : fuzz::served_paths(path_of(target))) {
      if (is_low(served.path))
        return "forwarded in the high class as '" + shown(target) + "', read as '" +
               shown(served.path) + "' by " + std::string(served.second);
    }
  }
  return {};
}

Expectation comes_in_by(Door door) {
  return [door](const Observation& seen) -> Verdict {
    for (std::size_t n = 0; n < seen.requests.size(); ++n) {
      if (seen.doors[n] != door)
        return shown("'" + seen.requests[n].target() + "' was forwarded in the " +
                     (door == Door::low ? "high" : "low") + " class");
    }
    return {};
  };
}

// It is forwarded in a class that all its readings have, or refused.
Case no_higher(const std::string& through, const std::string& target) {
  return ours(
      "no higher class through " + through,
      sends(get(target)).passes().satisfies(has_no_higher_class).or_else().refused().untouched());
}

Case forwarded(std::string sentence, const std::string& target, Door door) {
  return ours(std::move(sentence), sends(get(target))
                                       .passes()
                                       .asked_method_and_target("GET " + target)
                                       .satisfies(comes_in_by(door)));
}

std::vector<Case> sound_paths() {
  return {
      forwarded("a plain path of a low class is forwarded in that class", "/export/x", Door::low),
      forwarded("a plain path of a high class is forwarded in that class", "/checkout/x",
                Door::main),
      forwarded("an encoded slash alone lowers no class", "/checkout/a%2Fb", Door::main),
      forwarded("parameters alone lower no class", "/checkout/a;v=1/b;w", Door::main),
      forwarded("dot segments within a class do not lower it", "/checkout/x/.././y//z", Door::main),
      forwarded("an encoded percent sign alone lowers no class", "/checkout/100%25", Door::main),
      forwarded("a query that names a low class lowers none", "/checkout/x?/../../export/",
                Door::main)};
}

}  // namespace

std::vector<Case> path_cases() {
  std::vector<Case> all = sound_paths();
  for (Case& each : std::vector<Case>{
           no_higher("dot segments that lead out of the low one", "/export/../checkout/x"),
           no_higher("dot segments behind an empty one", "/export//../checkout/x"),
           no_higher("dot segments that lead to the low one", "/checkout/../export/x"),
           no_higher("dot segments from anywhere", "/a/b/../../export/x"),
           no_higher("dot segments beyond the root", "/../export/x"),
           no_higher("a dot segment in front", "/./export/x"),
           no_higher("an absolute target with dot segments",
                     "http://a.example/checkout/../export/x"),
           no_higher("an empty segment in front", "//export/x"),
           no_higher("what may be a host in front", "//host/export/x"),
           no_higher("encoded dots", "/checkout/%2e%2e/export/x"),
           no_higher("a dot that is encoded beside one that is not", "/checkout/%2E./export/x"),
           no_higher("an encoded slash behind dots", "/checkout/..%2fexport/x"),
           no_higher("an encoded slash in front of dots", "/checkout%2F../export/x"),
           no_higher("an encoded slash behind the low one", "/export%2fx"),
           no_higher("dots and slash encoded", "/checkout/%2e%2e%2fexport/x"),
           no_higher("a letter that is encoded", "/%65xport/x"),
           no_higher("dots encoded twice", "/checkout/%252e%252e/export/x"),
           no_higher("a slash encoded twice", "/checkout/..%252fexport/x"),
           no_higher("a letter encoded twice", "/%2565xport/x"),
           no_higher("backslashes", "/checkout\\..\\export\\x"),
           no_higher("a backslash behind dots", "/checkout/..\\export/x"),
           no_higher("an encoded backslash", "/checkout/..%5cexport/x"),
           no_higher("a backslash out of the low one", "/export\\..\\checkout/x"),
           no_higher("an empty parameter of dots", "/checkout/..;/export/x"),
           no_higher("a parameter of dots", "/checkout/..;v=1/export/x"),
           no_higher("a parameter of the low one", "/export;v=1/x"),
           no_higher("an encoded semicolon behind dots", "/checkout/..%3b/export/x"),
           no_higher("encoded slash, parameter and dots together",
                     "/checkout/..%2fexport/..;/../checkout/x"),
           no_higher("an encoded question mark", "/export%3f/../checkout/x"),
           no_higher("an encoded hash", "/export%23/../checkout/x"),
           no_higher("an encoded NUL", "/export%00/../checkout/x"),
           no_higher("an encoded NUL that is left out", "/checkout/.%00./export/x"),
           no_higher("a no-break space behind the low one", "/export\xa0"),
           no_higher("a NEL behind the low one", "/export\x85"),
           no_higher("a no-break space that is encoded", "/export%a0"),
           no_higher("an encoded space in front of the low one", "/%20export/x"),
           no_higher("an encoded tab in front of the low one", "/%09export/x"),
           no_higher("encoded controls around the low one", "/%0bexport%1f/x")}) {
    all.push_back(std::move(each));
  }
  return all;
}

}  // namespace spillway::wire
