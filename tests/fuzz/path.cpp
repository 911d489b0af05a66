// Any bytes as a path: both readings are what the reference finds, a request gets the lower of
// their two classes, and no other spelling of a path is a way to a higher class.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "fuzz/claim.hpp"
#include "fuzz/options.hpp"
#include "fuzz/path_reference.hpp"
#include "fuzz/targets.hpp"
#include "http/scan.hpp"
#include "traffic/classify.hpp"
#include "traffic/path.hpp"

namespace spillway::fuzz {
namespace {

using http::Verb;
using traffic::NormalisedPath;

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

// What the text describes: neither reading has an empty or dot segment or a slash at its end.
void check_shape(std::string_view reading, std::string_view path) {
  require(reading.starts_with('/'), "a reading starts with a slash", path);
  if (reading == "/") return;
  require(!reading.ends_with('/'), "a reading has no slash at its end", path);
  require(reading.find("//") == reading.npos, "a reading has no empty segment", path);
}

void check_readings(std::string_view path) {
  // Exactly the room that is asked for, so that the address sanitizer sees what goes beyond it.
  const std::size_t room = 2 * path.size() + 2;
  const auto scratch = std::make_unique<char[]>(room);
  const NormalisedPath read = traffic::normalise(path, {scratch.get(), room});
  require(read.decoded == decoded_reading(path), "both decode alike", path);
  require(read.literal == literal_reading(path), "both read literally alike", path);
  check_shape(read.decoded, path);
  check_shape(read.literal, path);

  const std::size_t too_little = 2 * std::min(path.find_first_of("?#"), path.size()) + 1;
  const NormalisedPath cramped = traffic::normalise(path, {scratch.get(), too_little});
  require(cramped.decoded.empty() || cramped.decoded.data() == path.data(),
          "without room there is no reading but of a plain path");

  // What can still be decoded may become something else: decoding happens once.
  const std::string once(read.decoded);
  if (once.find_first_of("%\\;?#") != once.npos) return;
  std::vector<char> more(2 * once.size() + 2);
  const NormalisedPath twice = traffic::normalise(once, more);
  require(twice.decoded == once && twice.literal == once, "a plain reading is read as itself",
          path);
}

std::size_t class_of(std::size_t route) { return index(routes().routes[route].traffic_class); }

struct Asked {
  Verb verb;
  std::string_view method;
  std::string_view host;
};

std::size_t class_of(const traffic::Classifier& classifier, const Asked& asked,
                     std::string_view path) {
  return class_of(index(classifier.route_of(asked.verb, asked.method, asked.host, path)));
}

void check_class(const traffic::Classifier& classifier, const Asked& asked, std::string_view path) {
  static const RouteReference reference(routes().routes);
  const auto expected = [&](const std::string& reading) {
    const std::string_view host = asked.host.substr(0, asked.host.find(':'));
    return class_of(reference.route_of(asked.method, host, reading));
  };
  require(class_of(classifier, asked, path) ==
              std::max(expected(decoded_reading(path)), expected(literal_reading(path))),
          "the reading with the lower class counts", path);
}

// Another spelling of the same path: some backend would take them for one.
std::string respelled(std::string_view path, Options choices) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    switch (choices.byte() % 8) {
      case 1: {
        const auto byte = static_cast<unsigned char>(c);
        out += {'%', kDigits[byte / 16], kDigits[byte % 16]};
        continue;
      }
      case 2: out += c == '/' ? "//" : std::string(1, c); continue;
      case 3: out += c == '/' ? "/./" : std::string(1, c); continue;
      case 4: out += c == '/' ? "/x/../" : std::string(1, c); continue;
      case 5: out += c == '/' ? "\\" : std::string(1, c); continue;
      case 6: out += c == '/' ? ";v=1/" : std::string(1, c); continue;
      case 7: out += c == '/' ? "/x/%2e%2E/" : std::string(1, c); continue;
      default: out += c;
    }
  }
  return out + (choices.byte() % 4 == 1 ? "/" : choices.byte() % 4 == 1 ? ";a=b" : "");
}

}  // namespace

void path(std::string_view input) {
  static const traffic::Classifier classifier(routes());
  Options options(input);
  const unsigned how = options.byte();
  const std::string_view text = options.rest();
  const std::string_view path = text.substr(0, text.find('\n'));
  if (path.size() > http::kMaxRequestLine) return;
  const Asked asked =
      std::array{Asked{Verb::get, "GET", "h"}, Asked{Verb::post, "POST", "h:80"},
                 Asked{Verb::unknown, "LIST", "other"}, Asked{Verb::purge, "PURGE", "h"}}[how % 4];
  check_readings(path);
  check_class(classifier, asked, path);

  // The path as it is plainly meant, and as it could be written to be taken for another.
  const std::string plain = decoded_reading(path);
  if (plain.find_first_of("%\\;?#") != plain.npos) return;
  const std::string other =
      respelled(plain, Options(text.substr(std::min(path.size() + 1, text.size()))));
  require(class_of(classifier, asked, other) >= class_of(classifier, asked, plain),
          "no spelling dodges a lower class", other);
}

}  // namespace spillway::fuzz
