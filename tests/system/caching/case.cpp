#include "system/caching/case.hpp"

#include <charconv>
#include <chrono>
#include <ctime>
#include <utility>

namespace spillway::caching {

using support::count;

Answer says(int status, Lines lines) { return {.status = status, .lines = std::move(lines)}; }

std::string date(int seconds) {
  static const std::time_t begin =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const std::time_t at = begin + seconds;
  std::tm parts{};
  ::gmtime_r(&at, &parts);
  char text[64];
  const std::size_t size = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text, size};
}

std::string body_of_answer(std::size_t number) { return "answer " + std::to_string(number); }

Step post(Lines lines) {
  Step step("POST", "", std::move(lines));
  return step.body("x");
}

Step::Step(std::string method, std::string path, Lines lines)
    : method_(std::move(method)), path_(std::move(path)), lines_(std::move(lines)) {}

Step& Step::host(std::string name) {
  host_ = std::move(name);
  return *this;
}

Step& Step::body(std::string bytes) {
  body_ = std::move(bytes);
  return *this;
}

Step& Step::later() {
  later_ = true;
  return *this;
}

Step& Step::eventually() {
  eventually_ = true;
  return *this;
}

Step& Step::refreshes() {
  refreshes_ = true;
  return *this;
}

Step& Step::status(int expected) {
  status_ = expected;
  return *this;
}

Step& Step::any_status() {
  status_.reset();
  return *this;
}

Step& Step::broken_off() {
  broken_off_ = true;
  return *this;
}

Step& Step::satisfies(Check check) {
  checks_.push_back(std::move(check));
  return *this;
}

Step& Step::has_body(std::string bytes) {
  return satisfies([bytes = std::move(bytes)](const Exchange& exchange) -> std::string {
    if (exchange.response->body == bytes) return {};
    return "got '" + exchange.response->body + "' instead of '" + bytes + "'";
  });
}

Step& Step::answers(std::size_t number) { return has_body(body_of_answer(number)); }

Step& Step::whole() {
  return satisfies([](const Exchange& exchange) -> std::string {
    const std::string& body = exchange.response->body;
    if (body.starts_with("answer ") && body.size() == body_of_answer(1).size()) return {};
    return "got '" + body + "', which is no whole answer";
  });
}

Step& Step::part_or_whole() {
  return satisfies([](const Exchange& exchange) -> std::string {
    const std::size_t size = exchange.response->status() == 206 ? 3 : body_of_answer(1).size();
    return exchange.response->body.size() == size ? "" : "neither the part nor the whole";
  });
}

Step& Step::with(std::string name) {
  return satisfies([name = std::move(name)](const Exchange& exchange) -> std::string {
    return exchange.response->field(name) ? "" : "no " + name;
  });
}

Step& Step::with(std::string name, std::string value) {
  return satisfies(
      [name = std::move(name), value = std::move(value)](const Exchange& exchange) -> std::string {
        for (const auto& [each, got] : exchange.response->fields) {
          if (got == value && support::find({{each, got}}, name)) return {};
        }
        return name + " is " + exchange.response->field(name).value_or("missing") + " instead of " +
               value;
      });
}

Step& Step::with_part(std::string name, std::string part) {
  return satisfies([name = std::move(name),
                    part = std::move(part)](const Exchange& exchange) -> std::string {
    const std::string value = exchange.response->field(name).value_or("missing");
    return value.find(part) != std::string::npos ? "" : name + " is " + value + " without " + part;
  });
}

Step& Step::with_lines(std::string name, std::size_t expected) {
  return satisfies([name = std::move(name), expected](const Exchange& exchange) -> std::string {
    const std::size_t lines = count(exchange.response->fields, name);
    return lines == expected ? "" : std::to_string(lines) + " lines of " + name;
  });
}

Step& Step::without(std::string name) {
  return satisfies([name = std::move(name)](const Exchange& exchange) -> std::string {
    const auto value = exchange.response->field(name);
    return value ? name + " is there: " + *value : "";
  });
}

Step& Step::age(long least, long most) {
  return satisfies([least, most](const Exchange& exchange) -> std::string {
    const std::string value = exchange.response->field("Age").value_or("missing");
    long age = -1;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), age);
    const bool number = parsed.ec == std::errc{} && parsed.ptr == value.data() + value.size();
    if (number && least <= age && age <= most) return {};
    return "Age is " + value;
  });
}

Step& Step::asked() {
  return satisfies([](const Exchange& exchange) -> std::string {
    if (exchange.asked.size() == 1) return {};
    return exchange.asked.empty() ? "the origin was not asked" : "the origin was asked again";
  });
}

Step& Step::tried() {
  return satisfies([](const Exchange& exchange) -> std::string {
    return exchange.asked.empty() ? "the origin was not asked" : "";
  });
}

Step& Step::not_asked() {
  wants_store_ = true;
  return satisfies([](const Exchange& exchange) -> std::string {
    return exchange.asked.empty() ? "" : "the origin was asked";
  });
}

Step& Step::asked_with(std::string name, std::string value) {
  return satisfies(
      [name = std::move(name), value = std::move(value)](const Exchange& exchange) -> std::string {
        if (exchange.asked.empty()) return "the origin was not asked";
        const std::string got = exchange.asked.back().field(name).value_or("none");
        return got == value ? "" : "the origin was asked with " + name + ": " + got;
      });
}

Step& Step::asked_without(std::string name) {
  return satisfies([name = std::move(name)](const Exchange& exchange) -> std::string {
    if (exchange.asked.empty()) return "the origin was not asked";
    const auto got = exchange.asked.back().field(name);
    return got ? "the origin was asked with " + name + ": " + *got : "";
  });
}

}  // namespace spillway::caching
