#include "unit/simulate/xml.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace spillway::simulate {
namespace {

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::string read() {
    while (problem_.empty() && !rest_.empty()) {
      if (rest_.starts_with("</")) {
        close();
      } else if (rest_.starts_with('<')) {
        open();
      } else {
        content();
      }
    }
    if (problem_.empty() && (roots_ != 1 || !open_.empty())) problem_ = "not one closed element";
    return problem_;
  }

 private:
  std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view name() {
    std::size_t length = 0;
    while (length < rest_.size() && is_name(rest_[length])) ++length;
    if (length == 0) fail("a name is missing");
    return take(length);
  }

  void expect(std::string_view token) {
    if (take(token.size()) != token) fail("missing " + std::string(token));
  }

  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what + " before " + std::string(rest_.substr(0, 40));
  }

  void check(std::string_view text) {
    while (!text.empty()) {
      if (static_cast<unsigned char>(text[0]) < 0x20 && text[0] != '\n') fail("control character");
      if (text[0] == '<') fail("stray <");
      if (text[0] == '&') {
        const std::string_view entity = text.substr(1, text.find(';') - 1);
        static const std::set<std::string_view> kKnown{"amp", "lt", "gt", "quot", "apos", "#39"};
        if (!kKnown.contains(entity)) return fail("stray &");
      }
      text.remove_prefix(1);
    }
  }

  void content() {
    const std::string_view text = take(std::min(rest_.find('<'), rest_.size()));
    check(text);
    if (open_.empty() && text.find_first_not_of('\n') != text.npos) fail("text outside");
  }

  void open() {
    expect("<");
    const std::string_view element = name();
    std::set<std::string_view> attributes;
    while (problem_.empty() && rest_.starts_with(' ')) {
      take(1);
      if (!attributes.insert(name()).second) fail("attribute twice");
      expect("=\"");
      check(take(std::min(rest_.find('"'), rest_.size())));
      expect("\"");
    }
    if (open_.empty()) ++roots_;
    if (rest_.starts_with("/>")) {
      take(2);
    } else {
      expect(">");
      open_.push_back(element);
    }
  }

  void close() {
    expect("</");
    const std::string_view element = name();
    expect(">");
    if (open_.empty() || open_.back() != element) return fail("wrong end tag");
    open_.pop_back();
  }

  std::string_view rest_;
  std::string problem_;
  std::vector<std::string_view> open_;
  int roots_ = 0;
};

}  // namespace

std::string malformed(std::string_view text) { return Reader(text).read(); }

}  // namespace spillway::simulate
