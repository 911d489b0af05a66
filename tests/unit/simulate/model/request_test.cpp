#include "simulate/model/request.hpp"

#include <doctest/doctest.h>

namespace spillway::simulate {

TEST_CASE(
    "a request that was released is taken again as a new one and its former events are void") {
  RequestPool pool;
  Request& request = pool.acquire();
  request.demand.key = 7;
  request.client_waits = request.degraded = true;
  request.passage.in_flight = 3;
  request.as_job.emplace();
  const std::uint64_t use = request.use;
  pool.release(request);
  Request& again = pool.acquire();
  REQUIRE(&again == &request);
  CHECK(again.use != use);
  CHECK(again.demand.key == 0);
  CHECK_FALSE(again.client_waits);
  CHECK_FALSE(again.degraded);
  CHECK_FALSE(again.passage.in_flight);
  CHECK_FALSE(again.as_job);
}

}  // namespace spillway::simulate
