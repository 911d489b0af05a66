#include "http/message/scan.hpp"

#include <algorithm>

#include "http/field/ascii.hpp"

namespace spillway::http {
namespace {

constexpr std::size_t kMaxEmptyLines = 4;

}  // namespace

HeadScanner::HeadScanner(Kind kind, HeadLimits limits) : kind_(kind), limits_(limits) {
  limits_.line_bytes = std::min(limits_.line_bytes, kMaxRequestLine);
}

void HeadScanner::reset() { *this = HeadScanner(kind_, limits_); }

Scan HeadScanner::fail(Error error) {
  error_ = error;
  return {Scan::State::invalid, 0, 0, error};
}

Error HeadScanner::check_method(std::string_view received) {
  if (method_ < begin_) method_ = begin_;
  // Bytes beyond a limit are ignored, so that the error does not depend on how the bytes are split.
  const std::size_t limit = std::min(limits_.line_bytes, limits_.head_bytes);
  for (; method_ < received.size() && method_ - begin_ <= limit; ++method_) {
    const char c = received[method_];
    if (is_token(c)) continue;
    if (c == '\r' && method_ == begin_) return Error::none;  // an empty line, perhaps
    if (c == ' ' && method_ > begin_) {
      method_done_ = true;
      return Error::none;
    }
    const bool control = is_forbidden_control(c) && c != '\r';
    return control ? Error::bad_character : Error::bad_request_line;
  }
  return Error::none;
}

Scan HeadScanner::scan(std::string_view received) {
  if (error_ != Error::none) return fail(error_);
  const bool request = kind_ == Kind::request;
  const Error bad_start = request ? Error::bad_request_line : Error::bad_status_line;
  for (;;) {
    if (request && !method_done_) {
      if (const Error error = check_method(received); error != Error::none) return fail(error);
    }
    if (position_ == line_ && position_ < received.size()) {
      const char c = received[position_];
      if (c == ' ' || c == '\t') return fail(lines_ == 0 ? bad_start : Error::obs_fold);
    }
    const std::size_t at = find_control(received, position_);
    // A CR at the end of the bytes is scanned again when the next byte has arrived.
    position_ = at;
    const std::size_t length = at - begin_;
    // The smaller limit decides which error it is.
    const bool too_large = length > limits_.head_bytes;
    const bool too_long = request && lines_ == 0 && length > limits_.line_bytes;
    if (too_long && limits_.line_bytes < limits_.head_bytes) return fail(Error::uri_too_long);
    if (too_large) return fail(Error::head_too_large);
    if (at == received.size()) return {};
    if (received[at] == '\t' && (lines_ > 0 || !request)) {
      position_ = at + 1;
      continue;
    }
    if (received[at] != '\r') return fail(Error::bad_character);
    if (at + 1 == received.size()) return {};
    if (received[at + 1] != '\n') return fail(Error::bad_character);
    const bool empty = at == line_;
    line_ = position_ = at + 2;
    if (empty && lines_ == 0) {
      if (!request || ++empty_lines_ > kMaxEmptyLines) return fail(bad_start);
      begin_ = line_;
      continue;
    }
    if (line_ - begin_ > limits_.head_bytes) return fail(Error::head_too_large);
    if (empty) return {Scan::State::complete, begin_, line_, Error::none};
    ++lines_;
  }
}

}  // namespace spillway::http
