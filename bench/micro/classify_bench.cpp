// Who is asking? Path normalisation, the walk through the routes, tenant and deadline.
#include "base/ip_address.hpp"
#include "site.hpp"
#include "suite.hpp"
#include "traffic/classify.hpp"

namespace spillway::micro {
namespace {

void classify(benchmark::State& state, std::size_t routes) {
  const config::Config config = site(routes);
  const traffic::Classifier classifier(config);
  const traffic::Peer peer = classifier.peer(*parse_ip_address("192.0.2.7"));
  Random random(1);
  const auto asked = requests(routes, random);
  const TimePoint now = TimePoint{} + std::chrono::hours(1);
  std::size_t next = 0, found = 0, iterations = 0;
  for (auto _ : state) {
    const http::RequestHead& head = asked[next++ % asked.size()]->head;
    const traffic::Subject subject = classifier.classify(head, peer, now);
    found += index(subject.route) < routes ? 1 : 0;
    ++iterations;
    benchmark::DoNotOptimize(subject.deadline);
  }
  if (found != iterations) state.SkipWithError("a request met the default route");
}

}  // namespace

void add_classify(Suite& suite) {
  for (const std::size_t routes : {10, 100, 1000, 10000}) {
    suite.add("classify/" + size_name(routes) + " routes", 300,
              [routes](benchmark::State& state) { classify(state, routes); });
  }
}

}  // namespace spillway::micro
