// What `spillway simulate` prints, writes and refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "repo/cli/command.hpp"

using namespace cli;

namespace {

// A few seconds of little traffic.
const std::string kShort = R"({
  "name": "short", "sentence": "Not much.", "seconds": 3, "warm_up_seconds": 1,
  "clients": [{ "class": "P0", "rate": 20 }],
  "config": { "upstreams": [{ "name": "app", "servers": ["127.0.0.1:3000"] }] }
})";

void check_refused(const std::string& arguments, std::string_view fragment) {
  CAPTURE(arguments);
  const Result result = run("simulate " + arguments);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK_MESSAGE(contains(result.err, fragment), result.err);
}

}  // namespace

TEST_CASE("simulate plays the spike with a line for each second and a summary") {
  const Result result = run("simulate");
  CHECK(result.code == 0);
  CHECK(result.err.empty());  // no progress line where nobody looks
  CHECK(contains(result.out, "spike: nearly twice what the backend can do"));
  CHECK(contains(result.out, "OVERLOADED"));
  CHECK(contains(result.out, "goodput"));
  CHECK(std::count(result.out.begin(), result.out.end(), '\n') > 60 + 10);
}

TEST_CASE("simulate with compare prints both runs") {
  const ScratchFile file("short.json", kShort);
  const std::string one = run("simulate --scenario " + file.path()).out;
  const std::string both = run("simulate --compare --scenario " + file.path()).out;
  CHECK_FALSE(contains(one, "without"));
  CHECK(contains(both, "without"));
  CHECK(contains(both, " sec  state         with     w/o"));
}

TEST_CASE("simulate gives the same bytes for the same seed") {
  const ScratchFile file("short.json", kShort);
  const std::string command = "simulate --json --compare --scenario " + file.path();
  const std::string first = run(command).out;
  CHECK(run(command).out == first);
  CHECK(run(command + " --seed 1").out == first);
  CHECK(run(command + " --seed 2").out != first);
}

TEST_CASE("simulate prints JSON and nothing else if asked to") {
  const ScratchFile file("short.json", kShort);
  const auto one = nlohmann::json::parse(run("simulate --json --scenario " + file.path()).out);
  CHECK(one["scenario"] == "short");
  CHECK(one["seconds"].size() == 3);
  const auto both =
      nlohmann::json::parse(run("simulate --json --compare --scenario " + file.path()).out);
  CHECK(both["with_shedding"] == one);
  CHECK(both["without_shedding"]["shedding"] == false);
}

TEST_CASE("simulate compares with and without deferral where requests can be deferred") {
  const std::string both = run("simulate --compare --scenario daily-peak").out;
  CHECK(contains(both, "with deferral"));
  CHECK(contains(both, "without deferral"));
  CHECK(contains(both, "most pending"));
  const auto json =
      nlohmann::json::parse(run("simulate --json --compare --scenario daily-peak").out);
  CHECK(json["with_deferral"]["jobs"]["deferred"] > 7000);
  CHECK(json["without_deferral"]["shedding"] == true);
  CHECK_FALSE(json["without_deferral"].contains("jobs"));
}

TEST_CASE("simulate writes a picture") {
  const ScratchFile file("short.json", kShort), picture("picture.svg");
  const Result result = run("simulate --scenario " + file.path() + " --plot " + picture.path());
  CHECK(result.code == 0);
  CHECK(picture.text().starts_with("<"));
  CHECK(contains(picture.text(), "</svg>"));
  CHECK(contains(picture.text(), "short"));
}

TEST_CASE("simulate lists the built-in scenarios") {
  const Result result = run("simulate --list");
  CHECK(result.code == 0);
  for (const char* name :
       {"spike ", "slow-backend ", "capacity-drop ", "noisy-tenant ", "retry-storm ", "bursty ",
        "mix-shift ", "latency-target ", "number-too-high ", "number-too-low ", "budget ", "lag ",
        "error-burst ", "cached-reads ", "failing-client "}) {
    CHECK(contains(result.out, name));
  }
}

TEST_CASE("simulate prints the reference table of its scenario files") {
  const Result result = run("simulate --reference");
  CHECK(result.code == 0);
  CHECK(source("config/scenarios/README.md").find(result.out) != std::string::npos);
  CHECK(contains(result.out, "| `clients[].rate` | required |"));
}

TEST_CASE("simulate plays the operator's own configuration") {
  const ScratchFile file("short.json", kShort);
  const Result result = run("simulate --json --scenario " + file.path() + " --config " + kShipped);
  CHECK(result.code == 0);
  CHECK(nlohmann::json::parse(result.out)["classes"].size() == 3);
  const ScratchFile own("own.json", R"({"upstreams":[{"name":"a","servers":["h:1"]}],
                                        "classes":[{"name":"gold"},{"name":"dust"}]})");
  const Result ranked = run("simulate --config " + own.path());
  CHECK(ranked.code == 0);
  CHECK(contains(ranked.err, "warning: $.clients[0].class: the configuration has no class \"P0\""));
  CHECK(contains(ranked.out, "gold"));
}

TEST_CASE("simulate says how large the model is and what contradicts it") {
  const ScratchFile own("own.json", R"({"upstreams":[{"name":"app","servers":["127.0.0.1:3000"]}],
      "dispatch":{"concurrency":64}})");
  const Result fitted = run("simulate --config " + own.path());
  CHECK(fitted.err.empty());
  CHECK(contains(fitted.out,
                 "spike: backend: 64 slots x 250 ms, that is 256 requests/s; offered: "
                 "480 requests/s, 1.88 of it\n(slots x 0.64, rates x 0.64: to the "
                 "configuration's concurrency of 64"));
  const Result told =
      run("simulate --config " + own.path() + " --slots 40 --service-ms 100 --rps 600");
  CHECK(contains(told.out, "40 slots x 100 ms, that is 400 requests/s; offered: 600 requests/s"));
  CHECK(contains(told.err, "warning: $.upstreams[0].dispatch.concurrency: 64 is above the"));
  // "auto" names no size.
  CHECK(contains(run("simulate --config " + kShipped).out, "spike: backend: 100 slots x 250 ms"));
  CHECK(contains(run("simulate --help").out, "A built-in scenario is a shape."));
  check_refused("--slots 0", "--slots");
}

TEST_CASE("simulate replays an access log") {
  const std::string line =
      R"({"time":"2026-11-23T10:00:0N.500Z","event":"access","route":"checkout","class":"P0",)"
      R"("tenant":"a","outcome":"forwarded","wait_ms":0,"duration_ms":30})";
  std::string text;
  for (const char digit : {'1', '2', '3', '4', '5', '6'}) {
    text += line + '\n';
    text[text.rfind('N')] = digit;
  }
  const ScratchFile log("access.log", text), bad("bad.log", text + "not JSON\n");
  const std::string unsized = " --config " + kShipped, with = unsized + " --slots 64";
  const Result result = run("simulate --from-log " + log.path() + with + " --json");
  CHECK_MESSAGE(result.code == 0, result.err);
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json["scenario"] == "log");
  CHECK(json["backend"]["service_ms"] == 30);
  CHECK(json["seconds"][2]["classes"][0]["offered"] == 1);
  check_refused("--from-log " + bad.path() + with, bad.path() + ":7: no JSON object");
  check_refused("--from-log " + log.path(), "error: --config: missing");
  check_refused("--from-log " + log.path() + unsized, "error: --slots: missing");
  check_refused("--from-log /nonexistent.log" + with, "cannot read");
  check_refused("--from-log " + log.path() + with + " --scenario spike", "excludes");
}

TEST_CASE("simulate refuses a bad scenario with every error") {
  check_refused("--scenario spikes", "did you mean \"spike\"?");
  check_refused("--scenario /nonexistent.json", "cannot read");
  check_refused("--seed many", "many");
  check_refused("--config /nonexistent.json", "cannot read");
  const ScratchFile bad("bad.json", R"({"name":"x","sentence":"y","second":3,
      "clients":[{"class":"P9","rate":-1}],
      "config":{"upstreams":[{"name":"a","servers":["h"]}]}})");
  check_refused("--scenario " + bad.path(), "error: $.second: unknown key");
  check_refused("--scenario " + bad.path(), "error: $.clients[0].rate: found -1");
  check_refused("--scenario " + bad.path(), "error: $.config.upstreams[0].servers[0]: found \"h\"");
  check_refused("--scenario " + bad.path(), "3 error(s)");
}

TEST_CASE("simulate says at once that a picture cannot be written and fails") {
  const Result result = run("simulate --plot /nonexistent/picture.svg");
  CHECK(result.code == 1);
  CHECK(result.out.empty());
  CHECK(contains(result.err, "/nonexistent/picture.svg: cannot write"));
  CHECK(run("simulate --plot /dev/full >/dev/null").code == 1);
  const ScratchFile pipe("picture");  // that no one reads
  REQUIRE(run_shell("rm " + pipe.path() + " && mkfifo " + pipe.path()).code == 0);
  CHECK(contains(run("simulate --plot " + pipe.path()).err, "cannot write"));
  CHECK(run("simulate >/dev/full").code == 1);
}
