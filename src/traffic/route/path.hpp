// The readings of a path: how backends, and proxies in front of them, may interpret it. The path is
// forwarded byte for byte, so a request may get no higher class than any of its readings.
//
// A reader takes some steps (path_steps.hpp): it decodes, resolves dot segments, merges slashes,
// cuts off parameters, and so on. Which steps it takes, in what order and how often, is not known,
// and the next reader continues from the result. So the readings are all texts that result from the
// path by any steps in any order and number. Not included: case folding (Classifier checks that
// separately), and the overlong forms of UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/message/scan.hpp"

namespace spillway::traffic {

// Iterates over the readings of one path. An ordinary path has one, a view of itself, and costs one
// scan. Each reading starts with "/", has no trailing slash (except "/" itself), no query and no
// fragment. Escapes that a segment needs are decoded, but escaped slashes and backslashes that do
// not separate segments stay as %2F and %5C. An invalid escape is kept unchanged.
class PathReadings {
 public:
  // The limit of work for one path: bytes read and written, plus kEach for each text. If a path
  // needs more, not all its readings are seen.
  static constexpr std::size_t kMostWork = 32'768;
  static constexpr std::size_t kEach = 32;

  explicit PathReadings(std::string_view path_and_query);
  PathReadings(const PathReadings&) = delete;
  PathReadings& operator=(const PathReadings&) = delete;

  // False if there are no more. The first is standard_reading(). Two readings may be equal.
  bool next();
  // Valid until next().
  std::string_view reading() const { return reading_; }

  // Valid once next() returned false: whether some readings were not seen.
  bool too_many() const { return too_many_; }
  // Valid once next() returned false: whether the path has anything that makes readings differ,
  // except needless escapes, dots and spaces at the end of a segment, and blanks around one.
  bool is_ambiguous() const;

 private:
  static constexpr std::size_t kMostTexts = kMostWork / kEach;
  static constexpr std::size_t kSlots = 2 * kMostTexts;
  static_assert(kMostTexts < UINT16_MAX && kMostWork <= UINT16_MAX + 1);

  struct Text {
    std::uint16_t at;
    std::uint16_t size;
    std::uint32_t hash;
    bool raw;  // as in features_of()
  };

  void begin(std::string_view path);
  bool expand(const Text& text);
  bool spend(std::size_t bytes);
  void add(std::size_t size, bool raw);
  std::string_view view(const Text& text) const { return {block_.data() + text.at, text.size}; }

  std::string_view path_;  // without the query
  std::string_view reading_;
  unsigned features_ = 0;  // of all texts together
  std::size_t work_ = 0;
  std::size_t used_ = 0;  // bytes of block_ in use
  std::size_t count_ = 0;
  std::size_t expanded_ = 0;
  std::size_t shown_ = 0;
  bool is_plain_;
  bool has_begun_ = false;
  bool too_many_ = false;
  std::array<std::uint16_t, kSlots> slots_;  // by hash; index of a text plus 1. Both arrays are
  std::array<Text, kMostTexts> texts_;       // uninitialised for a plain path
  std::array<char, kMostWork> block_;
  std::array<char, http::kMaxRequestLine + 1> reading_block_;
};

// A literal segment of a pattern, decoded as in the first reading.
std::string decoded_segment(std::string_view segment);

}  // namespace spillway::traffic
