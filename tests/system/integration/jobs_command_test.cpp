// `spillway jobs` on a proxy that runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "base/time_text.hpp"
#include "repo/cli/command.hpp"
#include "system/integration/jobs_operator.hpp"

using namespace spillway::support;
using cli::contains;
using nlohmann::json;

namespace {

struct Terminal {
  const ProxyUnderTest& proxy;

  cli::Result run(const std::string& arguments, int code = 0) const {
    const std::size_t end = arguments.find(' ');
    cli::Result result =
        cli::run("jobs " + arguments.substr(0, end) +
                 " --admin http://127.0.0.1:" + std::to_string(proxy.admin_port()) +
                 (end == std::string::npos ? "" : arguments.substr(end)));
    CAPTURE(arguments);
    CAPTURE(result.out);
    CAPTURE(result.err);
    CHECK(result.code == code);
    CHECK(result.err.empty() == (code == 0));
    return result;
  }
};

}  // namespace

TEST_CASE("the command line lists, shows, replays and purges dead letters") {
  RejectingBackend backend;
  ProxyUnderTest proxy(backend.peer.address(), deferring());
  const Operator desk{proxy.admin_port()};
  const Terminal terminal{proxy};
  const std::string id = defer(proxy.port(), "/export/1", "the body", "Cookie: hush\r\n");
  defer(proxy.port(), "/mail/2");
  REQUIRE(desk.come_to(2, "state=dead"));

  const std::string listed = terminal.run("list --route export").out;
  CHECK(listed.starts_with("ID "));
  CHECK(contains(listed, id));
  CHECK(contains(listed, "POST /export/1\n"));
  CHECK_FALSE(contains(listed, "/mail/2"));
  CHECK(contains(terminal.run("list --limit 1").out, "There may be more: --after " + id));
  CHECK(contains(terminal.run("list --after " + id).out, "/mail/2"));
  CHECK(json::parse(terminal.run("list --json").out).at("jobs").size() == 2);

  const std::string shown = terminal.run("show " + id).out;
  CHECK(contains(shown, "the body"));
  CHECK(contains(shown, "rejected"));
  CHECK_FALSE(contains(shown, "hush"));
  CHECK(json::parse(terminal.run("show " + id + " --json").out).at("id") == id);

  backend.accepts = true;
  const std::string dry = terminal.run("replay --route export --per-second 5").out;
  CHECK(contains(dry, "1 job would be replayed:\n  " + id));
  CHECK(contains(dry, " --route export --per-second 5.0 --limit 1 --yes\n"));
  CHECK(desk.get("/jobs?state=dead").at("jobs").size() == 2);
  CHECK(terminal.run("replay --route export --limit 1 --yes").out == "1 job replayed.\n");
  REQUIRE(desk.come_to(1, "state=succeeded"));

  CHECK(contains(terminal.run("purge").out, "2 jobs would be purged.\nNothing was changed."));
  CHECK(terminal.run("purge " + id + " --yes").out == "1 job purged.\n");
  CHECK(terminal.run("purge --state dead --limit 5 --yes").out == "1 job purged.\n");
  CHECK(desk.get("/jobs").at("jobs").empty());
}

TEST_CASE("the command line replays and purges all, however many they are, at one rate") {
  constexpr int kJobs = 10'003;  // 10,000 are one step
  const RefusingPort refusing;
  json settings = deferring();
  settings["routes"][0]["defer"]["ttl_ms"] = 1000;
  ProxyUnderTest proxy(refusing.address(), settings);
  const Operator desk{proxy.admin_port()};
  const Terminal terminal{proxy};
  RawClient client(proxy.port());
  Message accepted;
  for (int left = kJobs, some = 0; left > 0; left -= some) {
    some = std::min(left, 100);
    std::string requests;
    for (int n = 0; n < some; ++n) requests += post("/export/1", "x");
    client.send(requests);
    for (int n = 0; n < some; ++n) {
      accepted = client.read_response();
      REQUIRE(accepted.status() == 202);
    }
  }
  const std::string last = json::parse(accepted.body).at("id");
  const Deadline deadline;
  while (proxy.metric("spillway_jobs_expired_total") < kJobs && !deadline.passed()) {
  }
  CHECK(contains(terminal.run("replay").out, "At least 10000 jobs would be replayed"));
  CHECK(contains(terminal.run("replay --all").out, " --all --yes\n"));
  terminal.run("replay --all --limit 1", 2);
  const auto began = std::chrono::system_clock::now();
  CHECK(terminal.run("replay --all --per-second 50 --ttl-ms 3600000 --yes").out ==
        "10003 jobs replayed.\n");
  CHECK(proxy.metric("spillway_jobs_replayed_total") == kJobs);
  const auto due = spillway::parse_time(desk.get("/jobs/" + last).at("due_at").get<std::string>());
  REQUIRE(due);
  CHECK_MESSAGE(*due - began >= std::chrono::milliseconds(20 * (kJobs - 1)),
                "the last step begins where the one before ends");
  CHECK(terminal.run("replay --all --yes").out == "0 jobs replayed.\n");
}

TEST_CASE("what a client wrote does not turn or hide what the operator's terminal shows") {
  RejectingBackend backend;
  ProxyUnderTest proxy(backend.peer.address(), deferring());
  const Operator desk{proxy.admin_port()};
  const Terminal terminal{proxy};
  // RLO, an isolate, a line separator, zero width, CSI in C1; an umlaut stays.
  const std::string deceptive = "\u202ea\u2066b\u2028c\u200bd\u009b31me\u00e9";
  const std::string shown = "?a?b?c?d?31me\u00e9";
  const std::string id =
      defer(proxy.port(), "/export/" + deceptive, deceptive, "X-Note: " + deceptive + "\r\n");
  REQUIRE(desk.come_to(1, "state=dead"));
  CHECK(contains(terminal.run("list").out, "POST /export/" + shown + "\n"));
  const std::string job = terminal.run("show " + id).out;
  CHECK(contains(job, "X-Note: " + shown + "\n"));
  CHECK(contains(job, "body\n" + shown + "\n"));
}

TEST_CASE("the command line tells what went wrong by text and exit code") {
  RejectingBackend backend;
  ProxyUnderTest proxy(backend.peer.address(), deferring({{"admin", {{"token", "hush-hush"}}}}));
  const Terminal terminal{proxy};
  const cli::ScratchFile token("token", "hush-hush\n");
  const cli::ScratchFile wrong("wrong-token", "hush-hash\n");
  const std::string with = " --token-file " + token.path();
  CHECK(contains(terminal.run("list", 1).err, "answers 401"));
  CHECK(contains(terminal.run("list --token-file " + wrong.path(), 1).err, "answers 401"));
  CHECK(contains(terminal.run("list" + with).out, "ID "));
  CHECK(contains(terminal.run("list --state deed" + with, 2).err, "\"state\" must be one of"));
  CHECK(contains(terminal.run("purge --limit 5 --yes --route ''" + with, 2).err,
                 "\"route\" must not be empty"));
  const std::string id(32, '0');
  CHECK(contains(terminal.run("show " + id + with, 1).err, "there is no such job"));
  CHECK(contains(terminal.run("cancel " + id + with, 1).err, "there is no such job"));
}

TEST_CASE("the command line cancels a job that waits") {
  RejectingBackend backend;
  ProxyUnderTest proxy(backend.peer.address(), deferring());
  const Operator desk{proxy.admin_port()};
  const Terminal terminal{proxy};
  defer(proxy.port(), "/export/1");
  const std::string id = defer(proxy.port(), "/export/2");
  REQUIRE(desk.come_to(2, "state=dead"));
  desk.post("/jobs/replay", {{"dry_run", false}, {"limit", 2}, {"per_second", 0.001}});
  CHECK(terminal.run("cancel " + id).out == "Cancelled.\n");
  REQUIRE(desk.come_to(1, "state=cancelled"));
}
