#include "overload/admission/rules.hpp"

#include <algorithm>
#include <cstdint>

#include "config/layers.hpp"

namespace spillway::overload {
namespace {

using ClassRules = std::vector<config::Rule>;

enum class Overrides : std::uint8_t { none, of_routes };

void apply_stage(const config::Overload& settings, State state, ClassRules& rules) {
  for (const config::Stage& stage : settings.stages) {
    if (stage.name != state) continue;
    for (const config::RuleOverride& changes : stage.rules)
      apply(changes, rules[index(changes.traffic_class)]);
  }
}

ClassRules warning_rules(const config::Overload& settings, ClassRules rules) {
  for (config::Rule& rule : rules) {
    rule.strategy = config::Strategy::allow;
    rule.budget.reset();
  }
  apply_stage(settings, State::elevated, rules);
  return rules;
}

// The overrides that apply to an upstream: those of the routes that lead to it.
const std::vector<config::RuleOverride>& overrides_of(const config::Config& config,
                                                      const config::Route& route,
                                                      const config::Upstream& upstream) {
  static const std::vector<config::RuleOverride> none;
  const std::size_t target = index(route.upstream);
  const bool leads_here =
      target < config.upstreams.size() && config.upstreams[target].name == upstream.name;
  return leads_here ? route.rules : none;
}

}  // namespace

bool RuleTable::all_refuse(ClassId traffic_class) const {
  return (refusing_ & std::uint32_t{1} << index(traffic_class)) != 0;
}

RuleTables::RuleTables(const config::Config& config, const config::Upstream& upstream) {
  using Table = std::shared_ptr<const RuleTable>;
  const auto build = [&](const ClassRules& rules, Overrides which, Table above = nullptr) {
    auto table = std::make_shared<RuleTable>();
    auto& rows = table->rows_;
    for (std::size_t i = 0; i < rules.size(); ++i)
      rows.push_back({rules[i], static_cast<std::uint32_t>(i)});
    table->row_of_route_.resize(config.routes.size(), 0);
    // Numbered alike in every state: a change of state keeps the contents of the buckets.
    auto next_bucket = static_cast<std::uint32_t>(rules.size());
    const std::size_t routes = which == Overrides::of_routes ? config.routes.size() : 0;
    for (std::size_t route = 0; route < routes; ++route) {
      const auto& overrides = overrides_of(config, config.routes[route], upstream);
      if (overrides.empty()) continue;
      const std::size_t row = rows.size();
      table->row_of_route_[route] = static_cast<std::uint32_t>(row);
      for (std::size_t i = 0; i < rules.size(); ++i) rows.push_back(EffectiveRule(rows[i]));
      for (const config::RuleOverride& changes : overrides) {
        EffectiveRule& cell = rows[row + index(changes.traffic_class)];
        apply(changes, cell.rule);
        if (changes.budget) cell.bucket = next_bucket++;
      }
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const config::Strategy strategy = rows[row].rule.strategy;
      if (strategy == config::Strategy::allow || strategy == config::Strategy::degrade)
        table->refusing_ &= ~(std::uint32_t{1} << row % rules.size());
    }
    table->above_ = std::move(above);
    return Table(std::move(table));
  };

  const config::Overload& settings = upstream.overload;
  ClassRules rules = settings.rules;
  rules.resize(config.classes.size());
  if (settings.stages.empty()) {
    tables_.fill(build(rules, Overrides::of_routes));
    return;
  }
  const ClassRules normal = rules;
  apply_stage(settings, State::overloaded, rules);
  const Table overloaded = tables_[index(State::overloaded)] = build(rules, Overrides::of_routes);
  apply_stage(settings, State::critical, rules);
  tables_[index(State::critical)] = build(rules, Overrides::of_routes);
  const Table elevated = build(warning_rules(settings, normal), Overrides::none, overloaded);
  tables_[index(State::elevated)] = elevated;
  tables_[index(State::normal)] = build(normal, Overrides::of_routes, elevated);
}

std::size_t count_buckets(const config::Config& config, const config::Upstream& upstream) {
  std::size_t count = config.classes.size();
  for (const config::Route& route : config.routes) {
    const auto& overrides = overrides_of(config, route, upstream);
    count += static_cast<std::size_t>(
        std::count_if(overrides.begin(), overrides.end(),
                      [](const auto& one) { return one.budget.has_value(); }));
  }
  return count;
}

}  // namespace spillway::overload
