#include "observe/metrics/metric_history.hpp"

#include <doctest/doctest.h>

#include "observe/metrics/metric_family.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily requests(const std::string& route, double count) {
  MetricFamily result = counter("requests_total", "");
  add_sample(result, {{"route", route}, {"class", "P0"}}, count);
  return result;
}

TEST_CASE("counts with equal labels are added and new series are kept") {
  std::vector<MetricFamily> sum{requests("a", 2)};
  add_counts(sum, {requests("a", 3), requests("b", 5)});
  REQUIRE(sum.size() == 1);
  REQUIRE(sum[0].metric.size() == 2);
  CHECK(sum[0].metric[0].counter.value == 5);
  CHECK(sum[0].metric[1].counter.value == 5);
}

TEST_CASE("histograms are added bucket by bucket") {
  DurationHistogram histogram;
  histogram.observe(Milliseconds{3});
  histogram.observe(Milliseconds{700});
  HistogramSnapshot snapshot;
  histogram.add_to(snapshot);
  std::vector<MetricFamily> sum{MetricFamily{"seconds", "", MetricType::Histogram, {}}};
  add_histogram(sum[0], {}, snapshot);
  const std::vector<MetricFamily> former = sum;
  add_counts(sum, former);
  const auto& added = sum[0].metric[0].histogram;
  const auto& single = former[0].metric[0].histogram;
  CHECK(added.sample_count == 4);
  CHECK(added.sample_sum == doctest::Approx(2 * single.sample_sum));
  for (std::size_t i = 0; i < added.bucket.size(); ++i)
    CHECK(added.bucket[i].cumulative_count == 2 * single.bucket[i].cumulative_count);
}

TEST_CASE("gauges are not added up") {
  std::vector<MetricFamily> now{gauge("inflight", "")};
  add_sample(now[0], {}, 2);
  const std::vector<MetricFamily> former = now;
  add_counts(now, former);
  CHECK(now[0].metric[0].gauge.value == 2);
}

TEST_CASE("routes that are no longer configured are forgotten") {
  config::Config config;
  config.classes.emplace_back().name = "P0";
  config.routes.emplace_back().name = "a";
  std::vector<MetricFamily> families{requests("a", 1), requests("gone", 1), requests("other", 1)};
  forget_unknown(families, config);
  CHECK(families[0].metric.size() == 1);
  CHECK(families[1].metric.empty());
  CHECK(families[2].metric.size() == 1);
}

}  // namespace
}  // namespace spillway::observe
