#include "http/message/head.hpp"

#include <algorithm>

#include "http/field/ascii.hpp"

namespace spillway::http {
namespace {

// Splits a head into lines. Does not rely on the checks of HeadScanner.
class LineReader {
 public:
  explicit LineReader(std::string_view head) : rest_(head) {}

  // The next line without its CRLF; an error if none ends here or it has control characters.
  Error next(std::string_view& line) {
    std::size_t at = find_control(rest_, 0);
    while (at < rest_.size() && rest_[at] == '\t') at = find_control(rest_, at + 1);
    if (at + 2 > rest_.size()) return Error::truncated;
    if (rest_[at] != '\r' || rest_[at + 1] != '\n') return Error::bad_character;
    line = {rest_.data(), at};
    rest_.remove_prefix(at + 2);
    return Error::none;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// A higher minor version than 1.1 is read as 1.1 (RFC 9110 section 2.5); other well-formed versions
// (HTTP/2's preface) are version_unsupported.
Error read_version(std::string_view text, unsigned& version, Error otherwise) {
  const bool well_formed = text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) &&
                           text[6] == '.' && is_digit(text[7]);
  if (!well_formed) return otherwise;
  if (text[5] != '1') return Error::version_unsupported;
  version = text[7] == '0' ? 10 : 11;
  return Error::none;
}

// method SP request-target SP HTTP-version (RFC 9112 section 3).
Error read_start(std::string_view line, RequestHead& out) {
  const auto is_no_token = [](char c) { return !is_token(c); };
  const auto method_end = std::find_if(line.begin(), line.end(), is_no_token);
  if (method_end == line.begin() || method_end == line.end() || *method_end != ' ')
    return Error::bad_request_line;
  out.method_name = {line.begin(), method_end};
  out.method = boost::beast::http::string_to_verb(out.method_name);
  const std::string_view rest(method_end + 1, line.end());
  const std::size_t space = rest.find(' ');
  if (space == 0) return Error::bad_target;
  if (space == std::string_view::npos) return Error::bad_request_line;
  out.target = rest.substr(0, space);
  if (out.target.find('\t') != std::string_view::npos) return Error::bad_target;
  return read_version(rest.substr(space + 1), out.version, Error::bad_request_line);
}

// HTTP-version SP 3DIGIT SP [ reason-phrase ] (RFC 9112 section 4). Some servers omit the last SP
// if there is no phrase.
Error read_start(std::string_view line, ResponseHead& out) {
  const std::size_t space = std::min(line.find(' '), line.size());
  if (const Error error = read_version(line.substr(0, space), out.version, Error::bad_status_line);
      error != Error::none)
    return error;
  const std::string_view code = line.substr(space);  // with the space before it
  const bool well_formed = code.size() >= 4 && is_digit(code[1]) && is_digit(code[2]) &&
                           is_digit(code[3]) && (code.size() == 4 || code[4] == ' ');
  if (!well_formed) return Error::bad_status_line;
  out.status = static_cast<unsigned>((code[1] - '0') * 100 + (code[2] - '0') * 10 + code[3] - '0');
  out.reason_phrase = code.substr(std::min<std::size_t>(code.size(), 5));
  return Error::none;
}

// A comma-separated list of tokens, in which elements may be empty (RFC 9110 section 5.6.1).
bool is_token_list(std::string_view list) {
  bool sound = true;
  for_each_element(list, [&](std::string_view element) {
    sound = sound && (element.empty() || is_token_text(element));
  });
  return sound;
}

// field-name ":" OWS field-value OWS (RFC 9112 section 5).
Error read_field(std::string_view line, FieldList& fields) {
  if (line.front() == ' ' || line.front() == '\t') return Error::obs_fold;
  std::size_t colon = 0;
  while (colon < line.size() && is_token(line[colon])) ++colon;
  if (colon == 0 || colon == line.size() || line[colon] != ':') return Error::bad_field;
  const std::string_view name(line.data(), colon);
  line.remove_prefix(colon + 1);
  const std::string_view value = trim(line);
  const FieldId id = boost::beast::http::string_to_field(name);
  // Fields that name other fields must be unambiguous.
  if ((id == FieldId::connection || id == FieldId::proxy_connection) && !is_token_list(value))
    return Error::bad_field;
  return fields.push({name, value, id}) ? Error::none : Error::too_many_fields;
}

template <class Head>
Error parse(std::string_view block, Head& out) {
  out.fields.clear();
  LineReader lines(block);
  std::string_view line;
  Error error = lines.next(line);
  if (error == Error::none) error = read_start(line, out);
  const char* const first_field = line.data() + line.size() + 2;
  while (error == Error::none) {
    error = lines.next(line);
    if (error != Error::none) break;
    if (line.empty()) {
      out.field_lines = {first_field, static_cast<std::size_t>(line.data() - first_field)};
      return lines.at_end() ? Error::none : Error::bad_field;
    }
    error = read_field(line, out.fields);
  }
  return error;
}

}  // namespace

Error parse_request(std::string_view head, RequestHead& out) { return parse(head, out); }

Error parse_response(std::string_view head, ResponseHead& out) { return parse(head, out); }

}  // namespace spillway::http
