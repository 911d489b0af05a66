#include "http/message/body.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "http/field/ascii.hpp"
#include "http/message/trailer.hpp"

namespace spillway::http {
namespace {

constexpr std::uint32_t kMaxSizeLine = 256 + 16;     // size digits and extension of one chunk
constexpr std::uint32_t kMaxExtensions = 64 * 1024;  // all extensions of a body's chunks together
constexpr std::uint32_t kMaxTrailerSection = 8 * 1024;
constexpr std::size_t kLongestSize = 16 + 2;  // digits and CRLF, as written by the proxy

}  // namespace

// Where the body is written; null if it is not written.
struct BodyReader::Output {
  char* at;

  void put(char c) {
    if (at != nullptr) *at++ = c;
  }
  // Returns the text in its new place.
  std::string_view put(std::string_view text) {
    if (at == nullptr) return text;
    if (at != text.data() && !text.empty()) std::memmove(at, text.data(), text.size());
    const std::string_view written(at, text.size());
    at += text.size();
    return written;
  }
};

BodyReader::BodyReader(Framing framing, std::uint64_t limit, MessageKind kind,
                       const ProtectedFields& protected_fields)
    : limit_(limit),
      drops_trailers_(framing.drops_trailers),
      kind_(kind),
      protected_(&protected_fields) {
  switch (framing.kind) {
    case Framing::Kind::none: state_ = State::done; break;
    case Framing::Kind::length:
      remaining_ = framing.length;
      state_ = framing.length > 0 ? State::counted : State::done;
      break;
    case Framing::Kind::chunked: state_ = State::chunk_size; break;
    case Framing::Kind::until_close: state_ = State::to_close; break;
  }
}

Error BodyReader::end_of_input() {
  if (state_ == State::to_close) state_ = State::done;
  return state_ == State::done ? Error::none : Error::truncated;
}

void BodyReader::pass(std::uint64_t bytes) {
  content_ += bytes;
  remaining_ -= bytes;
  if (remaining_ == 0) state_ = State::done;
}

BodyReader::Step BodyReader::fail(Error error) {
  state_ = State::failed;
  error_ = error;
  return {.error = error};
}

std::size_t BodyReader::held() const {
  switch (state_) {
    case State::chunk_size:
    case State::size_space:
    case State::extension:
    case State::quoted:
    case State::quoted_pair:
    case State::size_lf: return std::min<std::size_t>(section_, kLongestSize);
    case State::trailer_name: return name_ < kNameKept ? name_ : 0;
    default: return 0;
  }
}

BodyReader::Step BodyReader::rewrite(std::string_view in, char* out) {
  std::string_view piece;
  switch (state_) {
    case State::failed: return fail(error_);
    case State::done: return {.done = true};
    case State::counted:
      if (remaining_ > limit_ - content_) return fail(Error::body_too_large);
      piece = in.substr(0, std::min<std::uint64_t>(in.size(), remaining_));
      remaining_ -= piece.size();
      if (remaining_ == 0) state_ = State::done;
      break;
    case State::to_close:
      if (in.size() > limit_ - content_) return fail(Error::body_too_large);
      piece = in;
      break;
    default: return read_chunked(in, out);
  }
  content_ += piece.size();
  return {piece.size(), piece.size(), Output{out}.put(piece), done(), Error::none};
}

// Reads from one piece of content to the next, so that each small chunk costs one call.
BodyReader::Step BodyReader::read_chunked(std::string_view in, char* out) {
  std::string_view payload;
  Output output{out};
  std::size_t i = 0;
  while (i < in.size() && state_ != State::done) {
    if (state_ != State::chunk_data) {
      if (const Error error = step(in[i], output); error != Error::none) return fail(error);
      ++i;
      continue;
    }
    if (!payload.empty()) break;
    payload = in.substr(i, std::min<std::uint64_t>(in.size() - i, remaining_));
    i += payload.size();
    remaining_ -= payload.size();
    content_ += payload.size();
    if (remaining_ == 0) state_ = State::data_cr;
    payload = output.put(payload);
  }
  return {i, static_cast<std::size_t>(output.at - out), payload, done(), Error::none};
}

Error BodyReader::step(char c, Output& out) {
  switch (state_) {
    case State::chunk_size: return step_chunk_size(c);
    case State::size_space: return step_size_space(c);
    case State::extension:
    case State::quoted:
    case State::quoted_pair: return step_extension(c);
    case State::size_lf: return c == '\n' ? begin_chunk(out) : Error::bad_chunk;
    case State::data_cr:
      state_ = State::data_lf;
      out.put(c);
      return c == '\r' ? Error::none : Error::bad_chunk;
    case State::data_lf:
      state_ = State::chunk_size;
      out.put(c);
      return c == '\n' ? Error::none : Error::bad_chunk;
    default: return step_trailer(c, out);
  }
}

Error BodyReader::step_chunk_size(char c) {
  if (++section_ > kMaxSizeLine) return Error::bad_chunk;
  if (const int digit = hex_value(c); digit >= 0) {
    if (remaining_ >> 60 != 0) return Error::bad_chunk;
    remaining_ = remaining_ << 4 | static_cast<std::uint64_t>(digit);
    has_digits_ = true;
    return Error::none;
  }
  if (!has_digits_) return Error::bad_chunk;
  if (c == '\r') {
    state_ = State::size_lf;
  } else if (c == ';') {
    state_ = State::extension;
  } else if (c == ' ' || c == '\t') {
    state_ = State::size_space;
  } else {
    return Error::bad_chunk;
  }
  return Error::none;
}

Error BodyReader::step_size_space(char c) {
  if (++section_ > kMaxSizeLine) return Error::bad_chunk;
  if (c == ';') state_ = State::extension;
  return c == ';' || c == ' ' || c == '\t' ? Error::none : Error::bad_chunk;
}

// Extensions are not interpreted; all recipients only have to agree on where the line ends.
Error BodyReader::step_extension(char c) {
  if (++section_ > kMaxSizeLine || ++extensions_ > kMaxExtensions) return Error::bad_chunk;
  if (state_ == State::extension) {
    if (c == '\r') {
      state_ = State::size_lf;
    } else if (c == '"') {
      state_ = State::quoted;
    } else if (!is_token(c) && c != ';' && c != '=' && c != ' ' && c != '\t') {
      return Error::bad_chunk;
    }
    return Error::none;
  }
  if (is_forbidden_control(c)) return Error::bad_chunk;
  if (state_ == State::quoted_pair) {
    state_ = State::quoted;
  } else if (c == '"') {
    state_ = State::extension;
  } else if (c == '\\') {
    state_ = State::quoted_pair;
  }
  return Error::none;
}

Error BodyReader::begin_chunk(Output& out) {
  section_ = 0;
  has_digits_ = false;
  if (remaining_ > limit_ - content_) return Error::body_too_large;
  std::array<char, kLongestSize> size;
  char* const end = std::to_chars(size.data(), size.data() + size.size(), remaining_, 16).ptr;
  out.put(std::string_view(size.data(), static_cast<std::size_t>(end - size.data())));
  out.put("\r\n");
  state_ = remaining_ == 0 ? State::trailer_start : State::chunk_data;
  return Error::none;
}

Error BodyReader::step_trailer(char c, Output& out) {
  if (++section_ > kMaxTrailerSection) return Error::bad_trailer;
  switch (state_) {
    case State::trailer_start:
      leaves_out_ = false;
      if (c == '\r') {
        state_ = State::end_lf;
        break;
      }
      name_ = 0;
      state_ = State::trailer_name;
      [[fallthrough]];
    case State::trailer_name: return step_trailer_name(c, out);
    case State::trailer_space:
      if (c == ' ' || c == '\t') return Error::none;
      if (c != ':') return Error::bad_trailer;
      state_ = State::trailer_value;
      break;
    case State::trailer_value:
      if (c == '\r') {
        state_ = State::trailer_lf;
      } else if (is_forbidden_control(c)) {
        return Error::bad_trailer;
      }
      break;
    case State::trailer_lf:
      if (c != '\n') return Error::bad_trailer;
      state_ = State::trailer_start;
      break;
    default:  // end_lf
      if (c != '\n') return Error::bad_trailer;
      state_ = State::done;
  }
  if (!leaves_out_) out.put(c);
  return Error::none;
}

// A trailer's name is not written before it is known whether the field may be a trailer.
Error BodyReader::step_trailer_name(char c, Output& out) {
  const bool is_colon = c == ':' && name_ > 0;
  // White space before the colon is removed from a response (RFC 9112 section 5.1).
  const bool is_space = (c == ' ' || c == '\t') && name_ > 0 && kind_ == MessageKind::response;
  if (!is_colon && !is_space && !is_token(c)) return Error::bad_trailer;
  if (name_ < kNameKept) {
    const bool is_name = !is_colon && !is_space;
    if (is_name) kept_[name_++] = c;
    if (!is_name || name_ == kNameKept) {
      if (const Error error = begin_trailer(out); error != Error::none) return error;
    }
    if (is_name) return Error::none;
  }
  if (is_space) {
    state_ = State::trailer_space;
    return Error::none;
  }
  if (!leaves_out_) out.put(c);
  if (is_colon) state_ = State::trailer_value;
  return Error::none;
}

Error BodyReader::begin_trailer(Output& out) {
  const std::string_view name(kept_.data(), name_);
  if (kind_ == MessageKind::request) {
    if (!may_be_request_trailer(name, *protected_)) return Error::bad_trailer;
    leaves_out_ = drops_trailers_;
  } else {
    leaves_out_ = drops_trailers_ || !may_be_response_trailer(name);
  }
  if (!leaves_out_) out.put(name);
  return Error::none;
}

}  // namespace spillway::http
