#include "repo/house/awaits.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

namespace spillway::house {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Comments, literals and raw strings become blanks; lines stay.
std::string code_of(std::string text) {
  const auto blank = [&text](std::size_t from, std::size_t to) {
    for (; from < std::min(to, text.size()); ++from) {
      if (text[from] != '\n') text[from] = ' ';
    }
  };
  const auto end_of_literal = [&text](std::size_t at) {
    const char quote = text[at++];
    while (at < text.size() && text[at] != quote) at += text[at] == '\\' ? 2 : 1;
    return at + 1;
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    const bool follows_word = at > 0 && is_word(text[at - 1]);
    if (text.compare(at, 2, "//") == 0) {
      end = text.find('\n', at);
    } else if (text.compare(at, 2, "/*") == 0) {
      end = text.find("*/", at) + 2;
    } else if (text.compare(at, 2, "R\"") == 0 && !follows_word) {
      const std::size_t opening = std::min(text.find('(', at), text.size());
      const std::string closing = ')' + text.substr(at + 2, opening - at - 2) + '"';
      end = text.find(closing, opening);
      if (end != text.npos) end += closing.size();
    } else if (text[at] == '"' || (text[at] == '\'' && !follows_word)) {  // not 1'000
      end = end_of_literal(at);
    } else {
      at = end;
      continue;
    }
    end = std::min(end, text.size());
    blank(at, end);
    at = end;
  }
  return text;
}

// An open bracket, and what the expression within it that is being read has had so far.
struct Open {
  bool is_block = false;      // {
  bool is_condition = false;  // the parenthesis of an if, while, switch or for
  bool has_operator = false;
  std::vector<std::size_t> awaits;  // their lines
};

bool opens_condition(std::string_view before) {
  while (!before.empty() && before.back() == ' ') before.remove_suffix(1);
  if (before.ends_with(" constexpr")) before.remove_suffix(10);
  std::size_t begin = before.size();
  while (begin > 0 && is_word(before[begin - 1])) --begin;
  const std::string_view word = before.substr(begin);
  return word == "if" || word == "while" || word == "switch" || word == "for";
}

// One pass over the code, with the brackets that are open.
class Reader {
 public:
  explicit Reader(const std::string& text) : code_(code_of(text)) {}

  std::vector<std::size_t> read() {
    for (std::size_t at = 0; at < code_.size(); ++at) read(at);
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return found_;
  }

 private:
  bool is_at(std::size_t at, std::string_view what) const {
    return code_.compare(at, what.size(), what) == 0;
  }

  void read(std::size_t at) {
    switch (const char c = code_[at]) {
      case '\n': ++line_; break;
      case '(':
      case '[':
      case '{':
        open_.push_back(
            {.is_block = c == '{', .is_condition = c == '(' && opens_condition(code_before(at))});
        break;
      case ')':
      case ']':
      case '}': close(c); break;
      case ';':
      case ',': open_.back() = {open_.back().is_block, open_.back().is_condition}; break;
      case '=': assign(at); break;
      case '?': join(); break;
      case '&':
      case '|':
        if (at > 0 && code_[at - 1] == ' ' && code_[at + 1] == c) join();  // not A&& a
        break;
      case 'c':
        if (is_at(at, "co_await") && at > 0 && !is_word(code_[at - 1])) await(at);
        break;
      default: break;
    }
  }

  std::string_view code_before(std::size_t at) const {
    return std::string_view(code_).substr(0, at);
  }

  // A block ends the statement that it stands in, as a body does. What is awaited within other
  // brackets is awaited by the expression around them.
  void close(char bracket) {
    if (open_.size() == 1) return;
    const Open closed = open_.back();
    open_.pop_back();
    Open& around = open_.back();
    if (bracket == '}' && around.is_block) {
      around = {around.is_block, around.is_condition};
      return;
    }
    if (closed.is_block || closed.is_condition) return;
    around.awaits.insert(around.awaits.end(), closed.awaits.begin(), closed.awaits.end());
  }

  // What stands before an assignment is no operand of what stands behind it: `auto&& x = ...`.
  void assign(std::size_t at) {
    const bool is_comparison = is_at(at, "==") || (at > 0 && code_[at - 1] != ' ');
    if (!is_comparison) open_.back().has_operator = false;
  }

  void join() {
    open_.back().has_operator = true;
    std::vector<std::size_t>& awaits = open_.back().awaits;
    found_.insert(found_.end(), awaits.begin(), awaits.end());
    awaits.clear();
  }

  void await(std::size_t at) {
    bool is_misplaced = code_[at - 1] == '!';
    for (std::size_t n = open_.size(); n-- > 0;) {
      is_misplaced |= open_[n].is_condition || open_[n].has_operator;
      if (open_[n].is_block) break;
    }
    if (is_misplaced) return found_.push_back(line_);
    open_.back().awaits.push_back(line_);
  }

  const std::string code_;
  std::size_t line_ = 1;
  std::vector<Open> open_{{.is_block = true}};
  std::vector<std::size_t> found_;
};

}  // namespace

std::vector<std::size_t> misplaced_awaits(const std::string& text) { return Reader(text).read(); }

std::vector<std::string> misplaced_awaits(const std::vector<SourceFile>& files) {
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    if (!is_code(file.path)) continue;
    for (const std::size_t line : misplaced_awaits(file.text)) {
      found.push_back(file.path + ':' + std::to_string(line) +
                      " awaits within a condition or an operand");
    }
  }
  return found;
}

}  // namespace spillway::house
