#include "fuzz/connection/reading.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "fuzz/chunk_reference.hpp"
#include "fuzz/connection/messages.hpp"

namespace spillway::fuzz {
namespace {

using std::string_view;
using Kind = http::Framing::Kind;

struct Line {
  string_view name;
  string_view value;
};

struct Head {
  string_view start_line;
  std::vector<Line> lines;
  std::size_t size = 0;
};

bool equal(string_view a, string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

bool is_token(string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != string_view::npos;
  });
}

string_view trimmed(string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool has_control(string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return (c < 32 && c != '\t') || c == 127; });
}

// Nothing: the text does not begin with a whole head that is one.
std::optional<Head> read_head(string_view text) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == text.npos) return std::nullopt;
  Head head;
  head.size = end + 4;
  string_view rest = text.substr(0, end + 2);
  while (!rest.empty()) {
    const std::size_t line_end = rest.find("\r\n");
    const string_view line = rest.substr(0, line_end);
    rest.remove_prefix(line_end + 2);
    if (has_control(line)) return std::nullopt;
    if (head.start_line.empty()) {
      head.start_line = line;
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == line.npos || !is_token(line.substr(0, colon))) return std::nullopt;
    head.lines.push_back({line.substr(0, colon), trimmed(line.substr(colon + 1))});
  }
  return head;
}

std::size_t count(const Head& head, string_view name) {
  return static_cast<std::size_t>(
      std::count_if(head.lines.begin(), head.lines.end(),
                    [&](const Line& line) { return equal(line.name, name); }));
}

string_view value_of(const Head& head, string_view name) {
  for (const Line& line : head.lines) {
    if (equal(line.name, name)) return line.value;
  }
  return {};
}

std::optional<std::uint64_t> length_of(string_view digits) {
  if (digits.empty() || digits.size() > 18) return std::nullopt;
  std::uint64_t length = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    length = length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return length;
}

// Of an answer that may say it several times. Nothing: there may be two ends.
std::optional<std::uint64_t> repeated_length(const Head& head) {
  std::optional<std::uint64_t> length;
  for (const Line& line : head.lines) {
    if (!equal(line.name, "Content-Length")) continue;
    string_view list = line.value;
    for (;;) {
      const std::size_t comma = list.find(',');
      const auto one = length_of(trimmed(list.substr(0, comma)));
      if (!one || (length && *length != *one)) return std::nullopt;
      length = one;
      if (comma == string_view::npos) break;
      list.remove_prefix(comma + 1);
    }
  }
  return length;
}

enum class Of { request, answer };

// Nothing: there may be two ends.
std::optional<http::Framing> framing_of(const Head& head, unsigned version, Of of) {
  http::Framing framing;
  const std::size_t lengths = count(head, "Content-Length");
  const std::size_t codings = count(head, "Transfer-Encoding");
  if (codings > 1 || (codings == 1 && lengths > 0)) return std::nullopt;
  if (lengths > 1 && of == Of::request) return std::nullopt;
  if (codings == 1) {
    if (version == 10 || !equal(value_of(head, "Transfer-Encoding"), "chunked"))
      return std::nullopt;
    framing.kind = Kind::chunked;
  } else if (lengths > 0) {
    const auto length =
        of == Of::answer ? repeated_length(head) : length_of(value_of(head, "Content-Length"));
    if (!length) return std::nullopt;
    framing.length = *length;
    if (framing.length > 0) framing.kind = Kind::length;
  }
  return framing;
}

// 0: none that is spoken.
unsigned version_of(string_view text) {
  if (text == "HTTP/1.0") return 10;
  const bool is_later =
      text.size() == 8 && text.starts_with("HTTP/1.") && text.back() >= '1' && text.back() <= '9';
  return is_later ? 11 : 0;
}

bool persists(const Head& head, unsigned version) {
  bool close = false, keep_alive = false;
  for (const Line& line : head.lines) {
    if (!equal(line.name, "Connection")) continue;
    string_view rest = line.value;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const string_view option = trimmed(rest.substr(0, comma));
      close = close || equal(option, "close");
      keep_alive = keep_alive || equal(option, "keep-alive");
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return !close && (version == 11 || keep_alive);
}

struct Body {
  std::string content;
  std::size_t size = 0;
  bool is_complete = false;
};

Body read_body(http::Framing framing, string_view rest, std::uint64_t limit, bool of_request) {
  if (framing.kind == Kind::chunked) {
    Decoded decoded = decode_chunked(rest, limit, of_request);
    const bool is_complete = decoded.verdict == Decoded::Verdict::complete;
    return {std::move(decoded.content), decoded.consumed, is_complete};
  }
  const string_view content = rest.substr(0, framing.length);
  return {std::string(content), content.size(), content.size() == framing.length};
}

// The request that the text begins with, and its size; nothing if it is none.
std::optional<std::size_t> read_one(string_view text, std::uint64_t limit, SentRequest& request,
                                    bool& is_last) {
  const auto head = read_head(text);
  if (!head) return std::nullopt;
  const string_view line = head->start_line;
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == line.npos || first == last) return std::nullopt;
  const string_view target = line.substr(first + 1, last - first - 1);
  request.method = line.substr(0, first);
  request.version = version_of(line.substr(last + 1));
  if (!is_token(request.method) || request.version == 0) return std::nullopt;
  if (target.empty() || target.find_first_of(" \t") != target.npos) return std::nullopt;
  const auto framing = framing_of(*head, request.version, Of::request);
  if (!framing) return std::nullopt;
  request.head = text.substr(0, head->size);
  request.marks = marks_in(request.head, 'q');
  if (!request.marks.empty()) request.id = request.marks.front();
  Body body = read_body(*framing, text.substr(head->size), limit, true);
  request.content = std::move(body.content);
  request.is_complete = body.is_complete;
  is_last = !persists(*head, request.version);
  return head->size + body.size;
}

}  // namespace

SentRequests read_requests(string_view sent, std::uint64_t body_limit) {
  SentRequests found;
  const std::size_t all = sent.size();
  for (bool is_last = false; !is_last;) {
    for (int empty_lines = 0; empty_lines < 4 && sent.starts_with("\r\n"); ++empty_lines)
      sent.remove_prefix(2);
    if (sent.empty()) return found;
    SentRequest request;
    const auto size = read_one(sent, body_limit, request, is_last);
    found.has_tail = !size.has_value();
    if (!size) return found;
    found.requests.push_back(std::move(request));
    if (!found.requests.back().is_complete) {
      found.has_tail = false;
      return found;
    }
    sent.remove_prefix(*size);
    found.requests.back().end = all - sent.size();
  }
  return found;
}

SentAnswer read_answer(string_view sent, bool is_to_head, bool has_server_closed) {
  SentAnswer answer;
  for (;;) {
    const auto head = read_head(sent);
    if (!head) return answer;
    const string_view line = head->start_line;
    const unsigned version = version_of(line.substr(0, 8));
    if (version == 0 || line.size() < 12 || line[8] != ' ') return answer;
    answer.status = 0;
    for (const char c : line.substr(9, 3)) {
      if (c < '0' || c > '9') return answer;
      answer.status = answer.status * 10 + static_cast<unsigned>(c - '0');
    }
    const auto framing = framing_of(*head, version, Of::answer);
    if (!framing || answer.status < 100 || answer.status == 101) return answer;
    // Empty lines before it are none of it.
    const auto begin = static_cast<std::size_t>(line.data() - sent.data());
    answer.head = sent.substr(begin, head->size - begin);
    sent.remove_prefix(head->size);
    if (answer.status < 200) continue;
    answer.is_valid = true;
    const bool is_bodiless = is_to_head || answer.status == 204 || answer.status == 304;
    const bool is_framed = count(*head, "Content-Length") + count(*head, "Transfer-Encoding") > 0;
    if (is_bodiless) {
      answer.is_complete = true;
    } else if (is_framed) {
      Body body = read_body(*framing, sent, UINT64_MAX, false);
      answer.content = std::move(body.content);
      answer.is_complete = body.is_complete;
    } else {
      answer.content = sent;
      answer.is_complete = has_server_closed;
    }
    return answer;
  }
}

bool is_idempotent(string_view method) {
  constexpr std::array<string_view, 6> kThey{"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"};
  return std::find(kThey.begin(), kThey.end(), method) != kThey.end();
}

}  // namespace spillway::fuzz
