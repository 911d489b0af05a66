// The demo that run.sh shows, shorter, on the programs of this build.
#include <doctest/doctest.h>

#include "files.hpp"

using namespace spillway::packaging;

namespace {

Finished show(const std::string& options) {
  return run("bench/demo/show.sh " + shell_quoted(kPrograms) + " --exit " + options);
}

Finished show_waiting_room(const std::string& options) {
  return run("bench/demo/waiting-room.sh " + shell_quoted(kPrograms) + " --exit " + options);
}

// The signal goes to the whole group, as that of Ctrl-C does.
void check_that_it_ends_what_it_started(const std::string& script, std::size_t programs) {
  for (const std::string signal : {"INT", "TERM"}) {
    CAPTURE(signal);
    const Finished demo = run("timeout --preserve-status -s " + signal + " 4 bench/demo/" + script +
                              " " + shell_quoted(kPrograms));
    const auto urls = matches(demo.output, "http://127.0.0.1:[0-9]+");
    REQUIRE_MESSAGE(urls.size() == programs, demo.output);
    CHECK(demo.status != 0);
    for (const std::string& url : urls) {
      constexpr int kCouldNotConnect = 7;
      CHECK(run("curl --silent --max-time 5 " + url).status == kCouldNotConnect);
    }
  }
}

}  // namespace

TEST_CASE("the demo keeps P0 and sheds P2 during a spike") {
  const Finished demo = show("--calm-s 1 --spike-s 3 --recovery-s 1");
  CHECK_MESSAGE(demo.status == 0, demo.output);
  CHECK(demo.output.find("without Spillway") != std::string::npos);
  CHECK(demo.output.find("P1 degraded: ") != std::string::npos);
  CHECK(demo.output.find("P2 denied: ") != std::string::npos);
  CHECK(demo.output.find("Retry-After ") != std::string::npos);
  CHECK(demo.output.find("OVERLOADED") != std::string::npos);
}

TEST_CASE("the demo fails when there was nothing to shed") {
  const Finished demo = show("--spike 0.5 --calm-s 0 --spike-s 2 --recovery-s 0");
  CHECK_MESSAGE(demo.status == 1, demo.output);
}

TEST_CASE("the demo ends what it started when it is interrupted") {
  check_that_it_ends_what_it_started("show.sh", 4);
}

TEST_CASE("the crowd of the demo comes in through the waiting room, first come, first served") {
  const Finished demo = show_waiting_room("--visitors 45 --over-s 4");
  CHECK_MESSAGE(demo.status == 0, demo.output);
  CHECK(demo.output.find("0 called out of order") != std::string::npos);
  CHECK(demo.output.find("0 of nobody who was let in") != std::string::npos);
}

TEST_CASE("the demo of the waiting room fails when more come in than it is told to allow") {
  const Finished demo = show_waiting_room("--visitors 30 --over-s 2 --active-sessions 8");
  CHECK_MESSAGE(demo.status == 1, demo.output);
  CHECK(demo.output.find("NOT kept: the proxy had ") != std::string::npos);
  CHECK(demo.output.find("NOT kept: the site saw ") != std::string::npos);
}

TEST_CASE("the demo of the waiting room ends what it started when it is interrupted") {
  check_that_it_ends_what_it_started("waiting-room.sh", 3);
}
