// The demo that run.sh shows, shorter, on the programs of this build.
#include <doctest/doctest.h>

#include "files.hpp"

using namespace spillway::packaging;

namespace {

Finished show(const std::string& options) {
  return run("bench/demo/show.sh " + shell_quoted(kPrograms) + " --exit " + options);
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
  // The signal goes to the whole group, as that of Ctrl-C does.
  for (const std::string signal : {"INT", "TERM"}) {
    CAPTURE(signal);
    const Finished demo = run(std::string("timeout --preserve-status -s ") + signal +
                              " 4 bench/demo/show.sh " + shell_quoted(kPrograms));
    const auto urls = matches(demo.output, "http://127.0.0.1:[0-9]+");
    REQUIRE_MESSAGE(urls.size() == 4, demo.output);
    CHECK(demo.status != 0);
    for (const std::string& url : urls) {
      constexpr int kCouldNotConnect = 7;
      CHECK(run("curl --silent --max-time 5 " + url).status == kCouldNotConnect);
    }
  }
}
