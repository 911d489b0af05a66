// The scripts that users, CI and the Dockerfile run.
#include <unistd.h>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "files.hpp"

using namespace spillway::packaging;

namespace {

const std::vector<std::string> kScripts{"run.sh",
                                        "test.sh",
                                        ".ci/run",
                                        ".ci/nightly",
                                        "bench/conformance.sh",
                                        "bench/cost/cache-hit.sh",
                                        "bench/cost/run.sh",
                                        "bench/demo/show.sh",
                                        "bench/demo/waiting-room.sh",
                                        "bench/gate",
                                        "bench/hostile/run.sh",
                                        "bench/jobs/run.sh",
                                        "bench/micro/run.sh",
                                        "bench/overload/run.sh",
                                        "bench/profile.sh",
                                        "bench/run",
                                        "docker/install-deps.sh"};

bool has_line(const std::string& file, const std::string& line) {
  const auto all = lines(read(file));
  return std::find(all.begin(), all.end(), line) != all.end();
}

}  // namespace

TEST_CASE("every script is executable and sound bash and stops at the first error") {
  for (const std::string& script : kScripts) {
    CAPTURE(script);
    CHECK(access((kSource / script).c_str(), X_OK) == 0);
    CHECK(run("bash -n " + shell_quoted(kSource / script)).status == 0);
    CHECK(has_line(script, "set -euo pipefail"));
  }
}

TEST_CASE("only install-deps installs packages") {
  std::vector<std::string> others = kScripts;
  others.erase(std::find(others.begin(), others.end(), "docker/install-deps.sh"));
  others.push_back("docker/Dockerfile");
  for (const std::string& file : others) {
    CAPTURE(file);
    CHECK(
        matches(read(file), "\\b(apt|apt-get|aptitude|dpkg|pip3?|npm|snap|conan|vcpkg) ").empty());
  }
  CHECK(!matches(read("docker/install-deps.sh"), "\\bapt-get install").empty());
}

TEST_CASE("the two commands install and configure and build in this order") {
  CHECK(read("run.sh").find("docker/install-deps.sh build\n"
                            "cmake --preset release\n"
                            "cmake --build --preset release\n") != std::string::npos);
  CHECK(read("test.sh").find("docker/install-deps.sh develop\n"
                             "cmake --preset test\n"
                             "cmake --build --preset test\n"
                             "ctest --preset test \"$@\"\n") != std::string::npos);
}

TEST_CASE("CI runs the tests as a developer does and then both sanitizers") {
  const std::string ci = read(".ci/run");
  const auto tests = ci.find("./test.sh");
  const auto asan = ci.find("run_sanitized address integration wire");
  const auto tsan = ci.find("run_sanitized tsan cache overload resilience");
  REQUIRE(tests != std::string::npos);
  REQUIRE(asan != std::string::npos);
  REQUIRE(tsan != std::string::npos);
  CHECK(tests < asan);
  CHECK(asan < tsan);
}

TEST_CASE(
    "each night the sanitizers see the parts of the proxy and the soak and all that is random "
    "runs") {
  const std::string nightly = read(".ci/nightly");
  CHECK(nightly.find("run_sanitized asan cache config http observe proxy store traffic integration "
                     "wire") != std::string::npos);
  CHECK(nightly.find("DIFFERENTIAL_SECONDS=\"${2:-600}\"") != std::string::npos);
  CHECK(nightly.find("run_sanitized tsan cache overload proxy resilience integration") !=
        std::string::npos);
  CHECK(nightly.find("tests/system/soak/run.sh \"${1:-10}\"") != std::string::npos);
  CHECK(nightly.find("tests/fuzz/run.sh \"${2:-600}\"") != std::string::npos);
}

TEST_CASE("every preset that a script names exists") {
  const auto presets = nlohmann::json::parse(read("CMakePresets.json"));
  std::set<std::string> known;
  for (const auto& preset : presets.at("configurePresets")) {
    known.insert(preset.at("name").get<std::string>());
  }
  for (const std::string file : {"run.sh", "test.sh", ".ci/run", ".ci/nightly", "docker/Dockerfile",
                                 "README.md", "bench/micro/run.sh", "bench/build.sh",
                                 "bench/cost/run.sh", "bench/profile.sh", "tests/fuzz/run.sh"}) {
    for (const std::string& name : matches(read(file), "--preset ([a-z]+)")) {
      CAPTURE(file);
      CHECK_MESSAGE(known.count(name) == 1, "unknown preset " << name);
    }
  }
}

TEST_CASE("bad usage is refused with status 2 before anything is installed or built") {
  for (const std::string command : {"./run.sh --nonsense",
                                    "./run.sh --exit --exit",
                                    "./run.sh --config",
                                    "./run.sh --config /nonexistent/spillway.json",
                                    "./run.sh --waiting-room --nonsense",
                                    "./run.sh --exit --waiting-room",
                                    "bench/demo/waiting-room.sh",
                                    "bench/demo/show.sh",
                                    "bench/demo/show.sh /nonexistent",
                                    "bench/micro/run.sh --nonsense",
                                    "bench/micro/run.sh --quick --quick",
                                    "bench/profile.sh --nonsense",
                                    "bench/run --nonsense",
                                    "bench/gate --nonsense",
                                    "bench/waiting/run.sh --nonsense",
                                    "bench/waiting/run.sh --polls",
                                    "bench/hostile/run.sh --nonsense",
                                    "bench/hostile/run.sh --out",
                                    "bench/jobs/run.sh --nonsense",
                                    "bench/jobs/run.sh --out",
                                    "bench/overload/run.sh --nonsense",
                                    "bench/overload/run.sh --out",
                                    "tests/fuzz/run.sh a-minute",
                                    "tests/fuzz/run.sh 60 nonsense"}) {
    CAPTURE(command);
    const Finished finished = run(command);
    CHECK(finished.status == 2);
    CHECK(finished.output.find("cmake") == std::string::npos);
  }
  CHECK(run("docker/install-deps.sh everything").status == 2);
}

TEST_CASE("installing again what is there does nothing") {
  const Finished finished = run("docker/install-deps.sh develop");
  CHECK(finished.status == 0);
  CHECK(finished.output.empty());
}
