#include "http/body.hpp"

#include <algorithm>

#include "http/ascii.hpp"
#include "http/trailer.hpp"

namespace spillway::http {
namespace {

constexpr std::uint32_t kMaxSizeLine = 256 + 16;     // digits and extension of one chunk
constexpr std::uint32_t kMaxExtensions = 64 * 1024;  // of all chunks of a body
constexpr std::uint32_t kMaxTrailerSection = 8 * 1024;

}  // namespace

BodyReader::BodyReader(Framing framing, std::uint64_t limit, MessageKind kind)
    : limit_(limit), kind_(kind) {
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
  return {0, {}, false, error};
}

BodyReader::Step BodyReader::read(std::string_view in) {
  switch (state_) {
    case State::failed: return fail(error_);
    case State::done: return {0, {}, true, Error::none};
    case State::counted:
      if (remaining_ > limit_ - content_) return fail(Error::body_too_large);
      in = in.substr(0, std::min<std::uint64_t>(in.size(), remaining_));
      remaining_ -= in.size();
      content_ += in.size();
      if (remaining_ == 0) state_ = State::done;
      return {in.size(), in, done(), Error::none};
    case State::to_close:
      if (in.size() > limit_ - content_) return fail(Error::body_too_large);
      content_ += in.size();
      return {in.size(), in, false, Error::none};
    default: return read_chunked(in);
  }
}

// Reads on past a piece of content up to the next one, so that each small chunk costs one call.
BodyReader::Step BodyReader::read_chunked(std::string_view in) {
  std::string_view payload;
  std::size_t i = 0;
  while (i < in.size() && state_ != State::done) {
    if (state_ != State::chunk_data) {
      if (const Error error = step(in[i]); error != Error::none) return fail(error);
      ++i;
      continue;
    }
    if (!payload.empty()) break;
    payload = in.substr(i, std::min<std::uint64_t>(in.size() - i, remaining_));
    i += payload.size();
    remaining_ -= payload.size();
    content_ += payload.size();
    if (remaining_ == 0) state_ = State::data_cr;
  }
  return {i, payload, done(), Error::none};
}

Error BodyReader::step(char c) {
  switch (state_) {
    case State::chunk_size: return step_chunk_size(c);
    case State::size_space: return step_size_space(c);
    case State::extension:
    case State::quoted:
    case State::quoted_pair: return step_extension(c);
    case State::size_lf: return c == '\n' ? begin_chunk() : Error::bad_chunk;
    case State::data_cr: state_ = State::data_lf; return c == '\r' ? Error::none : Error::bad_chunk;
    case State::data_lf:
      state_ = State::chunk_size;
      return c == '\n' ? Error::none : Error::bad_chunk;
    default: return step_trailer(c);
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

// Extensions are not interpreted; all recipients must only agree where the line ends.
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

Error BodyReader::begin_chunk() {
  section_ = 0;
  has_digits_ = false;
  if (remaining_ > limit_ - content_) return Error::body_too_large;
  state_ = remaining_ == 0 ? State::trailer_start : State::chunk_data;
  return Error::none;
}

Error BodyReader::step_trailer(char c) {
  if (++section_ > kMaxTrailerSection) return Error::bad_trailer;
  switch (state_) {
    case State::trailer_start:
      if (c == '\r') {
        state_ = State::end_lf;
        return Error::none;
      }
      name_ = 0;
      state_ = State::trailer_name;
      [[fallthrough]];
    case State::trailer_name:
      if (is_token(c)) {
        if (name_ < kNameKept) kept_[name_] = c;
        ++name_;
        return Error::none;
      }
      if (c != ':' || name_ == 0 || forbidden_trailer()) return Error::bad_trailer;
      state_ = State::trailer_value;
      return Error::none;
    case State::trailer_value:
      if (c == '\r') {
        state_ = State::trailer_lf;
        return Error::none;
      }
      return is_forbidden_control(c) ? Error::bad_trailer : Error::none;
    case State::trailer_lf:
      state_ = State::trailer_start;
      return c == '\n' ? Error::none : Error::bad_trailer;
    default:  // end_lf
      state_ = State::done;
      return c == '\n' ? Error::none : Error::bad_trailer;
  }
}

bool BodyReader::forbidden_trailer() const {
  const std::string_view name(kept_.data(), std::min<std::size_t>(name_, kNameKept));
  return kind_ == MessageKind::request ? !may_be_request_trailer(name)
                                       : !may_be_response_trailer(name);
}

}  // namespace spillway::http
