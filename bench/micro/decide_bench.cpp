// May this request pass? Over 10 000 routes, so that rules come from memory.
#include <string>
#include <vector>

#include "overload/decide.hpp"
#include "overload/plan.hpp"
#include "site.hpp"
#include "suite.hpp"

namespace spillway::micro {
namespace {

using overload::Verdict;

constexpr std::size_t kRoutes = 10000;

struct Asked {
  RouteId route;
  ClassId traffic_class;
};

std::vector<Asked> asked(const config::Config& config) {
  Random random(2);
  std::vector<Asked> made(4096);
  for (Asked& each : made) {
    each.route = RouteId(random.next() % kRoutes);
    each.traffic_class = config.routes[index(each.route)].traffic_class;
  }
  return made;
}

void decide(benchmark::State& state, State overload_state, Reason reason) {
  const config::Config config = site(kRoutes);
  const auto plan = overload::build_plan(config, config.upstreams.front(), overload_state, reason);
  const auto requests = asked(config);
  Random random(3);
  std::size_t next = 0, refused = 0;
  for (auto _ : state) {
    const overload::AdmissionPlan* present = &plan;
    benchmark::DoNotOptimize(present);  // a worker is handed another one now and then
    const Asked& one = requests[next++ % requests.size()];
    const Verdict verdict = overload::decide(*present, one.route, one.traffic_class, random);
    refused += verdict.kind != Verdict::Kind::allow ? 1 : 0;
  }
  const bool some = refused > 0;
  if (next > 100 && some != (overload_state != State::normal))
    state.SkipWithError("the plan did not decide as its state says");
}

}  // namespace

void add_decide(Suite& suite) {
  suite.add("decide/NORMAL", 50,
            [](benchmark::State& state) { decide(state, State::normal, Reason::none); });
  suite.add("decide/OVERLOADED, deny", 50, [](benchmark::State& state) {
    decide(state, State::overloaded, Reason::tail_latency);
  });
  suite.add("decide/OVERLOADED, deny unless short wait", 50, [](benchmark::State& state) {
    decide(state, State::overloaded, Reason::queue_saturation);
  });
}

}  // namespace spillway::micro
