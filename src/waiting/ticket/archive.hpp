// Serialisation: values to bytes and back, for the changes that proxies exchange about a shared
// waiting room and for its whole state. Numbers are little-endian; the length precedes a sequence.
//
// A class lists its members in a static function, which serves both writing and reading. It may be
// private, with `friend struct Archived`:
//
//     template <class Self, class Archive>
//     static void fields(Self& self, Archive& archive) { archive(self.first, self.second); }
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace spillway::waiting {

struct Archived {
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    std::remove_const_t<Self>::fields(self, archive);
  }
};

namespace detail {

template <class T>
struct Shape {
  static constexpr bool is_sequence = false, is_array = false, is_set = false;
  static constexpr bool is_optional = false, is_variant = false, is_time = false;
};
template <class T>
struct SequenceShape : Shape<void> {
  static constexpr bool is_sequence = true;
};
template <class T>
struct Shape<std::vector<T>> : SequenceShape<T> {};
template <class T>
struct Shape<std::deque<T>> : SequenceShape<T> {};
template <>
struct Shape<std::string> : SequenceShape<char> {};
template <class T>
struct Shape<std::set<T>> : Shape<void> {
  static constexpr bool is_set = true;
};
template <class T, std::size_t N>
struct Shape<std::array<T, N>> : Shape<void> {
  static constexpr bool is_array = true;
};
template <class T>
struct Shape<std::optional<T>> : Shape<void> {
  static constexpr bool is_optional = true;
};
template <class... T>
struct Shape<std::variant<T...>> : Shape<void> {
  static constexpr bool is_variant = true;
};
template <class R, class P>
struct Shape<std::chrono::duration<R, P>> : Shape<void> {
  static constexpr bool is_time = true;
};
template <class C, class D>
struct Shape<std::chrono::time_point<C, D>> : Shape<void> {
  static constexpr bool is_time = true;
};

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

// As wide as the number; size_t and bool have the same width on every machine.
template <class T>
constexpr auto bits_of(T value) {
  if constexpr (std::is_enum_v<T>)
    return bits_of(static_cast<std::underlying_type_t<T>>(value));
  else if constexpr (std::same_as<T, double>)
    return std::bit_cast<std::uint64_t>(value);
  else if constexpr (std::same_as<T, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::same_as<T, bool>)
    return static_cast<std::uint8_t>(value);
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

template <class T, class Bits>
constexpr T from_bits(Bits bits) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>(bits);
  else
    return static_cast<T>(bits);
}

}  // namespace detail

class ArchiveWriter {
 public:
  static constexpr bool kReads = false;

  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  bool is_sound() const { return true; }
  std::string take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(const T& value) {
    using Shape = detail::Shape<T>;
    if constexpr (detail::is_number<T>) {
      auto bits = detail::bits_of(value);
      for (std::size_t n = 0; n < sizeof bits;
           ++n, bits = static_cast<decltype(bits)>(bits >> 7 >> 1))
        bytes_ += static_cast<char>(bits & 0xFF);
    } else if constexpr (Shape::is_time) {
      if constexpr (requires { value.time_since_epoch(); })
        put(static_cast<std::int64_t>(value.time_since_epoch().count()));
      else
        put(static_cast<std::int64_t>(value.count()));
    } else if constexpr (Shape::is_sequence || Shape::is_set || Shape::is_array) {
      if constexpr (!Shape::is_array) put(static_cast<std::uint32_t>(value.size()));
      for (const auto& each : value) put(each);
    } else if constexpr (Shape::is_optional) {
      put(value.has_value());
      if (value) put(*value);
    } else if constexpr (Shape::is_variant) {
      put(static_cast<std::uint8_t>(value.index()));
      std::visit([this](const auto& held) { put(held); }, value);
    } else {
      Archived::fields(value, *this);
    }
  }

  std::string bytes_;
};

// If the bytes are malformed, all values from there on are zero and is_sound() is false.
class ArchiveReader {
 public:
  static constexpr bool kReads = true;

  explicit ArchiveReader(std::string_view bytes) : rest_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool is_sound() const { return is_sound_; }
  void refuse() { is_sound_ = false; }
  // Sound, and no bytes are left over.
  bool is_done() const { return is_sound_ && rest_.empty(); }

 private:
  template <class T>
  T number() {
    using Bits = decltype(detail::bits_of(T{}));
    if (!is_sound_ || rest_.size() < sizeof(Bits)) {
      is_sound_ = false;
      return T{};
    }
    std::uint64_t bits = 0;
    for (std::size_t n = sizeof(Bits); n-- > 0;)
      bits = bits << 8 | static_cast<std::uint8_t>(rest_[n]);
    rest_.remove_prefix(sizeof(Bits));
    return detail::from_bits<T>(static_cast<Bits>(bits));
  }
  // Each element takes at least one byte.
  std::size_t length() {
    const auto length = number<std::uint32_t>();
    if (length > rest_.size()) is_sound_ = false;
    return is_sound_ ? length : 0;
  }

  template <class T>
  void get(T& value) {
    using Shape = detail::Shape<T>;
    if constexpr (detail::is_number<T>) {
      value = number<T>();
    } else if constexpr (Shape::is_time) {
      get_time(value);
    } else if constexpr (Shape::is_array) {
      for (auto& each : value) get(each);
    } else if constexpr (Shape::is_sequence) {
      value.clear();
      for (std::size_t n = length(); n > 0 && is_sound_; --n) {
        value.push_back({});
        get(value.back());
      }
    } else if constexpr (Shape::is_set) {
      value.clear();
      for (std::size_t n = length(); n > 0 && is_sound_; --n) {
        typename T::value_type each{};
        get(each);
        value.insert(std::move(each));
      }
    } else if constexpr (Shape::is_optional) {
      value.reset();
      if (number<bool>()) get(value.emplace());
    } else if constexpr (Shape::is_variant) {
      get_variant(value, std::make_index_sequence<std::variant_size_v<T>>());
    } else {
      Archived::fields(value, *this);
    }
  }
  template <class T>
  void get_time(T& value) {
    const auto count = number<std::int64_t>();
    if constexpr (requires { value.time_since_epoch(); })
      value = T(typename T::duration(static_cast<typename T::rep>(count)));
    else
      value = T(static_cast<typename T::rep>(count));
  }
  template <class T, std::size_t... N>
  void get_variant(T& value, std::index_sequence<N...>) {
    const auto index = number<std::uint8_t>();
    const bool is_known = ((index == N ? (get(value.template emplace<N>()), true) : false) || ...);
    if (!is_known) is_sound_ = false;
  }

  std::string_view rest_;
  bool is_sound_ = true;
};

}  // namespace spillway::waiting
