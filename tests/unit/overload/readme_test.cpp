// The table of time constants in src/overload/README.md says what the code has.
#include <doctest/doctest.h>

#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <string>

#include "config/config.hpp"
#include "support/places.hpp"

namespace spillway::overload {
namespace {

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(support::in_source("src/") + path).rdbuf();
  return text.str();
}

double in_seconds(double number, const std::string& unit) {
  if (unit == "ms" || unit == "Milliseconds") return number / 1000;
  return unit == "min" || unit == "minutes" ? number * 60 : number;
}

// As `kName = 5s`, `= std::chrono::seconds(5)`, `= 5` or `Milliseconds kName{5}`.
std::optional<double> constant(const std::string& code, const std::string& name) {
  std::smatch found;
  const std::string number = R"(([0-9.]+))";
  if (std::regex_search(code, found, std::regex("Milliseconds " + name + R"(\{)" + number)))
    return in_seconds(std::stod(found[1]), "ms");
  if (std::regex_search(code, found, std::regex(name + R"( = std::chrono::(\w+)\()" + number)))
    return in_seconds(std::stod(found[2]), found[1]);
  if (std::regex_search(code, found, std::regex(name + " = " + number + R"((ms|s|min)?;)")))
    return in_seconds(std::stod(found[1]), found[2]);
  return std::nullopt;
}

// Of the row's own file, or of the one that it names before the constant.
std::string code_of(const std::string& name) {
  std::string code;
  for (const char* room : {"overload/signals/", "overload/limit/", "overload/admission/",
                           "overload/control/", "dispatch/scheduler/", "dispatch/estimate/"}) {
    for (const char* ending : {".hpp", ".cpp"}) code += read(room + name + ending);
  }
  std::erase(code, '\'');  // between digits
  return code;
}

}  // namespace

TEST_CASE("the time constants in the README are those of the code") {
  std::istringstream readme(read("overload/README.md"));
  const std::regex files(R"(^\| `?([a-z_]+)`? \|)");
  int checked = 0;
  for (std::string line; std::getline(readme, line);) {
    std::smatch row;
    if (!std::regex_search(line, row, files)) continue;
    std::string code = code_of(row[1]);
    const std::regex span(R"(`(\w+)`(?: ([0-9.]+) ?(ms|s|min)?)?)");
    for (std::sregex_iterator at(line.begin(), line.end(), span), end; at != end; ++at) {
      const std::string name = (*at)[1], number = (*at)[2];
      CAPTURE(line);
      CAPTURE(name);
      if (name.starts_with("k") && !number.empty()) {
        const auto actual = constant(code, name);
        REQUIRE(actual);
        CHECK(*actual == doctest::Approx(in_seconds(std::stod(number), (*at)[3])));
        ++checked;
      } else if (number.empty()) {
        code = code_of(name);
      }
    }
  }
  CHECK(checked == 68);
}

TEST_CASE("the periods in the README are the defaults") {
  const std::string readme = read("overload/README.md");
  const config::Overload defaults;
  const auto says = [&](const std::string& key, Milliseconds value) {
    return readme.find("`" + key + "` " + std::to_string(value.count())) != std::string::npos;
  };
  CHECK(says("tick_ms", defaults.tick));
  CHECK(says("window_ms", defaults.window));
  CHECK(says("cooldown_ms", defaults.cooldown));
  CHECK_FALSE(says("window_ms", defaults.window + Milliseconds{1}));
}

}  // namespace spillway::overload
