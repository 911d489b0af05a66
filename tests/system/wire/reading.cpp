#include "system/wire/reading.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace spillway::wire {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text,
                             [](unsigned char c) { return (c < 32 && c != '\t') || c == 127; });
}

bool is_host(std::string_view text) {
  constexpr std::string_view kMarks = "-._~%!$&'()*+,;=:[]";
  return !text.empty() && std::ranges::all_of(text, [&](unsigned char c) {
    return std::isalnum(c) != 0 || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\v\f";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// By the letter.
class Strict {
 public:
  explicit Strict(std::string_view received) : rest_(received) {}

  Reading read() {
    while (!rest_.empty() && reading_.trouble.empty()) {
      ++reading_.begun;
      if (!read_one()) break;
    }
    return std::move(reading_);
  }

 private:
  bool wrong(std::string what) {
    reading_.trouble = std::move(what);
    return false;
  }

  // Up to the CRLF, which is taken too. False when there is none.
  bool take_line(std::string_view& line) {
    const std::size_t end = rest_.find(kLineEnd);
    line = rest_.substr(0, end);
    // What is cut off may be so between CR and LF.
    if (end == std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
    if (has_control(line)) return wrong("a control character in a line");
    if (end == std::string_view::npos) return false;  // cut off
    rest_.remove_prefix(end + 2);
    return true;
  }

  bool take_field(std::string_view line, support::Fields& fields) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
      return wrong("no field: '" + std::string(line) + "'");
    }
    fields.emplace_back(line.substr(0, colon), trimmed(line.substr(colon + 1)));
    return true;
  }

  bool check_request_line(std::string_view line) {
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    const std::string_view version = line.substr(last + 1);
    if (first == std::string_view::npos || first == last || !is_token(line.substr(0, first)) ||
        line.substr(first + 1, last - first - 1).find_first_of(" \t") != std::string_view::npos ||
        (version != "HTTP/1.1" && version != "HTTP/1.0")) {
      return wrong("no request line: '" + std::string(line) + "'");
    }
    return true;
  }

  bool read_one() {
    Message message;
    std::string_view line;
    if (!take_line(line) || !check_request_line(line)) return false;
    message.start_line = line;
    for (;;) {
      if (!take_line(line)) return false;
      if (line.empty()) break;
      if (!take_field(line, message.fields)) return false;
    }
    if (std::string fault = fault_of_fields(message.fields); !fault.empty()) return wrong(fault);
    const std::size_t hosts = support::count(message.fields, "Host");
    const bool modern = message.start_line.ends_with('1');
    if (hosts > 1 || (hosts == 0 && modern)) return wrong(std::to_string(hosts) + " Host fields");
    if (hosts == 1 && !is_host(*message.field("Host"))) {
      return wrong("Host is '" + *message.field("Host") + "'");
    }
    if (message.field("Transfer-Encoding")) {
      if (!modern) return wrong("Transfer-Encoding in HTTP/1.0");
      if (!take_chunks(message)) return false;
    } else if (const auto length = message.field("Content-Length")) {
      std::uint64_t size = 0;
      const auto parsed = std::from_chars(length->data(), length->data() + length->size(), size);
      if (parsed.ec != std::errc{}) return wrong("Content-Length is '" + *length + "'");
      if (rest_.size() < size) return false;
      message.body = message.raw_body = rest_.substr(0, size);
      rest_.remove_prefix(size);
    }
    reading_.requests.push_back(std::move(message));
    return true;
  }

  bool take_chunks(Message& message) {
    const std::string_view all = rest_;
    for (;;) {
      std::string_view line;
      if (!take_line(line)) return false;
      std::uint64_t size = 0;
      std::string_view digits = line.substr(0, line.find(';'));
      // RFC 9110 section 5.6.3: bad white space, but only where an extension follows.
      if (digits.size() < line.size()) {
        while (digits.ends_with(' ') || digits.ends_with('\t')) digits.remove_suffix(1);
      }
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
      if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size()) {
        return wrong("no chunk size: '" + std::string(line) + "'");
      }
      if (size == 0) break;
      if (rest_.size() < size || rest_.size() - size < 2) return false;
      message.body += rest_.substr(0, size);
      if (rest_.substr(size, 2) != kLineEnd) return wrong("a chunk does not end where it should");
      rest_.remove_prefix(size + 2);
    }
    for (;;) {
      std::string_view line;
      if (!take_line(line)) return false;
      if (line.empty()) break;
      if (!take_field(line, message.trailers)) return false;
    }
    message.raw_body = all.substr(0, all.size() - rest_.size());
    return true;
  }

  std::string_view rest_;
  Reading reading_;
};

// The line up to LF, without it; nullopt when there is none.
std::optional<std::string_view> lenient_line(std::string_view text, std::size_t at) {
  const std::size_t end = text.find('\n', at);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(at, end - at);
}

std::optional<std::size_t> lenient_chunks(std::string_view body) {
  std::size_t at = 0;
  for (;;) {
    const auto line = lenient_line(body, at);
    if (!line) return std::nullopt;
    at += line->size() + 1;
    std::uint64_t size = 0;
    const std::string_view digits = trimmed(*line);
    std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
    if (size == 0) break;
    if (size > body.size() - at) return std::nullopt;
    at += size;
    if (body.substr(at, 2) == kLineEnd) {
      at += 2;
    } else if (body.substr(at, 1) == "\n") {
      at += 1;
    } else if (at >= body.size() || body.substr(at) == "\r") {
      return std::nullopt;
    }
  }
  for (;;) {
    const auto line = lenient_line(body, at);
    if (!line) return std::nullopt;
    at += line->size() + 1;
    if (trimmed(*line).empty()) return at;
  }
}

}  // namespace

std::string fault_of_fields(const support::Fields& fields) {
  for (const auto& [name, value] : fields) {
    if (!is_token(name)) return "a field is called '" + name + "'";
    if (has_control(value)) return "a control character in " + name;
  }
  const std::size_t codings = support::count(fields, "Transfer-Encoding");
  const std::size_t lengths = support::count(fields, "Content-Length");
  if (codings + lengths > 1) {
    return std::to_string(codings) + " Transfer-Encoding and " + std::to_string(lengths) +
           " Content-Length fields";
  }
  if (codings == 1 && lower(*support::find(fields, "Transfer-Encoding")) != "chunked") {
    return "Transfer-Encoding is '" + *support::find(fields, "Transfer-Encoding") + "'";
  }
  if (lengths == 1 && !is_number(*support::find(fields, "Content-Length"))) {
    return "Content-Length is '" + *support::find(fields, "Content-Length") + "'";
  }
  return {};
}

Reading read_strictly(std::string_view received) { return Strict(received).read(); }

std::optional<Extent> lenient_extent(std::string_view received, const Leniency& leniency) {
  std::size_t at = 0;
  bool chunked = false;
  bool any_length = false;
  std::uint64_t length = 0;
  for (bool first = true;; first = false) {
    const auto line = lenient_line(received, at);
    if (!line) return std::nullopt;
    at += line->size() + 1;
    if (trimmed(*line).empty()) {
      if (!first) break;
      continue;
    }
    const std::size_t colon = std::min(line->find(':'), line->size());
    const std::string name = lower(trimmed(line->substr(0, colon)));
    const std::string_view value = trimmed(line->substr(std::min(colon + 1, line->size())));
    if (name == "transfer-encoding" && lower(value).find("chunked") != std::string::npos) {
      chunked = true;
    }
    if (name == "content-length" && (!any_length || leniency.last_length)) {
      any_length = true;
      length = 0;
      std::from_chars(value.data(), value.data() + value.size(), length);
    }
  }
  Extent extent{.head = at, .all = std::nullopt};
  if (chunked && (leniency.chunked_wins || !any_length)) {
    if (const auto body = lenient_chunks(received.substr(at))) extent.all = at + *body;
  } else if (length <= received.size() - at) {
    extent.all = at + length;
  }
  return extent;
}

std::size_t lenient_count(std::string_view received) {
  std::size_t most = 0;
  for (const bool chunked_wins : {false, true}) {
    for (const bool last_length : {false, true}) {
      const Leniency leniency{.chunked_wins = chunked_wins, .last_length = last_length};
      std::size_t count = 0;
      std::string_view rest = received;
      while (rest.find_first_not_of("\r\n") != std::string_view::npos) {
        ++count;
        const auto extent = lenient_extent(rest, leniency);
        if (!extent || !extent->all) break;
        rest.remove_prefix(*extent->all);
      }
      most = std::max(most, count);
    }
  }
  return most;
}

}  // namespace spillway::wire
