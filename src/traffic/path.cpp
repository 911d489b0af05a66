#include "traffic/path.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "http/ascii.hpp"

namespace spillway::traffic {
namespace {

enum class Reading { decoded, literal };

// Characters that need attention; rare in paths.
constexpr std::array<bool, 256> characters_of_note() {
  std::array<bool, 256> table{};
  for (const char c : {'?', '#', '/', '%', '\\', ';'}) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kOfNote = characters_of_note();

struct Path {
  std::string_view text;  // without query
  bool is_plain;          // already in both normal forms
};

// In one pass, since nearly every path is plain.
Path read_path(std::string_view path_and_query) {
  bool is_plain = path_and_query.starts_with('/');
  std::size_t end = 0;
  for (; end < path_and_query.size(); ++end) {
    const char c = path_and_query[end];
    if (!kOfNote[static_cast<unsigned char>(c)]) continue;
    if (c == '?' || c == '#') break;
    const char next = end + 1 < path_and_query.size() ? path_and_query[end + 1] : '?';
    const bool is_last = next == '?' || next == '#';
    is_plain = is_plain && c == '/' && next != '/' && next != '.' && (!is_last || end == 0);
  }
  return {path_and_query.substr(0, end), is_plain};
}

// Builds one reading in `out`, which has room for the path and one byte more: no step writes more
// than it reads.
class Builder {
 public:
  Builder(std::span<char> out, Reading reading) : out_(out), reading_(reading) {}

  std::string_view build(std::string_view path) {
    begin_segment();
    for (std::size_t i = 0; i < path.size(); ++i) {
      const char c = path[i];
      if (c == '%' && i + 2 < path.size() && http::hex_value(path[i + 1]) >= 0 &&
          http::hex_value(path[i + 2]) >= 0) {
        escape(static_cast<char>(http::hex_value(path[i + 1]) * 16 + http::hex_value(path[i + 2])));
        i += 2;
      } else if (c == '/' || (c == '\\' && reading_ == Reading::decoded)) {
        end_segment();
        begin_segment();
      } else {
        put(c);
      }
    }
    end_segment();
    if (size_ == 0) out_[size_++] = '/';
    return {out_.data(), size_};
  }

 private:
  void begin_segment() {
    segment_ = size_;
    in_parameters_ = false;
    escaped_dot_ = false;
    out_[size_++] = '/';
  }

  void put(char c) {
    in_parameters_ = in_parameters_ || (c == ';' && reading_ == Reading::decoded);
    if (!in_parameters_) out_[size_++] = c;
  }

  void escape(char c) {
    const bool separator = c == '/' || c == '\\';
    if (separator && reading_ == Reading::decoded) {
      end_segment();
      begin_segment();
    } else if (separator) {
      put('%');
      put(c == '/' ? '2' : '5');
      put(c == '/' ? 'F' : 'C');
    } else {
      escaped_dot_ = escaped_dot_ || c == '.';
      put(c);
    }
  }

  // Drops an empty or dot segment, and for ".." the one before.
  void end_segment() {
    const std::string_view text(out_.data() + segment_ + 1, size_ - segment_ - 1);
    const bool dots = !(escaped_dot_ && reading_ == Reading::literal);
    if (text.empty() || (dots && text == ".")) {
      size_ = segment_;
    } else if (dots && text == "..") {
      size_ = segment_;
      while (size_ > 0 && out_[--size_] != '/') {
      }
    }
  }

  std::span<char> out_;
  Reading reading_;
  std::size_t size_ = 0;
  std::size_t segment_ = 0;  // where the current segment's "/" is
  bool escaped_dot_ = false;
  bool in_parameters_ = false;
};

}  // namespace

NormalisedPath normalise(std::string_view path_and_query, std::span<char> scratch) {
  const auto [path, is_plain] = read_path(path_and_query);
  if (is_plain) return {path, path};
  const std::size_t room = path.size() + 1;
  if (scratch.size() < 2 * room) return {};
  const std::string_view decoded = Builder(scratch.first(room), Reading::decoded).build(path);
  const bool same = path.find_first_of("%\\;") == std::string_view::npos;
  if (same) return {decoded, decoded};
  return {decoded, Builder(scratch.subspan(room, room), Reading::literal).build(path)};
}

}  // namespace spillway::traffic
