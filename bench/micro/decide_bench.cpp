// May this request pass? Over 10 000 routes drawn at random, so that rules come from memory; with
// tenants, see tenants_bench.cpp.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "overload/admission/budgets.hpp"
#include "overload/admission/decide.hpp"
#include "overload/admission/plan.hpp"
#include "overload/admission/tenant_budgets.hpp"
#include "site.hpp"
#include "suite.hpp"

namespace spillway::micro {
namespace {

using overload::Verdict;

constexpr std::size_t kRoutes = 10000;

struct Case {
  State state = State::normal;
  Reason reason = Reason::none;
  Verdict::Kind expected = Verdict::Kind::allow;  // of some requests
  std::function<void(config::Rule&)> every_rule = [](config::Rule&) {};
  std::optional<config::Budget> of_tenants = std::nullopt;  // a rate limit for each API key
};

std::vector<overload::AdmissionRequest> requests_to(const config::Config& config,
                                                    const overload::TenantBudgets& limits) {
  Random random(2);
  std::vector<overload::AdmissionRequest> made(4096);
  for (overload::AdmissionRequest& each : made) {
    each.route = RouteId(random.next() % kRoutes);
    each.traffic_class = config.routes[index(each.route)].traffic_class;
    each.tenant = TenantId{random.next()};
    each.budget =
        limits.find(static_cast<std::uint32_t>(random.next() % config.tenants.api_keys.size()));
  }
  return made;
}

void decide(benchmark::State& state, const Case& asked) {
  config::Config config = site(kRoutes);
  config::Upstream& upstream = config.upstreams.front();
  for (config::Rule& rule : upstream.overload.rules) asked.every_rule(rule);
  for (config::ApiKey& key : config.tenants.api_keys) key.budget = asked.of_tenants;
  const auto plan = overload::build_plan(config, upstream, asked.state, asked.reason);
  overload::Budgets budgets(config, upstream);
  const overload::TenantBudgets limits(config.tenants);
  const auto requests = requests_to(config, limits);
  Random random(3);
  TimePoint now = TimePoint{} + std::chrono::hours(1);
  std::size_t next = 0, expected = 0;
  const auto ask = [&] {
    const overload::AdmissionPlan* present = &plan;
    benchmark::DoNotOptimize(present);  // a worker is handed another one now and then
    now += std::chrono::microseconds(1);
    const overload::AdmissionRequest& one = requests[next++ % requests.size()];
    const Verdict verdict = overload::decide(*present, budgets, one, now, random);
    benchmark::DoNotOptimize(verdict.retry_after);
    expected += verdict.kind == asked.expected ? 1 : 0;
  };
  for (auto _ : state) ask();
  // A short run may have ended inside the burst of a budget: the claim is about all requests.
  while (next < requests.size()) ask();
  if (expected == 0) state.SkipWithError("no request met the rule that is measured");
}

}  // namespace

void add_decide(Suite& suite) {
  using enum Verdict::Kind;
  const auto add = [&](const std::string& name, const Case& asked) {
    suite.add("decide/" + name, 50, [asked](benchmark::State& state) { decide(state, asked); });
  };
  add("NORMAL", {});
  add("NORMAL, rate limits", {.of_tenants = config::Budget{.rate = 500, .burst = 10}});
  add("OVERLOADED, deny", {State::overloaded, Reason::tail_latency, deny});
  add("OVERLOADED, deny unless short wait",
      {State::overloaded, Reason::queue_saturation, allow_if_short_wait});
  add("OVERLOADED, degrade",
      {State::overloaded, Reason::tail_latency, degrade,
       [](config::Rule& rule) { rule.strategy = config::Strategy::degrade; }});
  // One request in a microsecond over three classes, and room for about half of them.
  add("OVERLOADED, budgets",
      {State::overloaded, Reason::tail_latency, deny, [](config::Rule& rule) {
         rule.strategy = config::Strategy::allow;
         rule.budget = config::Budget{.rate = 160000, .burst = 100};
       }});
}

}  // namespace spillway::micro
