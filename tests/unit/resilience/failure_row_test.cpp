#include "resilience/failure_row.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace spillway::resilience {
namespace {

FailureSource from(std::uint64_t client, std::uint64_t path) {
  return {.client = Random(client).next(), .path = Random(~path).next()};
}

// How many of a row count.
int counted(const std::vector<FailureSource>& row, bool is_another_well = false) {
  FailureRow failures;
  int sum = 0;
  for (const FailureSource& source : row) sum += failures.counts(source, is_another_well) ? 1 : 0;
  return sum;
}

}  // namespace

TEST_CASE("failed responses of one client, or of one path, count once in a row") {
  const struct {
    const char* what;
    FailureSource (*source)(std::uint64_t n);
    int counted;  // of six
  } table[] = {
      {"one client, one path", [](std::uint64_t) { return from(1, 1); }, 1},
      {"one client, a path each time", [](std::uint64_t n) { return from(1, n); }, 1},
      {"a client each time, one path", [](std::uint64_t n) { return from(n, 1); }, 1},
      {"a client and a path each time", [](std::uint64_t n) { return from(n, n); }, 6},
      {"two clients, each its path", [](std::uint64_t n) { return from(n % 2, n % 2); }, 2},
      {"two clients, a path each time", [](std::uint64_t n) { return from(n % 2, n); }, 2},
      {"two paths, a client each time", [](std::uint64_t n) { return from(n, n % 2); }, 2},
      {"three clients, each at both of two paths",
       [](std::uint64_t n) { return from(n % 3, n % 2); }, 2},
  };
  for (const auto& row : table) {
    CAPTURE(row.what);
    std::vector<FailureSource> failures;
    for (std::uint64_t n = 0; n < 6; ++n) failures.push_back(row.source(n));
    CHECK(counted(failures) == row.counted);
  }
}

TEST_CASE("one of ten repeated failures counts while another server is well, else none") {
  const std::vector<FailureSource> row(41, from(1, 1));
  CHECK(counted(row, true) == 5);
  CHECK(counted(row, false) == 1);
}

TEST_CASE("what succeeds at another server fails for this one alone: each failure counts") {
  FailureRow row;
  CHECK(row.counts(from(1, 1), false));
  CHECK_FALSE(row.counts(from(1, 1), false));
  CHECK((row.bits() & FailureRow::bits_of(from(1, 1))) != 0);
  row.succeeded_elsewhere(from(1, 1));
  CHECK(row.bits() == 0);
  for (int n = 0; n < 10; ++n) CHECK(row.counts(from(1, 1), false));
  // The same client at another path has not.
  CHECK_FALSE(row.counts(from(1, 2), false));
  row.succeeded_elsewhere(from(3, 2));
  CHECK_FALSE(row.counts(from(1, 2), false));
}

TEST_CASE("a path that succeeds at another server says nothing against clients that are new") {
  FailureRow row;
  CHECK(row.counts(from(1, 1), false));
  CHECK_FALSE(row.counts(from(2, 1), false));
  CHECK((row.bits() & FailureRow::bits_of(from(9, 1))) != 0);  // whoever asks for it
  row.succeeded_elsewhere(from(9, 1));
  CHECK(row.counts(from(3, 1), false));
  CHECK(row.counts(from(4, 1), false));
  CHECK_FALSE(row.counts(from(4, 1), false));  // one of the row
  CHECK_FALSE(row.counts(from(1, 2), false));
  // Another path that has not.
  CHECK(row.counts(from(5, 3), false));
  CHECK_FALSE(row.counts(from(6, 3), false));
}

TEST_CASE("a row that was ended is forgotten, and a long one remembers its last sources") {
  FailureRow row;
  CHECK(row.counts(from(1, 1), false));
  row.clear();
  CHECK(row.bits() == 0);
  CHECK(row.counts(from(1, 1), false));
  for (std::uint64_t n = 2; n < 2 + FailureRow::kSources; ++n) CHECK(row.counts(from(n, n), false));
  CHECK(row.counts(from(1, 1), false));        // eight others later
  CHECK_FALSE(row.counts(from(9, 9), false));  // one of the last eight
}

}  // namespace spillway::resilience
