// Appends text to a fixed block of bytes, without allocating.
//
// Never writes past the block: text that does not fit is left out and overflowed() is set.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace spillway {

class TextWriter {
 public:
  explicit TextWriter(std::span<char> block) : block_(block) {}

  TextWriter& operator<<(std::string_view text) {
    if (text.size() > block_.size() - size_) {
      overflowed_ = true;
      return *this;
    }
    if (!text.empty()) std::memcpy(block_.data() + size_, text.data(), text.size());
    size_ += text.size();
    return *this;
  }
  // A string literal: its length is a constant, so the copy compiles to a few stores.
  template <std::size_t Size>
  TextWriter& operator<<(const char (&literal)[Size]) {
    constexpr std::size_t kLength = Size - 1;
    if (kLength > block_.size() - size_) {
      overflowed_ = true;
      return *this;
    }
    std::memcpy(block_.data() + size_, literal, kLength);
    size_ += kLength;
    return *this;
  }
  TextWriter& operator<<(char c) {
    if (size_ == block_.size()) {
      overflowed_ = true;
    } else {
      block_[size_++] = c;
    }
    return *this;
  }

  template <class Integer>
  requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, char>) TextWriter& operator<<(
      Integer value) {
    char* const end = block_.data() + block_.size();
    const auto written = std::to_chars(block_.data() + size_, end, value);
    if (written.ec == std::errc()) {
      size_ = static_cast<std::size_t>(written.ptr - block_.data());
    } else {
      overflowed_ = true;
    }
    return *this;
  }

  std::string_view text() const { return {block_.data(), size_}; }
  std::size_t size() const { return size_; }
  bool overflowed() const { return overflowed_; }

 private:
  std::span<char> block_;
  std::size_t size_ = 0;
  bool overflowed_ = false;
};

}  // namespace spillway
