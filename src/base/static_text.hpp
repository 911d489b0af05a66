// A text that lives as long as the program: a string literal. Half the size of a string_view, for
// values that are copied often and read rarely.
#pragma once

#include <string_view>

namespace spillway {

class StaticText {
 public:
  constexpr StaticText() = default;
  constexpr StaticText(const char* literal) : text_(literal) {}

  constexpr operator std::string_view() const { return text_; }
  constexpr bool empty() const { return *text_ == '\0'; }
  friend constexpr bool operator==(StaticText one, std::string_view other) {
    return std::string_view(one) == other;
  }

 private:
  const char* text_ = "";
};

}  // namespace spillway
