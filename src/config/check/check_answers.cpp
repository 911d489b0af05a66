// Checks of `cache`, `fallback` and the rules that use them.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/check/checks.hpp"
#include "config/choices.hpp"
#include "config/layers.hpp"

namespace spillway::config {
namespace {

// Which fields the rule sets itself; the others are inherited.
struct Given {
  bool mode;
  bool strategy;
  bool annotate;
};

Given given_by(const RuleOverride& rule) {
  return {rule.mode.has_value(), rule.strategy.has_value(), rule.annotate.has_value()};
}

// Whether the rule itself requests degraded answers, or defines how they are made.
bool asks_for_answers(const Given& given, const Rule& rule) {
  return given.mode || (given.strategy && rule.strategy == Strategy::degrade);
}

bool is_skip(const Rule& rule) { return rule.mode == DegradeMode::skip_downstream; }

class AnswerChecks {
 public:
  AnswerChecks(Config& config, Findings& findings) : config_(config), findings_(findings) {}

  void check() {
    for (std::size_t i = 0; i < config_.routes.size(); ++i) {
      Route& route = config_.routes[i];
      const std::string path = route_path(i, config_.routes.size());
      if (route.cache) check_cache(*route.cache, route.match, path);
      if (route.fallback) check_fallback(*route.fallback, path + ".fallback");
      if (index(route.upstream) >= config_.upstreams.size()) continue;
      for (const RuleOverride& rule : route.rules) check_own_rule(route, rule, path);
    }
    check_class_rules(config_.overload, "$.overload");
    for (std::size_t i = 0; i < config_.upstreams.size(); ++i) {
      const std::string path = element("$.upstreams", i) + ".overload";
      if (findings_.is_given(path)) check_class_rules(config_.upstreams[i].overload, path);
    }
  }

 private:
  void check_cache(Cache& cache, const Match& match, const std::string& route) {
    const std::string path = route + ".cache";
    const auto has_get = [](const std::vector<std::string>& methods) {
      return std::find(methods.begin(), methods.end(), "GET") != methods.end();
    };
    if (!findings_.is_given(path + ".max_entry_bytes")) {
      cache.max_entry_bytes = std::min(cache.max_entry_bytes, cache.max_bytes / 8);
    } else {
      findings_.check_order(path + ".max_entry_bytes", cache.max_entry_bytes, path + ".max_bytes",
                            cache.max_bytes);
    }
    if (!has_get(cache.methods)) {
      findings_.report(path + ".methods",
                       "without \"GET\" nothing is ever stored: HEAD is answered from what is "
                       "stored of a GET");
    }
    if (!match.methods.empty() && !has_get(match.methods)) {
      findings_.report(path,
                       "nothing would ever be stored: " + route +
                           ".match.methods is without "
                           "\"GET\"",
                       route + ".match.methods");
    }
  }

  void check_fallback(const Fallback& fallback, const std::string& path) {
    constexpr std::uint32_t without_body[] = {204, 205, 206, 304};
    if (std::count(std::begin(without_body), std::end(without_body), fallback.status) != 0) {
      findings_.report(path + ".status",
                       "found " + std::to_string(fallback.status) +
                           ", allowed: the status of a whole answer with a body (not 204, 205, 206 "
                           "or 304)");
    }
    if (!findings_.is_given(path + ".json") && !findings_.is_given(path + ".html")) {
      findings_.report(path, "has neither \"json\" nor \"html\": give one of them, or both");
    }
    if (fallback.json) check_content(path + ".json");
    if (fallback.html) check_content(path + ".html");
    check_headers(fallback, path + ".headers");
  }

  void check_content(const std::string& path) {
    const bool has_body = findings_.is_given(path + ".body");
    const bool has_file = findings_.is_given(path + ".file");
    if (has_body && has_file) {
      findings_.report(path + ".file", "body and file exclude one another: give one of them");
    } else if (!has_body && !has_file) {
      findings_.report(path, "has neither \"body\" nor \"file\": give one of them", path + ".body");
    }
  }

  void check_headers(const Fallback& fallback, const std::string& path) {
    constexpr std::size_t kMostBytes = 8192;
    std::size_t bytes = 0;
    for (const HeaderField& field : fallback.headers)
      bytes += field.name.size() + field.value.size();
    if (bytes > kMostBytes) {
      findings_.report(path, "found " + std::to_string(bytes) +
                                 " bytes of fields, allowed: up to " + std::to_string(kMostBytes));
    }
    std::map<std::string, std::string_view> first;
    for (const HeaderField& field : fallback.headers) {
      std::string lower = field.name;
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (lower == "content-type" && fallback.json && fallback.html) {
        findings_.report(member(path, field.name),
                         "one type for two texts: leave it out, or give only one of json and html");
      }
      const auto [at, is_new] = first.emplace(std::move(lower), field.name);
      if (!is_new)
        findings_.report(member(path, field.name), "the same field as " + shown(at->second));
    }
  }

  void check_own_rule(const Route& route, const RuleOverride& own, const std::string& route_at) {
    const Overload& overload = config_.upstreams[index(route.upstream)].overload;
    std::vector<Rule> rules = overloaded_rules(overload, own.traffic_class);
    for (Rule& rule : rules) apply(own, rule);
    const std::string path =
        member(route_at + ".rules", config_.classes[index(own.traffic_class)].name);
    check_has_cache(route, own, rules, path, route_at);
    if (own.miss == Miss::fallback && !route.fallback) {
      findings_.report(path + ".miss",
                       "found \"fallback\": there is no " + route_at + ".fallback to give",
                       route_at + ".fallback");
    }
    check_own_annotate(route, own, rules, path, route_at);
  }

  void check_has_cache(const Route& route, const RuleOverride& own, const std::vector<Rule>& rules,
                       const std::string& path, const std::string& route_at) {
    if (route.cache) return;
    const auto at = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) {
      return asks_for_answers(given_by(own), rule) && !is_skip(rule);
    });
    if (at == rules.end()) return;
    const std::string mode = shown(name(at->mode));
    findings_.report(path + (own.mode ? ".mode" : ".strategy"),
                     (own.mode ? "found " + mode : "found \"degrade\", which is by mode " + mode) +
                         ": there is no " + route_at + ".cache to answer from",
                     route_at + ".cache");
  }

  void check_own_annotate(const Route& route, const RuleOverride& own,
                          const std::vector<Rule>& rules, const std::string& path,
                          const std::string& route_at) {
    if (own.annotate && std::none_of(rules.begin(), rules.end(), is_skip)) {
      report_annotate(path, rules.front());
      return;
    }
    const bool does_nothing = std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
      return is_skip(rule) && rule.annotate == false && !rule.miss && !route.fallback &&
             (own.annotate || asks_for_answers(given_by(own), rule));
    });
    if (!does_nothing) return;
    findings_.report(path + (own.annotate ? ".annotate"
                             : own.mode   ? ".mode"
                                          : ".strategy"),
                     "skip_downstream without annotate would change nothing: it needs " + route_at +
                         ".fallback or a miss",
                     route_at + ".fallback");
  }

  void check_class_rules(const Overload& overload, const std::string& path) {
    for (std::size_t i = 0; i < overload.rules.size(); ++i) {
      const std::string here = member(path + ".rules", config_.classes[i].name);
      const Given given{findings_.is_given(here + ".mode"), findings_.is_given(here + ".strategy"),
                        findings_.is_given(here + ".annotate")};
      check_annotate(given, overload.rules[i], here);
    }
    std::vector<Rule> rules = overload.rules;
    for (std::size_t i = 0; i < overload.stages.size(); ++i) {
      const Stage& stage = overload.stages[i];
      for (const RuleOverride& changes : stage.rules) {
        // ELEVATED starts from the class's rule, and no stage starts from ELEVATED.
        Rule warned = rules[index(changes.traffic_class)];
        Rule& rule = stage.name == State::elevated ? warned : rules[index(changes.traffic_class)];
        apply(changes, rule);
        check_annotate(given_by(changes), rule,
                       member(element(path + ".stages", i) + ".rules",
                              config_.classes[index(changes.traffic_class)].name));
      }
    }
  }

  // A rule may set only `annotate`: it then applies to the rules that override that rule.
  void check_annotate(const Given& given, const Rule& rule, const std::string& path) {
    if (given.annotate && asks_for_answers(given, rule) && !is_skip(rule))
      report_annotate(path, rule);
  }

  void report_annotate(const std::string& path, const Rule& rule) {
    findings_.report(
        path + ".annotate",
        "has a meaning only with mode \"skip_downstream\", not with " + shown(name(rule.mode)),
        path + ".mode");
  }

  Config& config_;
  Findings& findings_;
};

}  // namespace

void check_answers(Config& config, Findings& findings) { AnswerChecks(config, findings).check(); }

}  // namespace spillway::config
