// The demo that run.sh shows, and the comparison with degraded answers, shorter and smaller, on the
// programs of this build.
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

TEST_CASE("of ten times the load degrading answers far more reads than denying") {
  const Finished load = run("bench/overload/cacheable-reads.sh --short " + shell_quoted(kPrograms) +
                            " --calm-s 2 --spike-s 3 --recovery-s 0");
  CHECK_MESSAGE(load.status == 0, load.output);  // P0 kept 99 %, P2 was shed
  // class, req/s, then of each run ok%, degr.%, p50, p99
  const std::string any_run = "\\| +[0-9.]+ +[0-9.]+ +[^ ]+ +[^ ]+ ";
  for (const std::string traffic_class : {"P1", "P2"}) {
    const std::string row = traffic_class + " +[0-9]+ ";
    const auto denying = matches(load.output, row + any_run + "\\| +([0-9.]+) ");
    const auto degrading = matches(load.output, row + any_run + any_run + "\\| +([0-9.]+) ");
    REQUIRE_MESSAGE(denying.size() == 1, load.output);
    REQUIRE_MESSAGE(degrading.size() == 1, load.output);
    CHECK(std::stod(denying[0]) < 10);
    CHECK(std::stod(degrading[0]) > 20);
  }
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
    REQUIRE_MESSAGE(urls.size() == 3, demo.output);
    CHECK(demo.status != 0);
    for (const std::string& url : urls) {
      constexpr int kCouldNotConnect = 7;
      CHECK(run("curl --silent --max-time 5 " + url).status == kCouldNotConnect);
    }
  }
}
