#include "bench/load/ending.hpp"

#include <doctest/doctest.h>

using namespace spillway::load;

TEST_CASE("an answer counts as ok or denied or failed by its status") {
  CHECK(ending_of(200, "", "", "").fate == Fate::ok);
  CHECK(ending_of(204, "", "", "").fate == Fate::ok);
  CHECK(ending_of(429, "", "", "").fate == Fate::denied);
  CHECK(ending_of(503, "", "", "").fate == Fate::denied);
  for (const unsigned status : {301U, 400U, 404U, 500U, 502U, 504U}) {
    CHECK(ending_of(status, "", "", "").fate == Fate::failed);
  }
  CHECK(ending_of(502, "", "", "").cause == "status 502");
}

TEST_CASE("a denial carries its reason and when to come back") {
  const auto denied =
      ending_of(503, R"(spillway; error=http_request_denied; details="QUEUE_WAIT_RISK")", "6", "");
  CHECK(denied.cause == "QUEUE_WAIT_RISK");
  CHECK(denied.retry_after == 6);
  CHECK(ending_of(503, "", "", "").cause == "no reason given");
  CHECK_FALSE(ending_of(503, "", "", "").retry_after.has_value());
  CHECK_FALSE(ending_of(503, "", "soon", "").retry_after.has_value());
  CHECK_FALSE(ending_of(503, "", "5x", "").retry_after.has_value());
}

TEST_CASE("a degraded answer is a success that says how it was made") {
  const auto stale = ending_of(200, "", "", "mode=stale_ok; reason=TAIL_LATENCY");
  CHECK(stale.fate == Fate::ok);
  CHECK(stale.degraded == "stale_ok");
  CHECK(ending_of(204, "", "", "mode=cache_only").degraded == "cache_only");
  CHECK(ending_of(200, "", "", "strange").degraded == "no mode given");
  CHECK(ending_of(200, "", "", "").degraded.empty());
}

TEST_CASE("a failure or a denial is not made good by being degraded") {
  const auto failed = ending_of(500, "", "", "mode=skip_downstream; reason=TAIL_LATENCY");
  CHECK(failed.fate == Fate::failed);
  CHECK(failed.degraded.empty());
  CHECK(ending_of(503, "", "", "mode=cache_only").degraded.empty());
}
