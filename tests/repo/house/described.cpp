#include "repo/house/described.hpp"

#include <map>
#include <regex>
#include <set>

namespace spillway::house {

namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string without_extension(const std::string& path) { return path.substr(0, path.rfind('.')); }

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The stems of the files that a README.md names, `in back quotes`, with or without a folder and an
// extension.
std::set<std::string> named_in(const std::string& text) {
  static const std::regex kQuoted("`([^`\n]+)`"), kPath(R"([\w./]+)");
  static const std::regex kExtension(R"(\.(hpp|cpp)$)");
  std::set<std::string> names;
  const std::sregex_iterator end;
  for (std::sregex_iterator quoted(text.begin(), text.end(), kQuoted); quoted != end; ++quoted) {
    const std::string words = (*quoted)[1];
    for (std::sregex_iterator path(words.begin(), words.end(), kPath); path != end; ++path)
      names.insert(std::regex_replace(name_of(path->str()), kExtension, ""));
  }
  return names;
}

}  // namespace

std::vector<std::string> unintroduced(const std::vector<SourceFile>& files) {
  std::set<std::string> headers;
  for (const SourceFile& file : files) {
    if (file.path.ends_with(".hpp")) headers.insert(without_extension(file.path));
  }
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    const bool has_header =
        file.path.ends_with(".cpp") && headers.contains(without_extension(file.path));
    if (is_code(file.path) && !has_header && !file.text.starts_with("//"))
      found.push_back(file.path + " does not begin with what it is");
  }
  return found;
}

std::vector<std::string> unnamed(const std::vector<SourceFile>& files) {
  std::map<std::string, std::set<std::string>> names;  // by folder
  for (const SourceFile& file : files) {
    if (name_of(file.path) == "README.md") names[folder_of(file.path)] = named_in(file.text);
  }
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    if (!is_code(file.path) || folder_of(file.path).empty()) continue;
    const std::string stem = without_extension(name_of(file.path));
    bool is_named = false;
    for (std::string at = folder_of(file.path); !at.empty(); at = folder_of(at)) {
      const auto page = names.find(at);
      is_named |= page != names.end() && page->second.contains(stem);
    }
    if (!is_named) found.push_back(file.path + " stands in no README.md");
  }
  return found;
}

}  // namespace spillway::house
