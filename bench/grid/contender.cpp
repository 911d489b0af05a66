#include "bench/grid/contender.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "config/file/load.hpp"

namespace spillway::grid {
namespace {

using nlohmann::json;

constexpr Milliseconds kQueueTimeout{400};  // as bench/peers/overload-haproxy-tuned.cfg

json plain() {
  return {{"upstreams", json::array({{{"name", "backend"}, {"servers", {"127.0.0.1:3000"}}}})}};
}

const json kAllowing{{"P0", {{"strategy", "allow"}}},
                     {"P1", {{"strategy", "allow"}}},
                     {"P2", {{"strategy", "allow"}}}};

json with_number(double number) {
  json file = plain();
  file["dispatch"]["concurrency"] = std::max(1L, std::lround(number));
  return file;
}

// Whole numbers of milliseconds, exit at 0.7 of enter.
json with_threshold(double number, double seconds) {
  json file = with_number(number);
  const long enter = std::max(2L, std::lround(1000 * seconds));
  file["overload"]["enter"]["latency_p95_ms"] = enter;
  file["overload"]["exit"]["latency_p95_ms"] =
      std::clamp(std::lround(700 * seconds), 1L, enter - 1);
  return file;
}

// A proxy that limits and orders, but has no rules: long queues, a queue timeout.
json queue_only(double number, const char* discipline, Milliseconds queue_timeout) {
  json file = with_number(number);
  for (const char* one : {"P0", "P1", "P2"}) {
    file["classes"].push_back({{"name", one},
                               {"weight", 1},
                               {"max_queue", 1'000'000},
                               {"sla_ms", 10'000},
                               {"max_wait_ms", queue_timeout.count()},
                               {"min_share", 0}});
  }
  file["dispatch"]["discipline"] = discipline;
  file["dispatch"]["dynamic_weights"] = false;
  file["dispatch"]["deadline_aware"] = false;
  file["dispatch"]["evict"] = json::array();
  file["overload"] = {{"regulate", false}, {"rules", kAllowing}};
  file["tenants"]["fairness"] = false;
  return file;
}

json searching(const char* law) {
  json file = plain();
  file["dispatch"]["concurrency"] = {{"law", law}};
  return file;
}

json written(const std::string& name, const Cell& cell, double p95) {
  const double number = cell.slots;
  json file = plain();
  if (name == "true") return with_number(number);
  if (name == "fifo") return queue_only(number, "edf", kQueueTimeout);
  if (name == "strict") return queue_only(number, "pq", kQueueTimeout);
  if (name == "strict-told") return queue_only(number, "pq", cell.timeout * 2 / 5);
  if (name == "strict-high") return queue_only(4 * number, "pq", kQueueTimeout);
  if (name == "strict-low") return queue_only(number / 4, "pq", kQueueTimeout);
  if (name == "gradient2" || name == "aimd") return searching(name.c_str());
  if (name == "threshold-high") return with_threshold(4 * number, 2 * p95);
  if (name == "threshold-impossible") return with_threshold(4 * number, 0.9 * p95);
  if (name == "unregulated") {
    file = with_number(number);
    file["overload"]["regulate"] = false;
    return file;
  }
  if (name == "64") return with_number(64);
  file["dispatch"]["concurrency"] = "auto";
  if (name == "off") file["overload"]["rules"] = kAllowing;
  return file;
}

}  // namespace

const std::vector<Contender>& contenders() {
  using enum Contender::Part;
  static const std::vector<Contender> all{
      {"auto", "shipped defaults, no number", quick},
      {"true", "shipped defaults, the true number", quick},
      {"64", "shipped defaults, a number of 64 whatever the backend", quick},
      {"off", "auto, with rules that allow everything", quick},
      {"strict", "strict priority, the true number, a queue timeout", quick},
      {"strict-high", "the same, a number 4 times too high", quick},
      {"strict-told", "strict, with a queue timeout that fits the clients'", told},
      {"strict-low", "the same, a number 4 times too low", full},
      {"fifo", "one queue, the true number, a queue timeout", full},
      {"passthrough", "everything goes to the backend", full},
      {"gradient2", "shipped defaults, another law for the number", full},
      {"aimd", "likewise", full},
      {"unregulated", "the true number, \"regulate\": false", full},
      {"threshold-high", "a number 4 times too high, latency_p95_ms twice the unloaded p95",
       steady},
      {"threshold-impossible", "likewise, latency_p95_ms below the unloaded p95", steady},
  };
  return all;
}

const Contender& contender(std::string_view name) {
  const auto& all = contenders();
  return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
}

config::Config configuration(const Contender& contender, const Cell& cell, double p95) {
  const auto result = config::load_text(written(contender.name, cell, p95).dump(), contender.name);
  if (result.config) return *result.config;
  const config::Problem& problem = result.problems.front();
  throw std::runtime_error(contender.name + ": " + problem.path + ": " + problem.message);
}

}  // namespace spillway::grid
