#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "observe/count/worker_metrics.hpp"
#include "observe/metrics/metric_collector.hpp"
#include "sample.hpp"

namespace spillway::observe {
namespace {

double forwarded(const MetricCollector& collector) {
  for (const prometheus::MetricFamily& family : collector.Collect()) {
    if (family.name != "spillway_requests_total") continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      if (metric.label[0].value == "checkout" && metric.label[2].value == "forwarded") {
        return metric.counter.value;
      }
    }
  }
  return -1;
}

TEST_CASE("scrapes while workers count see totals that only grow and lose nothing") {
  constexpr int kRequests = 200'000;
  const config::Config config = sample_config();
  WorkerMetrics one(config);
  WorkerMetrics other(config);
  const MetricCollector collector(config, {&one, &other}, sample_snapshot, {"0.1.0", "g++"});
  std::atomic<int> working{2};
  const auto work = [&](WorkerMetrics& metrics) {
    for (int i = 0; i < kRequests; ++i) {
      metrics.gauges->client_connections.add();
      metrics.finish(RouteId{0}, kP0, Outcome::forwarded);
      metrics.response(kP0, 200);
      metrics.request_duration(kP0, std::chrono::microseconds{i});
      metrics.gauges->client_connections.subtract();
    }
    --working;
  };
  std::thread first(work, std::ref(one));
  std::thread second(work, std::ref(other));
  double last = 0;
  bool grows = true;
  while (working > 0) {
    const double now = forwarded(collector);
    grows = grows && now >= last;
    last = now;
  }
  first.join();
  second.join();
  CHECK(grows);
  CHECK(forwarded(collector) == 2.0 * kRequests);
}

}  // namespace
}  // namespace spillway::observe
