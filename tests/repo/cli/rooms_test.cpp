// `spillway rooms` without a proxy: what it refuses.
#include <doctest/doctest.h>

#include <string>

#include "repo/cli/command.hpp"

using namespace cli;

TEST_CASE("rooms refuses arguments that are wrong before it asks anything") {
  const std::string id = "00112233445566778899aabbccddeeff";
  for (const std::string& arguments :
       {std::string("rooms"), std::string("rooms show"), std::string("rooms show sale x"),
        std::string("rooms call sale --count 0"), std::string("rooms call sale --count 51"),
        std::string("rooms cancel sale"), "rooms move sale " + id.substr(1),
        "rooms move sale " + id + " --to 0", "rooms move sale " + id + " --to back",
        "rooms move sale " + id + " --to 999999999", std::string("rooms message sale x --ends y"),
        std::string("rooms message sale --ends --goes-on"),
        std::string("rooms message sale x --yes"), std::string("rooms replace-secret --yes"),
        std::string("rooms list --admin 127.0.0.1:9090"),
        std::string("rooms list --token-file /nonexistent/token")}) {
    CAPTURE(arguments);
    const Result result = run(arguments);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK_FALSE(result.err.empty());
  }
}

TEST_CASE("rooms says what an open room is, and that --ends ends all tickets at once") {
  CHECK(contains(run("rooms list --help").out, "A room that is"));
  CHECK(contains(run("rooms message --help").out, "ends all tickets at once"));
}

TEST_CASE("rooms fails with a sentence where no proxy listens") {
  const Result result = run("rooms list --admin http://127.0.0.1:1");
  CHECK(result.code == 1);
  CHECK(contains(result.err, "error: cannot ask the admin listener at 127.0.0.1:1: "));
  CHECK(contains(result.err, "; --admin URL names another one"));
}
