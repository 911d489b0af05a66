// Runs the built binary as a user would.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "support/places.hpp"

namespace cli {

struct Result {
  int code;
  std::string out;
  std::string err;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::stringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

// A file of the repository.
inline std::string source(const std::string& path) {
  return text_of(spillway::support::in_source(path));
}

// Removed at the end of the test.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name, const std::string& text = {})
      : path_(std::filesystem::temp_directory_path() /
              ("spillway-cli-" + std::to_string(getpid()) + "-" + name)) {
    std::ofstream(path_) << text;
  }
  ~ScratchFile() { std::filesystem::remove(path_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::string path() const { return path_.string(); }
  std::string text() const { return text_of(path_); }

 private:
  std::filesystem::path path_;
};

inline Result run_shell(const std::string& command) {
  const ScratchFile errors("stderr");
  FILE* pipe = popen((command + " 2>" + errors.path()).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  std::array<char, 4096> block{};
  while (const auto size = std::fread(block.data(), 1, block.size(), pipe)) {
    out.append(block.data(), size);
  }
  const int status = pclose(pipe);
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), out, errors.text()};
}

inline Result run(const std::string& arguments) {
  return run_shell(spillway::support::in_build("spillway") + " " + arguments);
}

inline bool contains(const std::string& text, std::string_view fragment) {
  return text.find(fragment) != std::string::npos;
}

inline const std::string kShipped = spillway::support::in_source("config/spillway.json");

}  // namespace cli
