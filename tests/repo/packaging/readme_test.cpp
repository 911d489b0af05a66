// What the README tells a reader to do must work.
#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

#include "files.hpp"

using namespace spillway::packaging;
namespace fs = std::filesystem;

TEST_CASE("the two commands of the README are there") {
  const std::string text = read("README.md");
  for (const std::string command : {"./run.sh", "./test.sh"}) {
    CHECK(text.find(command) != std::string::npos);
    CHECK(access((kSource / command).c_str(), X_OK) == 0);
  }
}

TEST_CASE("every file that a README links to exists") {
  for (const std::string readme :
       {"README.md", "docker/README.md", "bench/README.md", "bench/demo/README.md",
        "bench/micro/README.md", "tests/repo/packaging/README.md"}) {
    for (const std::string& target : matches(read(readme), "\\]\\(([^)#]+)\\)")) {
      if (target.starts_with("http")) continue;
      CAPTURE(readme);
      CHECK_MESSAGE(fs::exists((kSource / readme).parent_path() / target), target);
    }
  }
}

TEST_CASE("every configuration that the README shows is accepted") {
  const auto blocks = matches(read("README.md"), "```jsonc?\n([^`]*)```");
  REQUIRE(!blocks.empty());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const fs::path file =
        fs::temp_directory_path() / ("spillway-readme-" + std::to_string(getpid()) + ".json");
    std::ofstream(file) << blocks[i];
    const Finished checked =
        run(shell_quoted(kPrograms / "spillway") + " check --config " + shell_quoted(file));
    fs::remove(file);
    CHECK_MESSAGE(checked.status == 0, checked.output);
  }
}

TEST_CASE("every package that the README gives a reason for is in the one list") {
  const std::string list = read("docker/install-deps.sh");
  const std::string text = read("README.md");
  const auto from = text.find("## Dependencies");
  REQUIRE(from != std::string::npos);
  const auto section = text.substr(from, text.find("\n## ", from + 1) - from);
  const auto named = matches(section, "\\| `([^|]+)` \\|");
  CHECK(named.size() >= 10);
  for (const std::string& cell : named) {
    for (const std::string& package : matches(cell, "[a-z0-9.+-]+")) {
      CHECK_MESSAGE(
          !matches(list, "\\s" + std::string(package == "g++" ? "g\\+\\+" : package) + "\\s")
               .empty(),
          package);
    }
  }
}
