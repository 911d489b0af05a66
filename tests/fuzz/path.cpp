// Any bytes as a path: the first reading is what the reference finds, and neither a backend nor one
// behind another takes the path of a request for one of a lower class than the request got.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "fuzz/claim.hpp"
#include "fuzz/options.hpp"
#include "fuzz/path_backends.hpp"
#include "fuzz/path_reference.hpp"
#include "fuzz/targets.hpp"
#include "http/field/ascii.hpp"
#include "http/message/scan.hpp"
#include "traffic/classify/classify.hpp"
#include "traffic/route/path.hpp"

namespace spillway::fuzz {
namespace {

using http::Verb;

config::Route route(std::string path, unsigned traffic_class, std::string host = "",
                    std::vector<std::string> methods = {}) {
  return {.name = path + host,
          .match = {.methods = std::move(methods), .host = std::move(host), .path = path},
          .traffic_class = ClassId{static_cast<unsigned char>(traffic_class)}};
}

// Short names, so that a few bytes reach each; neighbours of different classes at every level.
config::Config some_routes() {
  config::Config out;
  for (const char* name : {"P0", "P1", "P2", "P3"}) out.classes.push_back({.name = name});
  out.routes = {route("/", 1),          route("/a", 0),
                route("/a/**", 2),      route("/a/b", 3),
                route("/a/*/c", 0),     route("/a/b/c", 3),
                route("/*/b/**", 1),    route("/**", 1),
                route("/b/**", 0),      route("/b/..a", 3),
                route("/b/a.b/**", 3),  route("/c/*/*/**", 2),
                route("/c/a/**", 0),    route("/c/a/*", 3, "", {"POST"}),
                route("/a/**", 3, "h"), route("/b/**", 2, "h", {"GET", "PURGE"}),
                route("default", 2)};
  return out;
}

const config::Config& routes() {
  static const config::Config config = some_routes();
  return config;
}

void check_readings(std::string_view path) {
  traffic::PathReadings readings(path);
  require(readings.next(), "there is a reading", path);
  require(readings.reading() == first_reading(path), "both read it alike", path);
  std::size_t work = 0;
  do {
    const std::string_view reading = readings.reading();
    require(reading.starts_with('/'), "a reading starts with a slash", path);
    require(reading == "/" || !reading.ends_with('/') || reading.find("//") != reading.npos,
            "a reading has no slash at its end", path);
    ++work;
  } while (readings.next());
  require(work <= 1 + traffic::PathReadings::kMostWork / traffic::PathReadings::kEach,
          "the readings are bounded", path);
}

std::size_t class_of(std::size_t route) { return index(routes().routes[route].traffic_class); }

struct Asked {
  Verb verb;
  std::string_view method;
  std::string_view host;
};

std::size_t class_of(const traffic::Classifier& classifier, const Asked& asked,
                     std::string_view path) {
  return index(classifier.route_of(asked.verb, asked.method, asked.host, path).traffic_class);
}

void check_class(const traffic::Classifier& classifier, const Asked& asked, std::string_view path) {
  static const RouteReference reference(routes().routes);
  const std::size_t given = class_of(classifier, asked, path);
  const std::string_view host = asked.host.substr(0, asked.host.find(':'));
  const bool is_get = asked.verb == Verb::get;  // no route names HEAD, which is judged as GET too
  const std::size_t of_head =
      is_get ? class_of(classifier, {Verb::head, "HEAD", asked.host}, path) : given;
  require(of_head >= given, "a HEAD has no higher class than a GET", path);
  for (const ServedPath& served : served_paths(path)) {
    if (given < class_of(reference.route_of(asked.method, host, served.path)))
      require(false, std::string(served.first) + " before " + std::string(served.second), path);
  }
}

}  // namespace

void path(std::string_view input) {
  static const traffic::Classifier classifier(routes());
  Options options(input);
  const unsigned how = options.byte();
  const std::string_view text = options.rest();
  // As request_framing() leaves it: from the first slash on, but for what has none.
  std::string_view path = text.substr(0, text.find('\n'));
  if (path != "*" && !path.starts_with('?'))
    path = path.substr(std::min(path.find('/'), path.size()));
  if (path.size() > http::kMaxRequestLine) return;
  if (http::find_control(path, 0) < path.size()) return;  // HeadScanner refuses them
  const Asked asked =
      std::array{Asked{Verb::get, "GET", "h"}, Asked{Verb::post, "POST", "h:80"},
                 Asked{Verb::unknown, "LIST", "other"}, Asked{Verb::purge, "PURGE", "h"}}[how % 4];
  check_readings(path);
  check_class(classifier, asked, path);
}

}  // namespace spillway::fuzz
