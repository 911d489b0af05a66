// What the README tells a reader to do must work, and every link of the documentation must lead
// somewhere.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cctype>
#include <fstream>
#include <set>

#include "files.hpp"

using namespace spillway::packaging;
namespace fs = std::filesystem;

namespace {

// Every Markdown file of the repository, relative to its root, without build trees.
std::vector<fs::path> documents() {
  std::vector<fs::path> found;
  for (auto at = fs::recursive_directory_iterator(kSource); at != fs::end(at); ++at) {
    const std::string name = at->path().filename().string();
    if (at->is_directory() && (name.starts_with('.') || name == "build"))
      at.disable_recursion_pending();
    if (name.ends_with(".md")) found.push_back(fs::relative(at->path(), kSource));
  }
  return found;
}

// The lines of a Markdown text outside fenced code.
std::vector<std::string> prose(const std::string& text) {
  std::vector<std::string> found;
  bool is_code = false;
  for (const std::string& line : lines(text)) {
    if (line.starts_with("```"))
      is_code = !is_code;
    else if (!is_code)
      found.push_back(line);
  }
  return found;
}

// The anchor that GitHub gives a heading: lower case, hyphens for blanks, no punctuation.
std::string anchor(const std::string& heading) {
  std::string made;
  for (const unsigned char c : heading) {
    if (std::isalnum(c) != 0 || c == '-' || c == '_') made += static_cast<char>(std::tolower(c));
    if (c == ' ') made += '-';
  }
  return made;
}

std::set<std::string> anchors(const fs::path& document) {
  std::set<std::string> found;
  for (const std::string& line : prose(read(document))) {
    const auto text = line.find_first_not_of('#');
    if (text == 0 || text == std::string::npos || line[text] != ' ') continue;
    found.insert(anchor(line.substr(text + 1)));
  }
  return found;
}

// What the links of a document lead to, except other sites.
std::vector<std::string> links(const fs::path& document) {
  std::vector<std::string> found;
  for (const std::string& line : prose(read(document))) {
    const std::string without_code = std::regex_replace(line, std::regex("`[^`]*`"), "");
    for (const std::string& target : matches(without_code, "\\]\\(([^)\\s]+)\\)"))
      if (!target.starts_with("http")) found.push_back(target);
  }
  return found;
}

// True if the target of a link in a document is a file, and its anchor one of its headings.
bool leads_somewhere(const fs::path& document, const std::string& target) {
  const auto hash = target.find('#');
  const fs::path file = hash == 0 ? document : document.parent_path() / target.substr(0, hash);
  if (!fs::exists(kSource / file)) return false;
  return hash == std::string::npos || anchors(file).contains(target.substr(hash + 1));
}

}  // namespace

TEST_CASE("the two commands of the README are there") {
  const std::string text = read("README.md");
  for (const std::string command : {"./run.sh", "./test.sh"}) {
    CHECK(text.find(command) != std::string::npos);
    CHECK(access((kSource / command).c_str(), X_OK) == 0);
  }
}

TEST_CASE("every link of the documentation leads to a file and to a heading in it") {
  const std::vector<fs::path> all = documents();
  CHECK(all.size() > 30);
  std::size_t followed = 0;
  for (const fs::path& document : all) {
    for (const std::string& target : links(document)) {
      CHECK_MESSAGE(leads_somewhere(document, target), document.string(), ": ", target);
      ++followed;
    }
  }
  CHECK(followed > 50);
}

TEST_CASE("a link to a missing file or heading is found") {
  CHECK(leads_somewhere("README.md", "docs/README.md#words"));
  CHECK(leads_somewhere("docs/README.md", "#words"));
  CHECK(!leads_somewhere("README.md", "docs/missing.md"));
  CHECK(!leads_somewhere("README.md", "docs/README.md#missing"));
  CHECK(!leads_somewhere("docs/README.md", "#missing"));
}

TEST_CASE("the README is at most 140 lines long") { CHECK(lines(read("README.md")).size() <= 140); }

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

TEST_CASE("operations.md names every key that takes a restart") {
  const auto keys = matches(read("src/config/file/reload.cpp"), "\"\\$\\.([a-z_.]+)\"");
  CHECK(keys.size() >= 10);
  const std::string text = read("docs/operations.md");
  const auto from = text.find("\n## Reload\n");
  REQUIRE(from != std::string::npos);
  const std::string section = text.substr(from, text.find("\n## ", from + 1) - from);
  for (const std::string& key : keys)
    CHECK_MESSAGE(section.find('`' + (key == "routes" ? "defer" : key) + '`') != std::string::npos,
                  key);
}

TEST_CASE("every package that the table of dependencies gives a reason for is in the one list") {
  const std::string list = read("docker/install-deps.sh");
  const std::string text = read("docker/README.md");
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
