// Reading the repository's own files and running its programs, as a user would.
#pragma once

#include <filesystem>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "support/places.hpp"

namespace spillway::packaging {

inline const std::filesystem::path kSource = support::in_source();
inline const std::filesystem::path kPrograms = support::in_build();

// The whole text of a file of the repository; fails the test when it cannot be read.
std::string read(const std::filesystem::path& relative);

// The lines of a text without blanks around them.
std::vector<std::string> lines(const std::string& text);

// The parts of a text that match, whole or the first group when there is one.
std::vector<std::string> matches(const std::string& text, const std::string& pattern);

struct Finished {
  int status = -1;     // exit status, -1 when ended by a signal
  std::string output;  // standard output and error together
};

// Runs a shell command in the root of the repository to its end.
Finished run(const std::string& command);

// A path quoted for the shell.
std::string shell_quoted(const std::filesystem::path& path);

}  // namespace spillway::packaging
