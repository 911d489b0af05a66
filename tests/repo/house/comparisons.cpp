#include "repo/house/comparisons.hpp"

#include <algorithm>
#include <regex>

namespace spillway::house {

namespace {

const std::regex kDeclared(
    R"(\b(?:Sha256|HmacKey|VisitorSecret|TokenText)>?(?: const)?[&*]? (\w+))");
constexpr const char* kNamed = "secret|signature|digest|hmac_sha256";

std::string without_comments(const std::string& text) {
  static const std::regex kComment(R"(//[^\n]*)");
  return std::regex_replace(text, kComment, "");
}

std::string any_secret_in(const std::string& text) {
  std::set<std::string> names;
  for (std::sregex_iterator each(text.begin(), text.end(), kDeclared), end; each != end; ++each)
    names.insert((*each)[1]);
  std::string any = kNamed;
  for (const std::string& name : names) any += "|" + name;
  return "(?:" + any + ")";
}

// Of its size or its being there nothing is learned.
std::vector<std::regex> comparisons_of(const std::string& any) {
  const std::string part = R"((?:\.bytes|\.data\(\))?)";
  return {std::regex(R"(\b)" + any + R"((?:\([^;{}=]*\))?)" + part + R"(\s*[=!]=)"),
          std::regex(R"([=!]=\s*[*&]?(?:\w+(?:\(\))?(?:\.|->|::))*)" + any + R"((?![\w.:]|->))"),
          std::regex(R"(\b(?:memcmp|strn?cmp|std::equal|ranges::equal)\s*\([^;{}]*\b)" + any +
                     R"(\b(?!\.size))")};
}

bool is_in(const std::string& path, const std::set<std::string>& folders) {
  return std::ranges::any_of(
      folders, [&path](const std::string& folder) { return path.starts_with(folder + "/"); });
}

}  // namespace

std::vector<std::string> hasty_comparisons(const std::vector<SourceFile>& files,
                                           const std::set<std::string>& folders) {
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    if (!is_code(file.path) || !is_in(file.path, folders)) continue;
    const std::string text = without_comments(file.text);
    for (const std::regex& comparison : comparisons_of(any_secret_in(text))) {
      for (std::sregex_iterator each(text.begin(), text.end(), comparison), end; each != end;
           ++each)
        found.push_back(file.path + " compares a secret, and not in constant time: " + each->str());
    }
  }
  return found;
}

}  // namespace spillway::house
