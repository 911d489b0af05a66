// Any bytes as a request out of whose head cookies are taken, where it was received: the head that
// is left reads as the former one without them, and nothing beside it is touched.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/claim.hpp"
#include "fuzz/options.hpp"
#include "fuzz/plain_head.hpp"
#include "fuzz/targets.hpp"
#include "http/field/ascii.hpp"
#include "http/field/cookie.hpp"
#include "http/message/head.hpp"
#include "http/message/request_reader.hpp"

namespace spillway::fuzz {
namespace {

using Cookie = std::pair<std::string, std::string>;
using Cookies = std::vector<Cookie>;

// By the name, as the proxy does, or by anything else.
bool is_taken(unsigned how, std::string_view name, std::string_view value) {
  switch (how % 4) {
    case 0: return name.starts_with("__Host-spillway-");
    case 1: return true;
    case 2: return (name.size() + value.size()) % 2 == 0;
    default: return value.find_first_of("\"=, \t") != value.npos;
  }
}

struct Line {
  std::string name;
  std::string value;
  std::string whole;  // with its end; empty: something was taken of it

  bool operator==(const Line&) const = default;
};

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> split(std::string_view value) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = value.find(';');
    parts.push_back(value.substr(0, end));
    if (end == value.npos) return parts;
    value.remove_prefix(end + 1);
  }
}

// What is to be left of the head; `asked`: its cookies.
std::vector<Line> left_of(const PlainHead& head, unsigned how, Cookies& asked) {
  std::vector<Line> lines;
  for (const PlainField& field : head.fields) {
    Line line{std::string(field.name), std::string(field.value), std::string(field.line)};
    if (http::iequals(field.name, "Cookie")) {
      std::string kept;
      bool has_first = false, has_any = false;
      for (const std::string_view part : split(field.value)) {
        const std::string_view text = without_blanks(part);
        const std::size_t equals = text.find('=');
        if (equals != text.npos) {
          asked.emplace_back(text.substr(0, equals), text.substr(equals + 1));
          if (is_taken(how, asked.back().first, asked.back().second)) {
            line.whole.clear();
            continue;
          }
        }
        if (std::exchange(has_first, true)) kept += ';';
        kept += part;
        has_any = has_any || !text.empty();
      }
      if (line.whole.empty() && !has_any) continue;
      line.value = without_blanks(kept);
    }
    lines.push_back(std::move(line));
  }
  std::reverse(asked.begin(), asked.end());  // the last is asked for first
  return lines;
}

void check_left(const std::vector<Line>& expected, const PlainHead& left, std::string_view text) {
  require(left.fields.size() == expected.size(), "as many lines as are to be left", text);
  for (std::size_t n = 0; n < expected.size(); ++n) {
    const PlainField& field = left.fields[n];
    require(field.name == expected[n].name && field.value == expected[n].value,
            "a line is the former one without what was taken", field.line);
    require(expected[n].whole.empty() || field.line == expected[n].whole,
            "a line of which nothing was taken stays as it came", field.line);
  }
}

}  // namespace

void cookies(std::string_view input) {
  Options options(input);
  const unsigned how = options.byte();
  const std::string received(options.rest());
  std::vector<char> block(received.begin(), received.end());
  http::RequestReader reader(http::HeadLimits{});
  reader.start_connection();
  reader.received(block.size());
  if (reader.next(block) != http::RequestReader::State::request) return;
  http::RequestHead head;
  const std::string sent(reader.head(block));
  const std::string before = received.substr(0, received.find(sent));
  if (http::parse_request(reader.head(block), head) != http::Error::none) return;

  Cookies expected, asked;
  const PlainHead plain = plain_head(sent);
  const std::vector<Line> lines = left_of(plain, how, expected);
  const std::size_t taken = http::extract_cookies(
      reader.head_bytes(block), head.fields, [&](std::string_view name, std::string_view value) {
        asked.emplace_back(name, value);
        return is_taken(how, name, value);
      });
  require(asked == expected, "each cookie is asked for once, the last first", sent);
  require(taken <= sent.size(), "no more is taken than there was", sent);
  reader.shorten_head(taken);
  const std::string left(reader.head(block));
  require(left.size() == sent.size() - taken, "the head is shorter by what was taken", left);
  const std::string_view all(block.data(), block.size());
  require(all.starts_with(before), "what was received before the head stays", received);
  require(all.substr(before.size() + sent.size()) ==
              std::string_view(received).substr(before.size() + sent.size()),
          "what was received behind the head stays", received);

  http::RequestHead again;
  require(http::parse_request(left, again) == http::Error::none, "what is left parses", left);
  const PlainHead plain_left = plain_head(left);
  require(plain_left.start_line == plain.start_line, "the request line stays", left);
  check_left(lines, plain_left, left);
  require(again.fields.size() == lines.size(), "the parser finds these lines, too", left);
}

}  // namespace spillway::fuzz
