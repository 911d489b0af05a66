#include "simulate/recording/figures.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

namespace spillway::simulate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a latency is told in three figures and the fitting unit") {
  CHECK(latency_text(0.00042) == "0.42 ms");
  CHECK(latency_text(0.0042) == "4.2 ms");
  CHECK(latency_text(0.123) == "123 ms");
  CHECK(latency_text(1.234) == "1.23 s");
  CHECK(latency_text(12.34) == "12.3 s");
  CHECK(latency_text(123.4) == "123 s");
}

TEST_CASE("a latency that rounds up to the next unit is told in that unit") {
  CHECK(latency_text(0.000999) == "1.0 ms");
  CHECK(latency_text(0.00999) == "10 ms");
  CHECK(latency_text(0.9996) == "1.00 s");
  CHECK(latency_text(9.996) == "10.0 s");
  CHECK(latency_text(99.96) == "100 s");
}

TEST_CASE("values that are not finite or not measured are a dash") {
  for (const double value : {kInfinity, -kInfinity, kNaN}) {
    CHECK(latency_text(value) == "-");
    CHECK(share_text(value) == "-");
    CHECK(fixed(value, 1) == "-");
  }
  CHECK(latency_text(0) == "-");
  CHECK(share_text(0, 0) == "-");
}

TEST_CASE("only all is a hundred per cent and only nothing is zero") {
  CHECK(share_text(1.0) == "100.00 %");
  CHECK(share_text(0.999999) == "99.99 %");
  CHECK(share_text(0.5) == "50.00 %");
  CHECK(share_text(0.0000001) == "0.01 %");
  CHECK(share_text(0.0) == "0.00 %");
  CHECK(share_text(2, 3) == "66.67 %");
}

TEST_CASE("a fixed number has its digits and never a negative zero") {
  CHECK(fixed(1.25, 1) == "1.2");
  CHECK(fixed(-0.01, 1) == "0.0");
  CHECK(fixed(-1.5, 0) == "-2");
  CHECK(fixed(1e300, 0).size() == 301);
}

TEST_CASE("a count keeps to its width") {
  CHECK(count_text(9999, 4) == "9999");
  CHECK(count_text(12345, 4) == "12k");
  CHECK(count_text(345678901, 4) == "345M");
  for (std::uint64_t count = 1; count < 1'000'000'000'000'000; count *= 7) {
    CAPTURE(count);
    CHECK(count_text(count, 4).size() <= 4);
  }
}

TEST_CASE("texts are cut and padded by characters rather than bytes") {
  CHECK(cut("größer", 3) == "grö");
  CHECK(cut("ab", 3) == "ab");
  CHECK(right("ö", 3) == "  ö");
  CHECK(left("ö", 3) == "ö  ");
}

}  // namespace spillway::simulate
