// A head taken apart by its line ends and colons alone, independently of the parsers under test.
#pragma once

#include <string_view>
#include <vector>

#include "http/message/head.hpp"

namespace spillway::fuzz {

struct PlainField {
  std::string_view name;
  std::string_view value;  // without white space around it
  std::string_view line;   // with its CRLF
};

struct PlainHead {
  std::string_view start_line;
  std::vector<PlainField> fields;

  std::size_t count(std::string_view name) const;  // in any case
};

// Of a head that was accepted or written. broken() unless it is one: each line ends in CRLF, there
// are no other control characters but HTAB, each field has a token as its name and each value none
// but those, and the first empty line is the end.
PlainHead plain_head(std::string_view head);

// Whether `text` is HTTP/1.0 for 10, HTTP/1.1 or a higher minor version for 11, which is read as
// HTTP/1.1 (RFC 9110 section 2.5).
bool is_version(std::string_view text, unsigned version);

// The framing fields' meaning (RFC 9112 section 6.3), none when there are none; broken() when they
// could be read in two ways. An upstream may say the same length several times.
enum class LengthIs { said_once, said_often };
http::Framing plain_framing(const PlainHead& head, LengthIs lengths = LengthIs::said_once);

}  // namespace spillway::fuzz
