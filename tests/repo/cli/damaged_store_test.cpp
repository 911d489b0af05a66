// Files of a store that Spillway cannot read: it does not start, says which, and leaves them alone.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "repo/cli/command.hpp"
#include "support/temporary_directory.hpp"

using namespace cli;

namespace {

const std::string kDiary = "dear diary, " + std::string(5000, '.');

// `route`: members of a route, without the braces.
std::string settings(const std::filesystem::path& file, std::string_view route) {
  return R"({"listen": {"port": 0}, "admin": {"port": 0},
    "upstreams": [{"name": "a", "servers": ["127.0.0.1:1"]}],
    "store": {"url": "sqlite:)" +
         file.string() + R"("}, "routes": [{"name": "sale", "match": {"path": "/sale"}, )" +
         std::string(route) + "}]}";
}

void check_refused(const std::string& configuration, const std::filesystem::path& damaged) {
  const ScratchFile file("damaged.json", configuration);
  const Result result = run("run --config " + file.path());
  CAPTURE(result.err);
  CHECK(result.code == 1);
  CHECK(contains(result.err, damaged.string() + " is not a SQLite file"));
  CHECK(text_of(damaged) == kDiary);
}

}  // namespace

TEST_CASE("run refuses a file of deferred requests that is no store, and leaves it as it is") {
  const spillway::support::TemporaryDirectory directory;
  const auto damaged = directory.write("jobs.db", kDiary);
  check_refused(settings(damaged, R"("defer": {})"), damaged);
}

TEST_CASE("run does not wait for a writer of what is named like its store") {
  const spillway::support::TemporaryDirectory directory;
  const std::string pipe = (directory.path() / "spillway.db").string();
  REQUIRE(run_shell("mkfifo " + pipe).code == 0);
  const auto damaged = directory.write("spillway-places.db", kDiary);  // so that it ends
  std::string configuration = settings("unused", R"("waiting_room": {})");
  const std::string named = R"("store": {"url": "sqlite:unused"}, )";
  configuration.erase(configuration.find(named), named.size());
  const ScratchFile file("pipe.json", configuration);
  const Result result =
      run_shell("STATE_DIRECTORY=" + directory.path().string() + " " +
                spillway::support::in_build("spillway") + " run --config " + file.path());
  CAPTURE(result.err);
  CHECK(result.code == 1);
  CHECK(contains(result.err, damaged.string() + " is not a SQLite file"));
}

TEST_CASE("run refuses a file of places that is no store, and leaves it as it is") {
  const spillway::support::TemporaryDirectory directory;
  const auto damaged = directory.write("jobs-places.db", kDiary);
  check_refused(settings(directory.path() / "jobs.db", R"("waiting_room": {})"), damaged);
}
