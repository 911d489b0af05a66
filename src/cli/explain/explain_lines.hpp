// The lines of an explanation, each with a label.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

namespace spillway {

class ExplainedLines {
 public:
  // Begins a line; an empty label continues the previous one.
  std::ostream& add(std::string_view label) {
    out_ << (out_.tellp() == 0 ? "" : "\n") << label;
    return out_ << std::string(kWidth - label.size(), ' ');
  }
  std::string text() const { return out_.str() + "\n"; }

 private:
  static constexpr std::size_t kWidth = 10;
  std::ostringstream out_;
};

}  // namespace spillway
