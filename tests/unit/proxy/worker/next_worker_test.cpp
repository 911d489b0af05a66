#include "proxy/worker/next_worker.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace spillway::proxy {

using namespace std::chrono_literals;

TEST_CASE("the next connection goes to the worker with the fewest that keeps up") {
  const auto next = [](const std::vector<WorkerLoad>& workers) { return next_worker(workers); };
  CHECK(next({{0, 0ms}}) == 0);
  CHECK(next({{0, 5s}}) == 0);
  CHECK(next({{2, 0ms}, {1, 0ms}, {1, 0ms}}) == 1);
  CHECK(next({{2, 0ms}, {1, 99ms}, {3, 0ms}}) == 1);
  CHECK(next({{2, 0ms}, {1, 100ms}, {3, 0ms}}) == 0);
  CHECK(next({{2, 300ms}, {1, 399ms}, {3, 400ms}}) == 1);
  CHECK(next({{2, 300ms}, {1, 400ms}, {3, 300ms}}) == 0);
}

}  // namespace spillway::proxy
