#include "traffic/route/path_steps.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/shown_text.hpp"
#include "http/field/ascii.hpp"

namespace spillway::traffic {
namespace {

constexpr std::array<bool, 256> table_of(std::string_view characters) {
  std::array<bool, 256> table{};
  for (const char c : characters) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kUnreservedSet =  // RFC 3986 section 2.3
    table_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~");
constexpr std::array<bool, 256> kSegmentSet =  // pchar of RFC 3986 section 3.3
    table_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@");
constexpr std::array<bool, 256> kOfNoteSet = table_of(std::string_view("%\\;?#\0\t\n\r", 9));

bool is_in(const std::array<bool, 256>& table, char c) {
  return table[static_cast<unsigned char>(c)];
}

struct Character {
  char value;
  bool is_escaped;
  std::size_t length;
};

Character character_at(std::string_view text, std::size_t at) {
  if (text[at] == '%' && at + 2 < text.size()) {
    const int high = http::hex_value(text[at + 1]);
    const int low = http::hex_value(text[at + 2]);
    if (high >= 0 && low >= 0) return {static_cast<char>(high * 16 + low), true, 3};
  }
  return {text[at], false, 1};
}

// Decodes the escapes of the characters that `decodes` selects. Escaped slashes and backslashes
// that remain are written in a single form.
template <class Decodes>
std::size_t decode(std::string_view text, char* out, Decodes decodes) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    if (!c.is_escaped || decodes(c.value)) {
      out[size++] = c.value;
    } else {
      const std::string_view written = c.value == '/'    ? std::string_view("%2F")
                                       : c.value == '\\' ? std::string_view("%5C")
                                                         : text.substr(i, c.length);
      std::memmove(out + size, written.data(), written.size());
      size += written.size();
    }
    i += c.length;
  }
  return size;
}

bool is_separator(char c) { return c == '/' || c == '\\'; }

// Includes the blanks of ISO 8859-1, which adds NEL and the no-break space.
bool is_blank(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= ' ' || byte == 0x85 || byte == 0xa0;
}

// Needed because, for instance, "à" ends with the byte A0.
bool ends_in_utf8(std::string_view text) {
  for (std::size_t size = 2; size <= std::min<std::size_t>(text.size(), 4); ++size) {
    const std::string_view last = text.substr(text.size() - size);
    const bool is_continuation = (static_cast<unsigned char>(last.front()) & 0xc0) == 0x80;
    if (!is_continuation) return first_character(last).bytes == size;
  }
  return false;
}

// A reader that cuts a byte off a UTF-8 character gets a text that matches no route.
bool has_blank_end(std::string_view text) {
  return !text.empty() && is_blank(text.back()) && !ends_in_utf8(text);
}

std::string_view trimmed(std::string_view segment) {
  while (!segment.empty() && is_blank(segment.front())) segment.remove_prefix(1);
  while (has_blank_end(segment)) segment.remove_suffix(1);
  return segment;
}

// Results of an edit other than "keep that many bytes of the segment".
constexpr std::size_t kGone = SIZE_MAX;
constexpr std::size_t kUp = SIZE_MAX - 1;  // removed, together with the segment before it

template <class Edit>
std::size_t edit_segments(std::string_view text, char* out, Edit edit) {
  std::size_t size = 0;
  for (std::size_t at = 1; at <= text.size();) {
    const std::size_t end = std::min(text.find('/', at), text.size());
    const std::size_t stays = edit(text.substr(at, end - at), end == text.size());
    if (stays == kUp) {
      while (size > 0 && out[--size] != '/') {
      }
    } else if (stays != kGone) {
      out[size++] = '/';
      std::copy_n(text.data() + at, stays, out + size);
      size += stays;
    }
    at = end + 1;
  }
  return size;
}

// The number of dots in the segment, counting "%2e" if `encoded`; 0 if it has anything else.
std::size_t dots_in(std::string_view segment, bool encoded) {
  std::size_t dots = 0;
  for (; !segment.empty(); ++dots) {
    const bool is_encoded = encoded && http::istarts_with(segment, "%2e");
    if (!is_encoded && segment.front() != '.') return 0;
    segment.remove_prefix(is_encoded ? 3 : 1);
  }
  return dots;
}

std::size_t resolved(std::string_view segment, bool encoded) {
  const std::size_t dots = dots_in(segment, encoded);
  return dots == 1 ? kGone : dots == 2 ? kUp : segment.size();
}

// The size without dots and spaces at the end. A segment of nothing but dots is kept.
std::size_t tight(std::string_view segment) {
  const std::size_t spaced = segment.find_last_not_of(' ') + 1;
  if (dots_in(segment.substr(0, spaced), false) > 0) return spaced;
  return segment.find_last_not_of(". ") + 1;
}

template <char Last>
std::size_t end_at(std::string_view text, char* out) {
  return static_cast<std::size_t>(
      std::copy_n(text.data(), std::min(text.find(Last), text.size()), out) - out);
}

// The path after the authority in "//authority/path"; some readers skip any number of slashes
// before it, or backslashes too.
std::size_t without_authority(std::string_view text, char* out, std::string_view slashes,
                              std::size_t begin) {
  const std::size_t end = std::min(text.find_first_of(slashes, begin), text.size());
  if (end < text.size()) out[0] = '/';
  if (end < text.size()) std::copy(text.begin() + end + 1, text.end(), out + 1);
  return text.size() - end;
}

std::size_t without_blank_end(std::string_view text, char* out) {
  while (has_blank_end(text)) text.remove_suffix(1);
  std::copy(text.begin(), text.end(), out);
  return text.size();
}

std::size_t without_blanks_around_segments(std::string_view text, char* out) {
  std::size_t size = 0;
  for (std::size_t at = 1; at <= text.size();) {
    const std::size_t end = std::min(text.find('/', at), text.size());
    const std::string_view segment = trimmed(text.substr(at, end - at));
    out[size++] = '/';
    std::copy(segment.begin(), segment.end(), out + size);
    size += segment.size();
    at = end + 1;
  }
  return size;
}

std::size_t without_nul(std::string_view text, char* out) {
  return static_cast<std::size_t>(std::remove_copy(text.begin(), text.end(), out, '\0') - out);
}

std::size_t without_line_breaks(std::string_view text, char* out) {
  return static_cast<std::size_t>(
      std::copy_if(text.begin(), text.end(), out,
                   [](char c) { return c != '\t' && c != '\n' && c != '\r'; }) -
      out);
}

constexpr std::array kSteps{
    PathStep{kEscapes, true,
             [](std::string_view text, char* out) {
               return decode(text, out, [](char) { return true; });
             }},
    PathStep{kDots, false,
             [](std::string_view text, char* out) {
               return edit_segments(text, out,
                                    [](std::string_view s, bool) { return resolved(s, false); });
             }},
    PathStep{kEmptySegments, false,
             [](std::string_view text, char* out) {
               return edit_segments(text, out, [](std::string_view s, bool) {
                 return s.empty() ? kGone : s.size();
               });
             }},
    PathStep{kEncodedDots, false,
             [](std::string_view text, char* out) {
               return edit_segments(text, out,
                                    [](std::string_view s, bool) { return resolved(s, true); });
             }},
    PathStep{kBackslashes, false,
             [](std::string_view text, char* out) {
               std::replace_copy(text.begin(), text.end(), out, '\\', '/');
               return text.size();
             }},
    PathStep{kParameters, false,
             [](std::string_view text, char* out) {
               return edit_segments(text, out, [](std::string_view s, bool) {
                 return std::min(s.find(';'), s.size());
               });
             }},
    PathStep{kAuthority, false,
             [](std::string_view text, char* out) {
               return without_authority(text, out, "/\\", text.find_first_not_of("/\\"));
             }},
    PathStep{kAuthority, false,
             [](std::string_view text, char* out) { return without_authority(text, out, "/", 2); }},
    PathStep{kLineBreaks, false, without_line_breaks},
    PathStep{kEscapedSlashes, true,  // all escapes but %2F
             [](std::string_view text, char* out) {
               return decode(text, out, [](char c) { return c != '/'; });
             }},
    PathStep{kUnreserved, false,
             [](std::string_view text, char* out) {
               return decode(text, out, [](char c) { return is_in(kUnreservedSet, c); });
             }},
    PathStep{kLooseEnds, false,
             [](std::string_view text, char* out) {
               return edit_segments(text, out, [](std::string_view s, bool) { return tight(s); });
             }},
    PathStep{kBlankEnd, false, without_blank_end},
    PathStep{kBlankEdges, false, without_blanks_around_segments},
    PathStep{kParameters, false,  // only of the last segment
             [](std::string_view text, char* out) {
               return edit_segments(text, out, [](std::string_view s, bool is_last) {
                 return is_last ? std::min(s.find(';'), s.size()) : s.size();
               });
             }},
    PathStep{kParameters, false, end_at<';'>},
    PathStep{kNul, false, end_at<'\0'>},
    PathStep{kNul, false, without_nul},
    PathStep{kQuery, false, end_at<'?'>},
    PathStep{kFragment, false, end_at<'#'>},
};

unsigned feature_of(char c) {
  switch (c) {
    case '\\': return kBackslashes;
    case ';': return kParameters;
    case '\0': return kNul;
    case '?': return kQuery;
    case '#': return kFragment;
    case '\t':
    case '\n':
    case '\r': return kLineBreaks;
    default: return 0;
  }
}

// The features of one segment, without its slash.
unsigned features_of_segment(std::string_view segment) {
  if (segment.empty()) return kEmptySegments;
  unsigned found = tight(segment) < segment.size() ? kLooseEnds : 0u;
  if (trimmed(segment).size() < segment.size()) found |= kBlankEdges;
  if (segment.size() > 6) return found;  // longer than "%2e%2e"
  const std::size_t dots = dots_in(segment, true);
  if (dots == 1 || dots == 2) found |= dots == segment.size() ? kDots : kEncodedDots;
  return found;
}

// The features of an escaped character.
unsigned features_of_escaped(char c, bool raw, bool may_be_at_edge) {
  if (c == '/') return kEscapes | kEscapedSlashes;
  if (is_in(kUnreservedSet, c)) return kEscapes | kUnreserved;
  const bool is_of_note =
      is_in(kSegmentSet, c) || is_in(kOfNoteSet, c) || (may_be_at_edge && is_blank(c));
  return raw && !is_of_note ? 0u : kEscapes;
}

}  // namespace

std::span<const PathStep> path_steps() { return kSteps; }

unsigned features_of(std::string_view text, bool raw) {
  unsigned found = 0;
  if (text.size() > 1 && is_separator(text[0]) && is_separator(text[1])) found |= kAuthority;
  if (has_blank_end(text)) found |= kBlankEnd;
  for (std::size_t at = 1; at < text.size();) {
    std::size_t i = at;
    while (i < text.size() && text[i] != '/') {
      if (!is_in(kOfNoteSet, text[i])) {
        ++i;
        continue;
      }
      const Character c = character_at(text, i);
      const bool begins_it = i == at;
      i += c.length;
      // A blank before a dot may be part of the dots and blanks at the end of a segment.
      const bool may_end_it = i == text.size() || text[i] == '/' || text[i] == '.';
      found |= c.is_escaped ? features_of_escaped(c.value, raw, begins_it || may_end_it)
                            : feature_of(c.value);
    }
    found |= features_of_segment(text.substr(at, i - at));
    at = i + 1;
  }
  return found;
}

std::size_t raw_reading(std::string_view text, char* out) {
  return decode(text, out, [](char c) { return !is_in(kSegmentSet, c) && !is_separator(c); });
}

std::size_t decode_segment(std::string_view segment, char* out) {
  return decode(segment, out, [](char c) { return !is_separator(c); });
}

std::size_t standard_reading(std::string_view text, char* out) {
  const std::size_t size = edit_segments(text, out, [](std::string_view segment, bool) {
    return segment.empty() ? kGone : resolved(segment, false);
  });
  return decode_segment({out, size}, out);
}

}  // namespace spillway::traffic
