#include "simulate/report/axis.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace spillway::simulate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string labels(const Span& values, int parts, std::string (*label)(double)) {
  std::string text;
  for (const double tick : Axis(values, 0, 1).ticks(parts)) {
    text += (text.empty() ? "" : " ") + label(tick);
  }
  return text;
}

}  // namespace

TEST_CASE("an axis never has more ticks than there is room for and nearly always two") {
  for (double top = 1e-6; top < 1e12; top *= 1.37) {
    for (int parts = 1; parts <= 12; ++parts) {
      CAPTURE(top);
      CAPTURE(parts);
      const auto linear = Axis({0, top}, 0, 100).ticks(parts);
      CHECK(linear.size() <= static_cast<std::size_t>(parts) + 1);
      CHECK(linear.front() == 0);
      CHECK(linear.back() <= top * (1 + 1e-6));
      if (parts >= 4) CHECK(linear.size() >= 2);
      const auto logarithmic = Axis({top, top * 2000}, 0, 100).ticks(parts);
      CHECK(logarithmic.size() <= static_cast<std::size_t>(parts) + 1);
      CHECK(!logarithmic.empty());
    }
  }
}

TEST_CASE("ticks have labels that people would have chosen") {
  CHECK(labels({0, 60}, 8, duration_label) == "0 10 s 20 s 30 s 40 s 50 s 60 s");
  CHECK(labels({0, 2500}, 5, count_label) == "0 500 1k 1.5k 2k 2.5k");
  CHECK(labels({0, 0.11}, 3, duration_label) == "0 50 ms 100 ms");
  CHECK(labels({0, 2}, 4, duration_label) == "0 500 ms 1 s 1.5 s 2 s");
  CHECK(labels({0.03, 20}, 4, duration_label) == "100 ms 1 s 10 s");
  CHECK(labels({1, 2e7}, 4, count_label) == "1 100 10k 1M");
  CHECK(count_label(0.5) == "0.5");
  CHECK(count_label(3e6) == "3M");
  CHECK(duration_label(0.0005) == "0.5 ms");
}

TEST_CASE("positions of values are between the ends of their axis") {
  const Axis linear({0, 10}, 100, 0);  // upwards, as y does
  CHECK(linear(0) == doctest::Approx(100));
  CHECK(linear(5) == doctest::Approx(50));
  CHECK(linear(10) == doctest::Approx(0));
  CHECK(linear(11) == doctest::Approx(0));
  CHECK(linear(-1) == doctest::Approx(100));
  const Axis logarithmic({1, 100}, 100, 0);
  CHECK(logarithmic(10) == doctest::Approx(50));
  CHECK(logarithmic(0) == doctest::Approx(100));
  CHECK(logarithmic(1000) == doctest::Approx(0));
  for (const Axis& axis : {linear, logarithmic}) {
    CHECK(axis(kNaN) == doctest::Approx(100));
    CHECK(axis(kInfinity) == doctest::Approx(0));
    CHECK(axis(-kInfinity) == doctest::Approx(100));
  }
}

TEST_CASE("an axis of an empty or infinite span still has finite positions") {
  for (const double bad : {0.0, -3.0, kInfinity, kNaN}) {
    CAPTURE(bad);
    for (const Span& span : {Span{0, bad}, Span{bad, bad}, Span{5, bad}, Span{bad, 7}}) {
      const Axis axis(span, 0, 100);
      CHECK(std::isfinite(axis(3)));
      CHECK(!axis.ticks(4).empty());
    }
  }
}

}  // namespace spillway::simulate
