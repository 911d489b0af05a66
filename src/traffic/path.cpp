#include "traffic/path.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "http/ascii.hpp"

namespace spillway::traffic {
namespace {

// What a path has that readings differ by.
enum Feature : unsigned {
  kParameters = 1,
  kBackslashes = 2,
  kEmptySegments = 4,
  kNul = 8,          // which can only be escaped
  kQuery = 16,       // a "?" or "#", which can only be escaped
  kSeparators = 32,  // an escaped slash or backslash
  kDots = 64,        // a segment that is "." or ".." in some reading
  kNeedless = 128,   // an escape of a character that a segment may have as it is
  kTwice = 256,      // an escape whose character may be part of another escape
};

enum class Escapes : unsigned { decoded, separating, kept, verbatim };
enum class Dots : unsigned { plain, encoded, kept };

struct Reading {
  unsigned options = 0;                // the first five: cut off, separate, stay, end the path
  Escapes escapes = Escapes::decoded;  // separating: those of separators separate
                                       // kept: only needed ones are decoded; verbatim: none
  Dots dots = Dots::kept;              // plain: resolved as they then stand; encoded: %2e too
};

// What readers do first to the text as it stands.
constexpr unsigned kFirstSteps = 3 * 2 * 4;
Reading first_step(unsigned number) {
  return {(number / 3 % 2) * kEmptySegments | (number / 6), Escapes::verbatim,
          static_cast<Dots>(number % 3)};
}
static_assert(kParameters == 1 && kBackslashes == 2);

// The features without which the step would change nothing, or as much as another.
unsigned needed_for(const Reading& step) {
  return (step.options & (kParameters | kBackslashes)) |
         ((step.options & kEmptySegments) == 0 ? kEmptySegments : 0u) |
         (step.dots == Dots::kept ? 0u : kDots) | (step.dots == Dots::encoded ? kNeedless : 0u);
}

// What they do then.
constexpr unsigned kReadings = 32 * 3 * 2;
Reading reading_of(unsigned number) {
  return {number % 32, static_cast<Escapes>(number / 32 % 3),
          number / 96 > 0 ? Dots::plain : Dots::kept};
}

// Whether the reading differs from others where a text has only these features.
bool differs(const Reading& reading, unsigned features) {
  if ((reading.options & ~features) != 0) return false;
  if (reading.dots != Dots::kept && (features & kDots) == 0) return false;
  if (reading.escapes == Escapes::separating) return (features & kSeparators) != 0;
  return reading.escapes != Escapes::kept || (features & kNeedless) != 0;
}

constexpr std::array<bool, 256> table_of(std::string_view characters) {
  std::array<bool, 256> table{};
  for (const char c : characters) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kOfNote = table_of("?#/%\\;");
constexpr std::array<bool, 256> kOfSegment =  // pchar of RFC 3986 section 3.3
    table_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@");

bool is_in(const std::array<bool, 256>& table, char c) {
  return table[static_cast<unsigned char>(c)];
}

struct Character {
  char value;
  bool is_escaped;
  std::size_t length;
};

bool has_escape(std::string_view text, std::size_t at) {
  return text[at] == '%' && at + 2 < text.size() && http::hex_value(text[at + 1]) >= 0 &&
         http::hex_value(text[at + 2]) >= 0;
}

Character character_at(std::string_view text, std::size_t at) {
  if (!has_escape(text, at)) return {text[at], false, 1};
  const int value = http::hex_value(text[at + 1]) * 16 + http::hex_value(text[at + 2]);
  return {static_cast<char>(value), true, 3};
}

// What a character is at which a path ends for readers that decode first; 0 for others.
unsigned end_by(char c) { return c == '\0' ? kNul : c == '?' || c == '#' ? kQuery : 0u; }

// Whether nothing in the path needs attention: nearly every path is plain. Sets `end`.
bool is_plain(std::string_view path_and_query, std::size_t& end) {
  bool plain = path_and_query.starts_with('/');
  for (end = 0; end < path_and_query.size(); ++end) {
    const char c = path_and_query[end];
    if (!is_in(kOfNote, c)) continue;
    if (c == '?' || c == '#') break;
    const char next = end + 1 < path_and_query.size() ? path_and_query[end + 1] : '?';
    plain = plain && c == '/' && next != '/' && next != '.';
  }
  return plain;
}

// What a text has; rather too much than too little.
unsigned features_of(std::string_view text) {
  unsigned found = 0;
  int dots = -1;  // the segment so far, if it is nothing but dots
  const auto end_segment = [&] { found |= dots == 1 || dots == 2 ? kDots : 0u; };
  for (std::size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    i += c.length;
    const bool is_separator = c.value == '/' || c.value == '\\';
    if (is_separator || c.value == ';') {
      end_segment();
      if (dots == 0) found |= kEmptySegments;
      if (c.value == '\\') found |= kBackslashes;
      if (c.value == ';') found |= kParameters | (c.is_escaped ? kNeedless : 0u);
      if (is_separator && c.is_escaped) found |= kSeparators;
      dots = is_separator ? 0 : -1;
    } else if (end_by(c.value) != 0) {
      end_segment();
      found |= end_by(c.value);
      dots = -1;
    } else {
      if (c.is_escaped && is_in(kOfSegment, c.value)) found |= kNeedless;
      if (c.is_escaped && (c.value == '%' || http::hex_value(c.value) >= 0)) found |= kTwice;
      dots = c.value == '.' && dots >= 0 ? dots + 1 : -1;
    }
  }
  end_segment();
  return found;
}

// Builds one reading of `path` in `out`, which has room for the path and one byte more: no step
// writes more than it reads, once the first slash stands.
class Builder {
 public:
  Builder(char* out, const Reading& how) : out_(out), how_(how) {}

  std::string_view build(std::string_view path) {
    if (path.starts_with('/')) path.remove_prefix(1);
    begin_segment();
    for (std::size_t i = 0; i < path.size();) {
      const Character c = character_at(path, i);
      if ((how_.options & end_by(c.value)) != 0 && decodes()) break;
      if (separates(c)) {
        end_segment();
        begin_segment();
      } else {
        put(c, path.substr(i, c.length));
      }
      i += c.length;
    }
    end_segment();
    while (size_ > 0 && out_[size_ - 1] == '/') --size_;
    if (size_ == 0) out_[size_++] = '/';
    return {out_, size_};
  }

 private:
  bool has(Feature option) const { return (how_.options & option) != 0; }
  bool decodes() const {
    return how_.escapes == Escapes::decoded || how_.escapes == Escapes::separating;
  }

  bool separates(const Character& c) const {
    if (c.is_escaped && how_.escapes != Escapes::separating) return false;
    return c.value == '/' || (c.value == '\\' && has(kBackslashes));
  }

  void begin_segment() {
    segment_ = size_;
    in_parameters_ = false;
    out_[size_++] = '/';
  }

  void put(const Character& c, std::string_view written) {
    if (has(kParameters) && c.value == ';' && (!c.is_escaped || decodes())) in_parameters_ = true;
    if (in_parameters_) return;
    const bool is_kept = how_.escapes == Escapes::verbatim ||
                         (how_.escapes == Escapes::kept && is_in(kOfSegment, c.value));
    if (!c.is_escaped) {
      out_[size_++] = c.value;
    } else if (!is_kept && (c.value == '/' || c.value == '\\')) {
      append(c.value == '/' ? "%2F" : "%5C");
    } else if (is_kept) {
      append(written);
    } else {
      out_[size_++] = c.value;
    }
  }

  void append(std::string_view text) {
    std::copy(text.begin(), text.end(), out_ + size_);
    size_ += text.size();
  }

  // How many dots the segment is; 0 if there is anything else.
  std::size_t dots_in(std::string_view segment) const {
    if (how_.dots == Dots::kept) return 0;
    std::size_t dots = 0;
    while (!segment.empty()) {
      const bool is_encoded = how_.dots == Dots::encoded && http::istarts_with(segment, "%2e");
      if (!is_encoded && segment.front() != '.') return 0;
      segment.remove_prefix(is_encoded ? 3 : 1);
      ++dots;
    }
    return dots;
  }

  // Drops what is no segment in this reading, and for ".." the segment before.
  void end_segment() {
    const std::string_view text(out_ + segment_ + 1, size_ - segment_ - 1);
    const std::size_t dots = dots_in(text);
    if (text.empty() ? has(kEmptySegments) : dots != 1 && dots != 2) return;
    size_ = segment_;
    if (dots != 2) return;
    while (size_ > 0 && out_[--size_] != '/') {
    }
  }

  char* out_;
  const Reading how_;
  std::size_t size_ = 0;
  std::size_t segment_ = 0;  // where the current segment's "/" is
  bool in_parameters_ = false;
};

std::string_view decode_all(std::string_view text, char* out) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    out[size++] = c.value;
    i += c.length;
  }
  return {out, size};
}

// The path behind the authority of "//authority/path"; empty if there is none.
std::string_view behind_authority(std::string_view path, std::string_view slashes) {
  const auto is_slash = [&](std::size_t i) {
    return i < path.size() && slashes.find(path[i]) != std::string_view::npos;
  };
  if (!is_slash(0) || !is_slash(1)) return {};
  return path.substr(std::min(path.find_first_of(slashes, 2), path.size()));
}

}  // namespace

PathReadings::PathReadings(std::string_view path_and_query) {
  std::size_t end = 0;
  is_plain_ = is_plain(path_and_query, end);
  path_ = path_and_query.substr(0, end);
  if (is_plain_) {
    if (path_.size() > 1 && path_.ends_with('/')) path_.remove_suffix(1);
    return;
  }
  too_many_ = path_.size() > http::kMaxRequestLine;
  if (too_many_) path_ = "/";
  next_options_ = kReadings;
  features_seen_ = features_of(path_);
}

bool PathReadings::next() {
  if (is_plain_) {
    reading_ = path_;
    return !std::exchange(has_begun_, true);
  }
  for (;;) {
    while (next_options_ < kReadings) {
      const Reading how = reading_of(next_options_++);
      if (features_ == 0) next_options_ = kReadings;
      if (!differs(how, features_)) continue;
      work_ += text_.size() + kEach;
      if (work_ > kMostWork && has_begun_) {
        too_many_ = true;
        return false;
      }
      has_begun_ = true;
      reading_ = Builder(reading_block_.data(), how).build(text_);
      return true;
    }
    if (!next_text()) return false;
    next_options_ = 0;
  }
}

// Each source, after each first step.
bool PathReadings::next_text() {
  constexpr unsigned kSources = 4;
  while (next_text_ < kSources * kFirstSteps) {
    const unsigned step = next_text_ % kFirstSteps;
    if (step == 0 && !begin_source(next_text_ / kFirstSteps)) {
      next_text_ += kFirstSteps;
      continue;
    }
    ++next_text_;
    if (make_text(step)) return true;
  }
  return false;
}

// The path itself, decoded once, and without what may be an authority.
bool PathReadings::begin_source(unsigned number) {
  source_ = path_;
  source_features_ = features_seen_;
  if (number == 0) return true;
  if (number == 1) {
    if ((features_seen_ & kTwice) == 0) return false;
    source_ = decode_all(path_, source_block_.data());
  } else {
    source_ = behind_authority(path_, number == 2 ? "/" : "/\\");
    if (source_.empty()) return false;
  }
  source_features_ = features_of(source_);
  if (number == 1) features_twice_ = source_features_;
  return true;
}

bool PathReadings::make_text(unsigned number) {
  const Reading step = first_step(number);
  const unsigned needed = needed_for(step);
  if ((source_features_ & needed) != needed) return false;
  text_ = source_;
  features_ = source_features_;
  if (needed == 0) return true;
  work_ += source_.size() + kEach;
  text_ = Builder(text_block_.data(), step).build(source_);
  features_ = features_of(text_);
  return true;
}

bool PathReadings::is_ambiguous() const {
  return too_many_ || ((features_seen_ | features_twice_) & ~(kNeedless | kTwice)) != 0;
}

std::string decoded_segment(std::string_view segment) {
  std::string out(segment.size() + 1, '\0');
  return std::string(Builder(out.data(), {}).build(segment).substr(1));
}

}  // namespace spillway::traffic
