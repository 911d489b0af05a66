// The readings of a path: what backends, and proxies in front of them, may take it for. The path is
// forwarded byte for byte, so a request may get no higher class than any reading of it has.
//
// Readings differ in what they take for a separator (also a backslash, an escaped slash), whether
// they merge slashes, resolve dot segments (before or after decoding), decode needless escapes,
// decode twice, cut off a segment's parameters (";v=1", RFC 3986 section 3.3), end the path at an
// escaped NUL, "?" or "#", and whether "//a/b" begins with an authority (section 4.2). Not among
// them: capitals (a path that differs in them is another), and the overlong forms of UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/scan.hpp"

namespace spillway::traffic {

// Goes through the readings of one path. An ordinary path has one, a view of itself, and costs one
// scan. Each reading starts with "/", has no slash at its end (but "/" itself), no query and no
// fragment. Escapes that a segment needs are decoded, but escaped slashes and backslashes that do
// not separate stay as %2F and %5C. An invalid escape stays as it is.
class PathReadings {
 public:
  // Bytes built for one path, and kEach for each reading: of a path that takes more not all are
  // seen.
  static constexpr std::size_t kMostWork = 32'768;
  static constexpr std::size_t kEach = 16;

  explicit PathReadings(std::string_view path_and_query);
  PathReadings(const PathReadings&) = delete;
  PathReadings& operator=(const PathReadings&) = delete;

  // False: there is no further one. The first is the one of RFC 3986: dot segments are resolved as
  // they stand, slashes merged, escapes decoded then, and parameters belong to their segment.
  bool next();
  // Valid until next().
  std::string_view reading() const { return reading_; }

  // Once next() was false: not all readings were seen.
  bool too_many() const { return too_many_; }
  // Once next() was false: it has what readings differ by, except needless escapes.
  bool is_ambiguous() const;

 private:
  bool next_text();
  bool begin_source(unsigned number);
  bool make_text(unsigned step);

  std::string_view path_;    // without query
  std::string_view source_;  // the path, or what some take for it
  std::string_view text_;    // the source after a reader's first step
  std::string_view reading_;
  unsigned source_features_ = 0;
  unsigned features_ = 0;        // of text_
  unsigned features_seen_ = 0;   // of the path
  unsigned features_twice_ = 0;  // of the path decoded twice, once that was read
  unsigned next_text_ = 0;
  unsigned next_options_ = 0;
  std::size_t work_ = 0;
  bool is_plain_;
  bool has_begun_ = false;
  bool too_many_ = false;
  std::array<char, http::kMaxRequestLine + 1> source_block_;  // uninitialised, like the others
  std::array<char, http::kMaxRequestLine + 1> text_block_;
  std::array<char, http::kMaxRequestLine + 1> reading_block_;
};

// A literal segment of a pattern, as the first reading has it.
std::string decoded_segment(std::string_view segment);

}  // namespace spillway::traffic
