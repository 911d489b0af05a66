#include "simulate/scale.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace spillway::simulate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string labels(const Scale& scale, int parts, std::string (*label)(double)) {
  std::string text;
  for (const double tick : scale.ticks(parts)) text += (text.empty() ? "" : " ") + label(tick);
  return text;
}

}  // namespace

TEST_CASE("steps between ticks are one or two or five times a power of ten") {
  CHECK(nice_step(60, 7) == doctest::Approx(10));
  CHECK(nice_step(60, 8) == doctest::Approx(10));
  CHECK(nice_step(60, 3) == doctest::Approx(20));
  CHECK(nice_step(540, 4) == doctest::Approx(200));
  CHECK(nice_step(0.09, 2) == doctest::Approx(0.05));
  CHECK(nice_step(6, 1) == doctest::Approx(10));
  for (const double bad : {0.0, -1.0, kInfinity, kNaN}) CHECK(nice_step(bad, 4) == 1);
  CHECK(nice_step(10, 0) == 1);
}

TEST_CASE("an axis never has more ticks than there is room for and nearly always two") {
  for (double top = 1e-6; top < 1e12; top *= 1.37) {
    for (int parts = 1; parts <= 12; ++parts) {
      CAPTURE(top);
      CAPTURE(parts);
      const auto linear = Scale::linear(top, 0, 100).ticks(parts);
      CHECK(linear.size() <= static_cast<std::size_t>(parts) + 1);
      CHECK(linear.front() == 0);
      CHECK(linear.back() <= top * (1 + 1e-6));
      if (parts >= 4) CHECK(linear.size() >= 2);
      const auto logarithmic = Scale::logarithmic(top, top * 2000, 0, 100).ticks(parts);
      CHECK(logarithmic.size() <= static_cast<std::size_t>(parts) + 1);
      CHECK(!logarithmic.empty());
    }
  }
}

TEST_CASE("ticks have labels that people would have chosen") {
  CHECK(labels(Scale::linear(60, 0, 1), 8, duration_label) == "0 10 s 20 s 30 s 40 s 50 s 60 s");
  CHECK(labels(Scale::linear(2500, 0, 1), 5, count_label) == "0 500 1k 1.5k 2k 2.5k");
  CHECK(labels(Scale::linear(0.11, 0, 1), 3, duration_label) == "0 50 ms 100 ms");
  CHECK(labels(Scale::linear(2, 0, 1), 4, duration_label) == "0 500 ms 1 s 1.5 s 2 s");
  CHECK(labels(Scale::logarithmic(0.03, 20, 0, 1), 4, duration_label) == "100 ms 1 s 10 s");
  CHECK(labels(Scale::logarithmic(0.8, 12, 0, 1), 4, count_label) == "1 2 5 10");
  CHECK(labels(Scale::logarithmic(1, 2e7, 0, 1), 4, count_label) == "1 100 10k 1M");
  CHECK(count_label(0.5) == "0.5");
  CHECK(count_label(3e6) == "3M");
  CHECK(duration_label(0.0005) == "0.5 ms");
}

TEST_CASE("values lie between the ends of their axis") {
  const Scale linear = Scale::linear(10, 100, 0);  // upwards, as y does
  CHECK(linear(0) == doctest::Approx(100));
  CHECK(linear(5) == doctest::Approx(50));
  CHECK(linear(10) == doctest::Approx(0));
  CHECK(linear(11) == doctest::Approx(0));
  CHECK(linear(-1) == doctest::Approx(100));
  const Scale logarithmic = Scale::logarithmic(1, 100, 100, 0);
  CHECK(logarithmic(10) == doctest::Approx(50));
  CHECK(logarithmic(0) == doctest::Approx(100));
  CHECK(logarithmic(1000) == doctest::Approx(0));
  for (const Scale& scale : {linear, logarithmic}) {
    CHECK(scale(kNaN) == doctest::Approx(100));
    CHECK(scale(kInfinity) == doctest::Approx(0));
    CHECK(scale(-kInfinity) == doctest::Approx(100));
  }
}

TEST_CASE("a scale of nothing or of no number still has finite positions") {
  for (const double bad : {0.0, -3.0, kInfinity, kNaN}) {
    CAPTURE(bad);
    for (const Scale& scale :
         {Scale::linear(bad, 0, 100), Scale::logarithmic(bad, bad, 0, 100),
          Scale::logarithmic(5, bad, 0, 100), Scale::logarithmic(bad, 7, 0, 100)}) {
      CHECK(std::isfinite(scale(3)));
      CHECK(!scale.ticks(4).empty());
    }
  }
}

}  // namespace spillway::simulate
