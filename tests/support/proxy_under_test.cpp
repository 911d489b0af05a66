#include "support/proxy_under_test.hpp"

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "config/file/load.hpp"
#include "support/raw_client.hpp"

namespace spillway::support {

nlohmann::json configuration(const std::vector<std::string>& servers, nlohmann::json changes) {
  nlohmann::json upstream = {{"name", "app"}, {"servers", servers}};
  if (changes.contains("app")) {
    upstream.merge_patch(changes["app"]);
    changes.erase("app");
  }
  nlohmann::json settings = {{"upstreams", nlohmann::json::array({upstream})}};
  settings.merge_patch(changes);
  return settings;
}

namespace {

std::string completed(const nlohmann::json& given) {
  nlohmann::json settings = {{"listen", {{"port", 0}}},
                             {"admin", {{"port", 0}}},
                             {"workers", 2},
                             {"log", {{"level", "error"}}}};
  settings.merge_patch(given);
  return settings.dump();
}

}  // namespace

config::Config checked(const nlohmann::json& settings) {
  config::LoadResult loaded = config::load_text(completed(settings), "test");
  if (loaded.config) return *std::move(loaded.config);
  std::string problems;
  for (const auto& problem : loaded.problems)
    problems += problem.path + ": " + problem.message + "\n";
  throw std::runtime_error(problems);
}

ProxyUnderTest::ProxyUnderTest(config::Config config)
    : server_(std::move(config), [wanted = wanted_] {
        const std::lock_guard lock(wanted->mutex);
        return config::load_text(wanted->text, "test");
      }) {
  server_.start();
}

Message ProxyUnderTest::reload(const nlohmann::json& settings) {
  {
    const std::lock_guard lock(wanted_->mutex);
    wanted_->text = completed(settings);
  }
  return RawClient(admin_port())
      .ask("POST /reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
}

Message ProxyUnderTest::admin(std::string_view path) const {
  return RawClient(admin_port())
      .ask(std::string("GET ").append(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

double ProxyUnderTest::metric(std::string_view sample) const {
  const std::string text = "\n" + metrics();
  const std::string wanted = "\n" + std::string(sample) + " ";
  const std::size_t found = text.find(wanted);
  return found == std::string::npos ? 0
                                    : std::strtod(text.c_str() + found + wanted.size(), nullptr);
}

bool ProxyUnderTest::metric_becomes(std::string_view sample, double value,
                                    Milliseconds within) const {
  const Deadline deadline(within);
  do {
    if (metric(sample) == value) return true;
  } while (!deadline.passed());
  return false;
}

bool ProxyUnderTest::state_becomes(const std::function<bool(const nlohmann::json&)>& condition,
                                   Milliseconds within) const {
  const Deadline deadline(within);
  do {
    if (condition(state())) return true;
  } while (!deadline.passed());
  return false;
}

}  // namespace spillway::support
