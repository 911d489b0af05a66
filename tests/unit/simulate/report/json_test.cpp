#include "simulate/report/json.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "unit/simulate/recordings.hpp"

namespace spillway::simulate {
namespace {

std::string keys(const nlohmann::ordered_json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) text += (text.empty() ? "" : " ") + key;
  return text;
}

}  // namespace

TEST_CASE("a recording as JSON has all of its data in a stable order") {
  Recording run = made_up_spike(true);
  run.tenants = {{"acme", 10, 9}};
  const auto json = to_json(run);
  CHECK(keys(json) ==
        "scenario sentence backend seed shedding duration_ms warm_up_ms goodput wasted max_queued "
        "p95_ms "
        "jain classes tenants changes seconds");
  CHECK(keys(json["backend"]) == "slots service_ms capacity_rps offered_rps load");
  CHECK(keys(json["classes"][0]) ==
        "name offered admitted degraded denied expired failed served cached late would_deny "
        "success p50_ms "
        "p95_ms "
        "p99_ms "
        "max_wait_ms");
  CHECK(keys(json["tenants"][0]) == "name offered served");
  CHECK(keys(json["changes"][0]) == "at_ms to reason");
  CHECK(keys(json["seconds"][0]) == "state reason queued running p95_ms classes");
  CHECK(keys(json["seconds"][0]["classes"][0]) ==
        "offered admitted degraded denied expired failed served cached late would_deny queued");
  CHECK(json["seconds"].size() == 60);
  CHECK(json["seconds"][20]["state"] == "OVERLOADED");
  CHECK(json["seconds"][20]["reason"] == "QUEUE_WAIT_RISK");
  CHECK(json["seconds"][20]["classes"][2]["denied"] == run.seconds[20].classes[2].denied);
  CHECK(json["seconds"][20]["classes"][2]["queued"] == run.seconds[20].class_queued[2]);
  CHECK(json["classes"][0]["p95_ms"] == 48.0);
  CHECK(json["changes"][1]["at_ms"] == 12100.0);
  CHECK(json["duration_ms"] == 60000.0);
  CHECK(json.dump() == to_json(run).dump());
}

TEST_CASE("durations are milliseconds to the microsecond and shares have six digits") {
  Recording run = made_up_run(1, 1);
  run.p95 = 0.0123456789;
  run.goodput = 2.0 / 3;
  const auto json = to_json(run);
  CHECK(json["p95_ms"].dump() == "12.346");
  CHECK(json["goodput"].dump() == "0.666667");
}

TEST_CASE("missing values are null") {
  Recording run = made_up_run(1, 1);
  run.classes[0].counts.served = 0;
  run.seconds[0].classes[0].served = 0;
  run.seconds[0].class_queued.clear();
  run.goodput = std::numeric_limits<double>::quiet_NaN();
  run.changes = {{0.5, State::normal, Reason::none}};
  const auto json = to_json(run);
  CHECK(json["p95_ms"].is_null());
  CHECK(json["jain"].is_null());
  CHECK(json["goodput"].is_null());
  CHECK(json["classes"][0]["p99_ms"].is_null());
  CHECK(json["seconds"][0]["p95_ms"].is_null());
  CHECK(json["seconds"][0]["reason"].is_null());
  CHECK(json["seconds"][0]["classes"][0]["queued"].is_null());
  CHECK(json["changes"][0]["reason"].is_null());
}

TEST_CASE("an empty recording as JSON has empty lists") {
  const auto json = to_json(Recording{});
  for (const char* list : {"classes", "tenants", "changes", "seconds"}) {
    CAPTURE(list);
    CHECK(json[list].dump() == "[]");
  }
}

}  // namespace spillway::simulate
