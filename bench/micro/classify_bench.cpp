// Classification of a request: path normalisation, the walk through the routes, tenant and
// deadline.
#include "base/ip_address.hpp"
#include "site.hpp"
#include "suite.hpp"
#include "traffic/classify/classify.hpp"

namespace spillway::micro {
namespace {

void classify(benchmark::State& state, std::size_t routes, Caller caller) {
  const config::Config config = site(routes);
  const traffic::Classifier classifier(config);
  const traffic::Peer peer = classifier.peer(
      *parse_ip_address(caller == Caller::behind_proxy ? "192.0.2.7" : "203.0.113.7"));
  Random random(1);
  const auto asked = requests(routes, caller, random);
  const TimePoint now = TimePoint{} + std::chrono::hours(1);
  std::size_t next = 0, found = 0, named = 0;
  for (auto _ : state) {
    const http::RequestHead& head = asked[next++ % asked.size()]->head;
    const traffic::Classification classification = classifier.classify(head, peer, now);
    found += index(classification.route) < routes ? 1 : 0;
    named += classification.tenant.id != peer.tenant.id ? 1 : 0;
    benchmark::DoNotOptimize(classification.deadline);
  }
  if (found != next) state.SkipWithError("a request met the default route");
  if (named != (caller == Caller::unnamed ? 0 : next)) state.SkipWithError("wrong tenant");
}

}  // namespace

void add_classify(Suite& suite) {
  for (const std::size_t routes : {10, 100, 1000, 10000}) {
    suite.add("classify/" + size_name(routes) + " routes", 300,
              [routes](benchmark::State& state) { classify(state, routes, Caller::unnamed); });
  }
  suite.add("classify/10^4 routes, API key", 300,
            [](benchmark::State& state) { classify(state, 10000, Caller::with_api_key); });
  suite.add("classify/10^4 routes, behind a trusted proxy", 300,
            [](benchmark::State& state) { classify(state, 10000, Caller::behind_proxy); });
}

}  // namespace spillway::micro
