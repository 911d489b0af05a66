#include "config/file/document.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace spillway::config {
namespace {

using nlohmann::json;

std::string position(std::string_view file, std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n');
  const auto column = 1 + (start == before.npos ? offset : offset - start - 1);
  return std::string(file) + ":" + std::to_string(line) + ":" + std::to_string(column);
}

// The library's message quotes the last token it read, which may be a secret.
void leave_out_quotation(std::string& message) {
  const auto from = message.find("; last read: '");
  if (from == message.npos) return;
  const auto to = message.rfind("'; expected ");
  message.erase(from, to == message.npos || to < from ? message.npos : to + 1 - from);
}

// Names the text's actual format, if its beginning reveals it.
std::string other_than_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return "not JSON: the file is empty";
  constexpr std::string_view kBegins = "{[/\xEF";  // also a comment, and a byte order mark
  if (kBegins.find(text[first]) != kBegins.npos) return {};
  return "not JSON, which begins with '{' (YAML is not read)";
}

// Builds the tree from the parser's events. `open_` is the path from the root.
class TreeBuilder : public nlohmann::json_sax<json> {
 public:
  json root;
  Problems duplicates;
  std::optional<std::pair<std::size_t, std::string>> error;  // offset, message

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    Level& level = open_.back();
    level.duplicate = level.node->contains(name);
    if (level.duplicate) {
      duplicates.push_back({member(path(), name), "duplicate key: it was given before"});
    }
    level.key = name;
    return true;
  }

  bool parse_error(std::size_t offset, const std::string& /*last_token*/,
                   const json::exception& exception) override {
    std::string message = exception.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    if (const auto at = message.find(": "); exception.id == 101 && at != message.npos) {
      message.erase(0, at + 2);
      leave_out_quotation(message);
    } else {
      message = "number out of range";
    }
    if (message.size() > kMessage) message = message.substr(0, kMessage) + "...";
    std::replace_if(
        message.begin(), message.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
    error = {offset == 0 ? 0 : offset - 1, std::move(message)};
    return false;
  }

  bool is_too_deep() const { return too_deep_; }

 private:
  static constexpr std::size_t kMessage = 200;

  struct Level {
    json* node;
    std::string key;         // in an object: the key of the next value
    bool duplicate = false;  // the key was given before: its value is discarded
    json thrown_away = nullptr;
  };

  // Stores the next value in its place.
  json* place(json&& value) {
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    Level& level = open_.back();
    if (level.node->is_array()) {
      level.node->push_back(std::move(value));
      return &level.node->back();
    }
    json& slot = level.duplicate ? level.thrown_away : (*level.node)[level.key];
    slot = std::move(value);
    return &slot;
  }

  bool add(json value) {
    place(std::move(value));
    return true;
  }

  bool open(json empty) {
    if (open_.size() == kMaxDepth) {
      too_deep_ = true;
      return false;
    }
    open_.reserve(kMaxDepth);  // no reallocation: pointers into it stay valid
    json* node = place(std::move(empty));
    open_.push_back({node, {}, false, nullptr});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string path() const {
    std::string out = "$";
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      out = open_[i].node->is_array() ? element(out, open_[i].node->size() - 1)
                                      : member(out, open_[i].key);
    }
    return out;
  }

  std::vector<Level> open_;
  bool too_deep_ = false;
};

// A file that is read with time limits: a pipe may have no writer, or a silent one.
class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)), error_(errno) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_directory() const {
    struct stat status;
    return fd_ >= 0 && ::fstat(fd_, &status) == 0 && S_ISDIR(status.st_mode);
  }

  // Reads at most `text.size()` bytes, and shrinks `text` to them. Returns the error, or nothing.
  std::string read(std::string& text, const ReadPatience& patience) const {
    if (fd_ < 0) return "cannot read: " + std::generic_category().message(error_);
    using std::chrono::steady_clock;
    const steady_clock::time_point end = steady_clock::now() + patience.whole;
    std::size_t size = 0;
    while (size < text.size()) {
      const auto left = std::chrono::ceil<Milliseconds>(end - steady_clock::now());
      if (left.count() <= 0)
        return "cannot read: it did not end within " + std::to_string(patience.whole.count()) +
               " ms";
      pollfd ready{fd_, POLLIN, 0};
      const Milliseconds wait = std::min(patience.silence, left);
      if (::poll(&ready, 1, static_cast<int>(wait.count())) == 0) {
        if (wait < patience.silence) continue;
        return "cannot read: nothing came for " + std::to_string(patience.silence.count()) + " ms";
      }
      const ssize_t got = ::read(fd_, text.data() + size, text.size() - size);
      if (got < 0 && errno != EAGAIN && errno != EINTR) return "cannot read to its end";
      if (got == 0) break;
      if (got > 0) size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    return {};
  }

 private:
  int fd_;
  int error_;
};

}  // namespace

FileText read_file(const std::filesystem::path& path, std::size_t max_bytes,
                   const ReadPatience& patience) {
  std::string text(max_bytes + 1, '\0');
  const Descriptor file(path);
  const std::string why =
      file.is_directory() ? "cannot read: it is a directory" : file.read(text, patience);
  if (!why.empty()) return {std::nullopt, {{path.string(), why}}};
  return {std::move(text), {}};
}

Document parse(std::string_view text, std::string_view file_name) {
  const auto failed = [&](std::size_t offset, std::string message) {
    return Document{std::nullopt, {{position(file_name, text, offset), std::move(message)}}};
  };
  if (text.size() > kMaxFileBytes) {
    return failed(0, "the file has " + std::to_string(text.size()) + " bytes, allowed: up to " +
                         std::to_string(kMaxFileBytes));
  }
  if (const auto nul = text.find('\0'); nul != text.npos) {
    return failed(nul, "a NUL byte: this is not a text file");
  }
  TreeBuilder builder;
  const bool parsed = json::sax_parse(text.begin(), text.end(), &builder,
                                      json::input_format_t::json, /*strict=*/true,
                                      /*ignore_comments=*/true);
  if (builder.is_too_deep()) {
    return Document{std::nullopt,
                    {{std::string(file_name),
                      "nested more than " + std::to_string(kMaxDepth) + " levels deep"}}};
  }
  if (builder.error) {
    const std::string instead = other_than_json(text);
    return failed(builder.error->first,
                  instead.empty() ? std::move(builder.error->second) : instead);
  }
  if (!parsed) return failed(text.size(), "not JSON");
  return {std::move(builder.root), std::move(builder.duplicates)};
}

}  // namespace spillway::config
