#include "repo/house/rules.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace spillway::house {

namespace {

constexpr std::size_t kMostLines = 400;

// Parts of Beast that know no socket.
const std::regex kSocketlessBeast(
    R"(boost/beast/(http/(basic_parser|error|verb|field|status|rfc7230)|core/(string.*|span))\.hpp)");

// What a pure folder must not include: networks, threads, files, clocks, and libraries that
// bring them along. <arpa/inet.h> is allowed: inet_pton() only converts text to bytes.
const std::regex kImpure(
    R"((boost/(asio|beast|filesystem|thread|process|interprocess)(/.*|\.hpp))"
    R"(|(thread|mutex|shared_mutex|condition_variable|future|stop_token|semaphore|latch|barrier))"
    R"(|(fstream|filesystem|iostream|cstdio|ctime|stdio\.h|time\.h|random))"
    R"(|(sys|netinet|net|linux)/.*|arpa/(?!inet\.h$).*|(unistd|poll|fcntl|netdb|pthread|signal|dirent)\.h|csignal)"
    R"(|(spdlog|prometheus|openssl)/.*))");

const std::regex kCallsClock(R"(\bnow\s*\(\s*\)|\bclock_gettime\b|\bgettimeofday\b)");
const std::regex kVagueName(R"((^|_)(utils?|common|helpers?|managers?)(_|\.|$))");
const std::regex kForwardDeclaration(R"(^(?:class|struct|enum class) (\w+);)");
const std::regex kDefinition(R"(^(?:class|struct) (\w+)(?: final)?(?: :.*| \{.*)?$)");
const std::regex kInclude(R"re(^\s*#\s*include\s*[<"]([^>"]+)[>"])re");

// The file's room: "proxy/net" of proxy/net/stream.hpp; "main" of a file directly in src/.
std::string room_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "main" : path.substr(0, slash);
}

std::string top_folder_of(const std::string& path) { return path.substr(0, path.find('/')); }

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string without_comment(const std::string& line) { return line.substr(0, line.find("//")); }

std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(text)) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) found.push_back(match[1]);
  }
  return found;
}

// Classes that a file names without including what defines them, outside of class bodies.
std::vector<std::string> forward_declarations_of(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(text)) {
    std::smatch match;
    if (std::regex_search(line, match, kForwardDeclaration)) found.push_back(match[1]);
  }
  return found;
}

// Which rooms define each class. A name that several rooms define says nothing.
std::map<std::string, std::set<std::string>> rooms_by_class(const std::vector<SourceFile>& files) {
  std::map<std::string, std::set<std::string>> rooms;
  for (const SourceFile& file : files) {
    for (const std::string& line : lines_of(file.text)) {
      std::smatch match;
      if (is_code(file.path) && std::regex_search(line, match, kDefinition))
        rooms[match[1]].insert(room_of(file.path));
    }
  }
  return rooms;
}

void check_purity(const SourceFile& file, std::vector<std::string>& found) {
  for (const std::string& included : includes_of(file.text)) {
    if (std::regex_match(included, kImpure) && !std::regex_match(included, kSocketlessBeast)) {
      found.push_back(file.path + " is in a pure folder and includes <" + included + ">");
    }
  }
  for (const std::string& line : lines_of(file.text)) {
    if (std::regex_search(without_comment(line), kCallsClock)) {
      found.push_back(file.path + " is in a pure folder and asks the clock:" + line);
    }
  }
}

}  // namespace

bool is_code(const std::string& path) { return path.ends_with(".hpp") || path.ends_with(".cpp"); }

std::vector<std::string> violations(const House& house, const std::vector<SourceFile>& files) {
  std::vector<std::string> found = untidy_files(files);
  for (std::string& each : undescribed_folders(files, {})) found.push_back(std::move(each));
  const auto defined_in = rooms_by_class(files);
  std::set<std::string> rooms;
  std::map<std::string, std::set<std::string>> files_included;
  std::set<std::string> paths;
  for (const SourceFile& file : files) paths.insert(file.path);

  for (const SourceFile& file : files) {
    const std::string room = room_of(file.path);
    if (!is_code(file.path)) continue;
    rooms.insert(room);
    const auto arrows = house.arrows.find(room);
    const auto is_allowed = [&](const std::string& to) {
      return to == room || arrows == house.arrows.end() || arrows->second.contains(to);
    };
    for (const std::string& included : includes_of(file.text)) {
      // Ours are written from src/, so their path is one of the tree's.
      if (!paths.contains(included)) continue;
      files_included[file.path].insert(included);
      const std::string to = room_of(included);
      if (!is_allowed(to)) {
        found.push_back(file.path + " includes " + included + ": no arrow " + room + " -> " + to);
      }
    }
    for (const std::string& name : forward_declarations_of(file.text)) {
      const auto definition = defined_in.find(name);
      if (definition == defined_in.end() || definition->second.size() > 1) continue;
      const std::string& to = *definition->second.begin();
      if (!is_allowed(to)) {
        found.push_back(file.path + " declares " + name + ": no arrow " + room + " -> " + to);
      }
    }
    if (house.pure.contains(room) || house.pure.contains(top_folder_of(room)))
      check_purity(file, found);
  }
  for (const std::string& room : rooms) {
    if (!house.arrows.contains(room)) found.push_back("the table has no arrows for " + room);
  }
  for (const std::string& circle : circles(house.arrows)) found.push_back("circle: " + circle);
  for (const std::string& circle : circles(files_included)) found.push_back("circle: " + circle);
  return found;
}

std::vector<std::string> circles(const std::map<std::string, std::set<std::string>>& arrows) {
  std::vector<std::string> found, way;
  std::set<std::string> done;
  const std::function<void(const std::string&)> walk = [&](const std::string& at) {
    const auto before = std::find(way.begin(), way.end(), at);
    if (before != way.end()) {
      std::string circle;
      for (auto each = before; each != way.end(); ++each) circle += *each + " -> ";
      found.push_back(circle + at);
      return;
    }
    if (!done.insert(at).second) return;
    way.push_back(at);
    if (const auto next = arrows.find(at); next != arrows.end()) {
      for (const std::string& to : next->second) walk(to);
    }
    way.pop_back();
  };
  for (const auto& [from, to] : arrows) walk(from);
  return found;
}

std::vector<std::string> untidy_files(const std::vector<SourceFile>& files) {
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    if (!is_code(file.path)) continue;
    const std::size_t lines = lines_of(file.text).size();
    if (lines > kMostLines) {
      found.push_back(file.path + " has " + std::to_string(lines) + " lines, more than " +
                      std::to_string(kMostLines));
    }
    for (std::size_t begin = 0; begin < file.path.size();) {
      const std::size_t end = std::min(file.path.find('/', begin), file.path.size());
      if (std::regex_search(file.path.substr(begin, end - begin), kVagueName)) {
        found.push_back(file.path + " does not say what is in it");
      }
      begin = end + 1;
    }
  }
  return found;
}

std::vector<std::string> undescribed_folders(const std::vector<SourceFile>& files,
                                             const std::set<std::string>& mirrored) {
  std::set<std::string> folders, described;
  for (const SourceFile& file : files) {
    const std::string room = room_of(file.path);
    if (is_code(file.path) && !mirrored.contains(top_folder_of(file.path))) folders.insert(room);
    if (file_name(file.path) == "README.md") described.insert(room);
  }
  std::vector<std::string> found;
  for (const std::string& folder : folders) {
    // The page of a folder describes its rooms.
    if (described.contains(folder) || described.contains(top_folder_of(folder))) continue;
    found.push_back(folder + " has no README.md");
  }
  return found;
}

std::vector<SourceFile> read_tree(const std::string& directory) {
  std::vector<SourceFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path());
    if (!stream) throw std::runtime_error("cannot read " + entry.path().string());
    files.push_back({std::filesystem::relative(entry.path(), directory).string(),
                     {std::istreambuf_iterator<char>(stream), {}}});
  }
  return files;
}

}  // namespace spillway::house
