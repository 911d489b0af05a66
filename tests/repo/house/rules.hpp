// The rules of the house (src/README.md), as far as a program can check them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace spillway::house {

struct SourceFile {
  std::string path;  // below src/, e.g. "http/head.hpp"
  std::string text;
};

// *.hpp or *.cpp.
bool is_code(const std::string& path);

struct House {
  // A room is a folder with sources of its own: "http", "proxy/net". Which rooms a room's files may
  // include besides their own, or forward-declare classes of. Files directly in src/ belong to the
  // room "main". A room without an entry is itself a violation.
  std::map<std::string, std::set<std::string>> arrows;
  // Rooms without I/O, threads and clocks. The name of a folder stands for all of its rooms.
  std::set<std::string> pure;
};

// Every violation as one sentence that names file and rule; empty when the house is in order.
// Folders must hold a README.md, which may also describe their rooms.
std::vector<std::string> violations(const House& house, const std::vector<SourceFile>& files);

// Each group of rooms that reach one another along the arrows, as "a -> b -> a".
std::vector<std::string> circles(const std::map<std::string, std::set<std::string>>& arrows);

// The folders with code but without a README.md of their own or of their top folder, as a sentence
// each. Whatever is below a folder of `mirrored` needs none: it mirrors src/.
std::vector<std::string> undescribed_folders(const std::vector<SourceFile>& files,
                                             const std::set<std::string>& mirrored);

// The violations of length and name alone, which hold for tests and tools too.
std::vector<std::string> untidy_files(const std::vector<SourceFile>& files);

// All files below a directory, paths relative to it. Throws when it cannot be read.
std::vector<SourceFile> read_tree(const std::string& directory);

}  // namespace spillway::house
