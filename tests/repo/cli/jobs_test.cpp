// `spillway jobs` without a proxy: what it refuses.
#include <doctest/doctest.h>

#include <string>

#include "repo/cli/command.hpp"

using namespace cli;

namespace {

const std::string kId = "00112233445566778899aabbccddeeff";

}  // namespace

TEST_CASE("jobs refuses arguments that are wrong before it asks anything") {
  for (const std::string& arguments :
       {std::string("jobs"), std::string("jobs list extra"), std::string("jobs show"),
        std::string("jobs show x"), std::string("jobs show ''"), std::string("jobs cancel"),
        std::string("jobs purge ''"), "jobs replay " + kId.substr(1),
        std::string("jobs list --limit x"), std::string("jobs list --limit 0"),
        std::string("jobs purge --per-second 1"),
        std::string("jobs list --admin https://127.0.0.1:9090"),
        std::string("jobs list --admin 127.0.0.1:9090"),
        std::string("jobs list --admin http://127.0.0.1:9090/jobs"),
        std::string("jobs list --token-file /nonexistent/token")}) {
    CAPTURE(arguments);
    const Result result = run(arguments);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK_FALSE(result.err.empty());
  }
}

TEST_CASE("jobs does not wait for a writer of the token's file") {
  const ScratchFile token("token");
  REQUIRE(run_shell("rm " + token.path() + " && mkfifo " + token.path()).code == 0);
  const Result result = run("jobs list --token-file " + token.path());
  CHECK(result.code == 2);
  CHECK(contains(result.err, token.path() + " cannot be read"));
}

TEST_CASE("jobs does nothing in earnest without a limit, an id or --all") {
  for (const std::string action : {"replay", "purge"}) {
    const Result result = run("jobs " + action + " --state dead --yes");
    CHECK(result.code == 2);
    CHECK(contains(result.err, "--yes needs --limit or --all, or the ID of one job"));
  }
}

TEST_CASE("jobs fails with a sentence where no proxy listens") {
  const Result result = run("jobs list --admin http://127.0.0.1:1");
  CHECK(result.code == 1);
  CHECK(contains(result.err, "error: cannot ask the admin listener at 127.0.0.1:1: "));
}
