// An HTTP/1 message as it lay on the wire, read by rules of its own and not by those under test.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway::support {

using Fields = std::vector<std::pair<std::string, std::string>>;

// The value of a field, by case-insensitive name; the first one if there are several.
std::optional<std::string> find(const Fields& fields, std::string_view name);
std::size_t count(const Fields& fields, std::string_view name);

struct Message {
  std::string start_line;  // "GET / HTTP/1.1" or "HTTP/1.1 200 OK", without line end
  Fields fields;
  std::string body;      // the payload, chunks joined
  std::string raw_body;  // the same as it was framed, trailers included
  Fields trailers;

  int status() const;  // of a response
  std::string method() const;
  std::string target() const;
  std::optional<std::string> field(std::string_view name) const { return find(fields, name); }
};

// What is known about a message before its bytes: how a body is framed depends on it.
enum class Expected {
  request,
  response,
  head_only,  // a response without a body: to HEAD
};

// Takes one message off the front of `buffer`. nullopt: not complete yet. `ended`: no more bytes
// will come, which completes a response without framing. Throws std::runtime_error on nonsense.
std::optional<Message> take_message(std::string& buffer, Expected expected, bool ended);

// The head alone, with body left in the buffer.
std::optional<Message> take_head(std::string& buffer);

// A chunked body: each part one chunk, then the last chunk and the trailer lines.
std::string chunked(const std::vector<std::string>& parts, std::string_view trailers = {});

}  // namespace spillway::support
