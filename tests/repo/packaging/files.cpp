#include "files.hpp"

#include <sys/wait.h>

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace spillway::packaging {

std::string read(const std::filesystem::path& relative) {
  std::ifstream file(kSource / relative);
  REQUIRE_MESSAGE(file.is_open(), "cannot read " << relative.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const auto first = line.find_first_not_of(" \t");
    const auto last = line.find_last_not_of(" \t");
    result.push_back(first == std::string::npos ? "" : line.substr(first, last - first + 1));
  }
  return result;
}

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  const std::size_t group = regex.mark_count() > 0 ? 1 : 0;
  std::vector<std::string> result;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), regex);
       at != std::sregex_iterator(); ++at) {
    result.push_back(at->str(group));
  }
  return result;
}

Finished run(const std::string& command) {
  const std::string whole =
      "cd " + shell_quoted(kSource) + " && { " + command + "\n} 2>&1 </dev/null";
  Finished finished;
  FILE* const pipe = popen(whole.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char block[4096];
  while (const std::size_t got = fread(block, 1, sizeof block, pipe)) {
    finished.output.append(block, got);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) finished.status = WEXITSTATUS(status);
  return finished;
}

std::string shell_quoted(const std::filesystem::path& path) {
  std::string text = "'";
  for (const char c : path.string()) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

}  // namespace spillway::packaging
