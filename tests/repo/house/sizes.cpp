#include "repo/house/sizes.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <string_view>
#include <utility>

namespace spillway::house {

namespace {

constexpr std::size_t kMostDataMembers = 20;
constexpr std::size_t kMostFunctionLines = 60;

// Raw strings hold other languages, braces at any indentation among them. Of their text remain the
// ends of lines, and what follows in those lines, indented as deep as nothing else.
std::string without_raw_strings(const std::string& source) {
  std::string text;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = source.find("R\"", at)) != std::string::npos;) {
    const bool ends_literal =
        at > 0 && (std::isalnum(static_cast<unsigned char>(source[at - 1])) ||
                   std::string_view("_\"").find(source[at - 1]) != std::string_view::npos);
    if (ends_literal) {  // "FOR"
      at += 2;
      continue;
    }
    const std::size_t opening = std::min(source.find('(', at), source.size());
    const std::string closing = ')' + source.substr(at + 2, opening - at - 2) + '"';
    const std::size_t end = std::min(source.find(closing, opening), source.size());
    text += source.substr(from, at - from) + "\"\"";
    for (std::size_t inside = opening; inside < end; ++inside) {
      if (source[inside] == '\n') text += '\n' + std::string(1000, ' ');
    }
    at = from = std::min(end + closing.size(), source.size());
  }
  return text + source.substr(from);
}

struct Line {
  std::string code;  // without comment, indentation and white space behind it
  std::size_t indent = 0;

  bool is_empty() const { return code.empty(); }
  bool closes() const { return code.starts_with('}') || code.starts_with(')'); }
  bool opens() const { return code.ends_with('{'); }
};

// Lines that begin no declaration and end none are empty: comments, directives, and the closing
// braces of namespaces.
std::vector<Line> read_lines(const std::string& source) {
  static const std::regex kNone(R"(^\s*(#.*|\}\s*// (namespace|extern).*)?$)");
  static const std::regex kLiteral(R"re("(\\.|[^"\\])*"|'(\\.|[^'\\])')re");
  const std::string text = without_raw_strings(source);
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (std::regex_match(line, kNone)) line.clear();
    line = std::regex_replace(line, kLiteral, "\"\"");
    line.resize(std::min(line.find("//"), line.size()));
    line.resize(line.find_last_not_of(" \t") + 1);
    const std::size_t indent = line.find_first_not_of(' ');
    lines.push_back(line.empty() ? Line{} : Line{line.substr(indent), indent});
  }
  return lines;
}

// Lines [begin, end) as one.
std::string joined(const std::vector<Line>& lines, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t at = begin; at < end; ++at) {
    if (!text.empty() && !lines[at].is_empty()) text += ' ';
    text += lines[at].code;
  }
  return text;
}

// The line behind the declaration or definition that begins at `begin`: what is indented deeper and
// what closes it belong to it.
std::size_t end_of_statement(const std::vector<Line>& lines, std::size_t begin) {
  const std::size_t indent = lines[begin].indent;
  std::size_t end = begin + 1;
  for (std::size_t at = end; at < lines.size(); ++at) {
    if (lines[at].is_empty()) continue;
    const bool closes = lines[at].indent == indent && lines[at].closes();
    if (lines[at].indent <= indent && !closes) break;
    end = at + 1;
    if (closes && !lines[at].opens()) break;
  }
  return end;
}

// How many variables a declaration declares; 0: it declares a function. Only functions have
// parentheses outside of other brackets and before an initialiser, with few exceptions.
std::size_t variables_in(const std::string& declaration) {
  std::size_t depth = 0, variables = 1;
  bool is_initialised = false;
  for (std::size_t at = 0; at < declaration.size(); ++at) {
    const char c = declaration[at];
    const char before = at == 0 ? ' ' : declaration[at - 1];
    const char after = at + 1 == declaration.size() ? ' ' : declaration[at + 1];
    const bool is_angle = (c == '<' || c == '>') && before != ' ' && before != '-';  // not a < b
    if (depth == 0) {
      const std::string_view left = std::string_view(declaration).substr(0, at);
      const bool is_operand = left.ends_with("decltype") || left.ends_with("alignas");
      // void (*call)(int)
      const bool is_inner_declarator = after == '*' || after == '&' || before == ')';
      if (c == '(' && !is_initialised && !is_operand && !is_inner_declarator) return 0;
      if (c == '=') is_initialised = true;
      if (c == ',') ++variables;
    }
    if (c == '(' || c == '[' || c == '{' || (c == '<' && is_angle)) ++depth;
    if (c == ')' || c == ']' || c == '}' || (c == '>' && is_angle)) depth -= depth > 0;
  }
  return variables;
}

std::size_t data_members_in(const std::vector<Line>& lines, std::size_t begin, std::size_t end);

// Of the statement in lines [begin, end) of a class body.
std::size_t data_members_of(const std::vector<Line>& lines, std::size_t begin, std::size_t end) {
  static const std::regex kType(R"(^(class|struct|union|enum)\b)");
  static const std::regex kForward(R"(^(class|struct|union|enum|enum class) [\w:]+( : [\w:]+)?;$)");
  static const std::regex kOther(
      R"(^(using|typedef|friend|template|requires|static_assert)\b|\b(static|operator)\b)");
  static const std::regex kAttribute(R"(\[\[.*?\]\])");
  const std::string& first = lines[begin].code;
  const bool is_type = std::regex_search(first, kType);
  if (is_type && lines[end - 1].code.ends_with("};")) {
    const bool is_unnamed = first == "struct {" || first == "union {";
    return is_unnamed ? data_members_in(lines, begin + 1, end - 1) : 0;
  }
  const std::string statement = joined(lines, begin, end);
  if (!statement.ends_with(';') || std::regex_search(statement, kOther)) return 0;
  if (is_type && std::regex_match(statement, kForward)) return 0;
  return variables_in(std::regex_replace(statement, kAttribute, ""));
}

// Of the class whose body is in lines [begin, end).
std::size_t data_members_in(const std::vector<Line>& lines, std::size_t begin, std::size_t end) {
  static const std::regex kAccess(R"(^(public|protected|private):$)");
  std::size_t members = 0;
  while (begin < end) {
    const std::size_t next = std::min(end_of_statement(lines, begin), end);
    if (lines[begin].is_empty() || std::regex_match(lines[begin].code, kAccess)) {
      ++begin;
      continue;
    }
    members += data_members_of(lines, begin, next);
    begin = next;
  }
  return members;
}

// The line in which the heading of a body begins whose brace opens in line `at` or, with an
// indentation deeper, behind it: template <...>, requires and a return type may stand before.
std::size_t begin_of_heading(const std::vector<Line>& lines, std::size_t at) {
  static const std::regex kEnd(R"([;:{}]$)");
  while (at > 0 && !lines[at - 1].is_empty() && lines[at - 1].indent == lines[at].indent &&
         !std::regex_search(lines[at - 1].code, kEnd)) {
    --at;
  }
  return at;
}

}  // namespace

std::vector<ClassSize> classes_in(const std::string& text) {
  static const std::regex kClass(
      R"(^(class|struct|union)\b(?: alignas\(\w*\))?(?: ((?:\w+::)*\w+)(?:<.*>)?)?)"
      R"((?: final)?(?: :[^:].*)? \{$)");
  static const std::regex kBegin(R"(^(class|struct|union)\b)");
  const std::vector<Line> lines = read_lines(text);
  std::vector<ClassSize> found;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (!std::regex_search(lines[at].code, kBegin)) continue;
    std::size_t body = at;
    while (body < lines.size() && !lines[body].opens() && !lines[body].code.ends_with(';')) ++body;
    body = std::min(body + 1, lines.size());
    const std::string heading = joined(lines, at, body);
    std::smatch match;
    if (!std::regex_match(heading, match, kClass)) continue;
    found.push_back(
        {match[2], at + 1, data_members_in(lines, body, end_of_statement(lines, at) - 1)});
  }
  return found;
}

std::vector<FunctionSize> functions_in(const std::string& text) {
  static const std::regex kLambda(R"(\[[^\]]*\](\(.*)? \{$)");
  const std::vector<Line> lines = read_lines(text);
  std::vector<FunctionSize> found;
  // Backwards: a closing brace whose body has not been passed over is that of no inner block.
  for (std::size_t last = lines.size(); last-- > 0;) {
    const bool closes_function = lines[last].code == "}";
    if (!closes_function && lines[last].code != "};") continue;
    std::size_t first = last;
    while (first > 0) {
      --first;
      if (!lines[first].is_empty() && lines[first].indent <= lines[last].indent &&
          !lines[first].closes())
        break;
    }
    if (lines[first].indent != lines[last].indent) continue;
    std::size_t body = first;
    while (body < last && !lines[body].opens()) ++body;
    const std::string heading = joined(lines, first, body + 1);
    const bool is_function = closes_function && heading.find('(') != std::string::npos;
    if (!is_function && !std::regex_search(heading, kLambda)) continue;
    first = begin_of_heading(lines, first);
    found.push_back({lines[first].code, first + 1, last - first + 1});
    last = first;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<std::string> oversized(const std::vector<SourceFile>& files) {
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    if (!is_code(file.path)) continue;
    for (const ClassSize& each : classes_in(file.text)) {
      if (each.data_members <= kMostDataMembers) continue;
      found.push_back(file.path + ':' + std::to_string(each.line) + ' ' + each.name + " has " +
                      std::to_string(each.data_members) + " data members, more than " +
                      std::to_string(kMostDataMembers));
    }
    for (const FunctionSize& each : functions_in(file.text)) {
      if (each.lines <= kMostFunctionLines) continue;
      found.push_back(file.path + ':' + std::to_string(each.line) + " has a function of " +
                      std::to_string(each.lines) + " lines, more than " +
                      std::to_string(kMostFunctionLines) + ": " + each.heading);
    }
  }
  return found;
}

}  // namespace spillway::house
