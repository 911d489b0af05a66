#include "traffic/route/path.hpp"

#include <algorithm>
#include <utility>

#include "traffic/route/path_steps.hpp"
#include "traffic/route/segment_table.hpp"

namespace spillway::traffic {
namespace {

constexpr std::array<bool, 256> kOfNote = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("?#/%\\; \x85\xa0"))
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();

// Whether the path needs no further work: nearly every path is plain. Sets `end`.
bool is_plain(std::string_view path_and_query, std::size_t& end) {
  bool plain = path_and_query.starts_with('/');
  char before = '/';
  for (end = 0; end < path_and_query.size(); ++end) {
    const char c = path_and_query[end];
    if (kOfNote[static_cast<unsigned char>(c)]) {
      if (c == '?' || c == '#') break;
      const char next = end + 1 < path_and_query.size() ? path_and_query[end + 1] : '?';
      plain = plain && c == '/' && before != '.' && next != '/' && next != '.';
    }
    before = c;
  }
  return plain && before != '.';
}

// Features that do not make a path ambiguous by themselves.
constexpr unsigned kHarmless = kEscapes | kUnreserved | kLooseEnds | kBlankEnd | kBlankEdges;

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
  begin(too_many_ ? std::string_view("/") : path_);
}

// The path itself is the first text.
void PathReadings::begin(std::string_view path) {
  if (!path.starts_with('/')) block_[used_++] = '/';
  std::copy(path.begin(), path.end(), block_.begin() + used_);
  const std::size_t size = used_ + path.size();
  used_ = 0;
  path_ = {block_.data(), size};
  features_ = features_of(path_, true);
  if (features_ == 0) return;
  slots_.fill(0);
  spend(size);
  add(size, true);
}

bool PathReadings::next() {
  if (is_plain_) {
    reading_ = path_;
    return !std::exchange(has_begun_, true);
  }
  if (!std::exchange(has_begun_, true)) {
    reading_ = {reading_block_.data(), standard_reading(path_, reading_block_.data())};
    if (reading_.empty()) reading_ = "/";
    return true;
  }
  while (shown_ == count_) {
    if (expanded_ == count_ || !expand(texts_[expanded_++])) return false;
  }
  const Text& text = texts_[shown_++];
  reading_ = view(text);
  if (text.raw) reading_ = {reading_block_.data(), raw_reading(reading_, reading_block_.data())};
  return true;
}

// Adds the results of each single step on the text. False if that exceeds the work limit.
bool PathReadings::expand(const Text& text) {
  const std::string_view from = view(text);
  const unsigned features = features_of(from, text.raw);
  features_ |= features;
  for (const PathStep& step : path_steps()) {
    if ((features & step.feature) == 0) continue;
    if (!spend(from.size())) return false;
    add(step.apply(from, block_.data() + used_), text.raw && !step.decodes);
  }
  return true;
}

bool PathReadings::spend(std::size_t bytes) {
  work_ += bytes + kEach;
  too_many_ = too_many_ || work_ > kMostWork;
  return !too_many_;
}

// Adds the text just written at the end of the block, unless it is already among the texts.
void PathReadings::add(std::size_t size, bool raw) {
  char* const begin = block_.data() + used_;
  while (size > 0 && begin[size - 1] == '/') --size;
  if (size == 0) begin[size++] = '/';
  const std::string_view text(begin, size);
  raw = raw && text.find('%') != std::string_view::npos;
  const auto hash = static_cast<std::uint32_t>(SegmentTable::hash(text));
  std::size_t slot = hash % kSlots;
  for (; slots_[slot] != 0; slot = (slot + 1) % kSlots) {
    const Text& other = texts_[slots_[slot] - 1u];
    if (other.hash == hash && other.raw == raw && view(other) == text) return;
  }
  texts_[count_++] = {static_cast<std::uint16_t>(used_), static_cast<std::uint16_t>(size), hash,
                      raw};
  slots_[slot] = static_cast<std::uint16_t>(count_);
  used_ += size;
}

bool PathReadings::is_ambiguous() const { return too_many_ || (features_ & ~kHarmless) != 0; }

std::string decoded_segment(std::string_view segment) {
  std::string out(segment.size(), '\0');
  out.resize(decode_segment(segment, out.data()));
  return out;
}

}  // namespace spillway::traffic
