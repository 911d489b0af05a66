#include "http/message/framing.hpp"

#include <algorithm>
#include <limits>

#include "http/field/ascii.hpp"
#include "http/field/max_forwards.hpp"
#include "http/message/hop_by_hop.hpp"
#include "http/message/method.hpp"
#include "http/message/target.hpp"

namespace spillway::http {
namespace {

bool parse_length(std::string_view text, std::uint64_t& length) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (text.empty()) return false;
  length = 0;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (length > (kMax - digit) / 10) return false;
    length = length * 10 + digit;
  }
  return true;
}

// A repeated equal number, in a list or in several fields, counts once (RFC 9112 section 6.3).
bool parse_repeated_length(const FieldList& fields, std::uint64_t& length) {
  bool has_one = false, sound = true;
  for (const Field& field : fields) {
    if (field.id != FieldId::content_length) continue;
    for_each_element(field.value, [&](std::string_view element) {
      const std::uint64_t before = length;
      sound = sound && parse_length(element, length) && (!has_one || length == before);
      has_one = true;
    });
  }
  return has_one && sound;
}

// The error for a Transfer-Encoding other than "chunked". The end of the body is known only if
// chunked is the last coding; only then the error is an unsupported coding rather than bad
// framing.
Error fault_of_coding(std::string_view codings) {
  std::string_view last;
  std::size_t chunked = 0;
  bool sound = true;
  for_each_element(codings, [&](std::string_view coding) {
    last = coding;
    chunked += iequals(coding, "chunked");
    sound = sound && is_token_text(coding);
  });
  return sound && chunked == 1 && iequals(last, "chunked") ? Error::unknown_coding
                                                           : Error::bad_framing;
}

enum class Lengths { one, may_repeat };

// The framing by Transfer-Encoding and Content-Length, for both directions. `framed` is false if
// neither is present.
Error explicit_framing(const FieldList& fields, unsigned version, Lengths lengths, Framing& framing,
                       bool& framed) {
  framing = {};
  const Field* coding = fields.find(FieldId::transfer_encoding);
  const Field* length = fields.find(FieldId::content_length);
  framed = coding != nullptr || length != nullptr;
  if (coding != nullptr) {
    const bool alone =
        length == nullptr && version >= 11 && fields.count(FieldId::transfer_encoding) == 1;
    if (!alone) return Error::bad_framing;
    if (!iequals(coding->value, "chunked")) return fault_of_coding(coding->value);
    framing.kind = Framing::Kind::chunked;
  } else if (length != nullptr) {
    const bool is_sound = lengths == Lengths::may_repeat
                              ? parse_repeated_length(fields, framing.length)
                              : fields.count(FieldId::content_length) == 1 &&
                                    parse_length(length->value, framing.length);
    if (!is_sound) return Error::bad_framing;
    if (framing.length > 0) framing.kind = Framing::Kind::length;
  }
  return Error::none;
}

bool keeps_alive(unsigned version, const ConnectionOptions& options) {
  return !options.close && (version >= 11 || options.keep_alive);
}

// A field that Connection names is not forwarded, not even as a trailer (RFC 9110 section 7.6.1).
// When the trailers arrive, the head may be gone; and any of them may be left out (section 6.5.1).
void note_trailers(const ConnectionOptions& options, Framing& framing) {
  framing.drops_trailers = framing.kind == Framing::Kind::chunked &&
                           std::ranges::any_of(options.names, [](std::string_view name) {
                             return !iequals(name, "te");
                           });
}

}  // namespace

Error request_framing(RequestHead& head) {
  if (head.method == Verb::connect || head.method == Verb::trace) return Error::method_refused;
  if (is_disguised(head.method, head.method_name)) return Error::bad_method;
  if (const Error error = resolve_target(head); error != Error::none) return error;

  bool framed = false;
  if (const Error error =
          explicit_framing(head.fields, head.version, Lengths::one, head.framing, framed);
      error != Error::none) {
    return error;
  }
  const HopByHop hop(head.fields);
  const ConnectionOptions& options = hop.options();
  if (options.too_many) return Error::bad_field;
  note_trailers(options, head.framing);
  head.keep_alive = keeps_alive(head.version, options);
  head.is_final_recipient = head.method == Verb::options && forwards_left(head.fields) == 0;
  head.upgrade = options.upgrade && head.version >= 11 && head.fields.contains(FieldId::upgrade);

  head.expect_continue = false;
  if (const Field* expect = head.fields.find(FieldId::expect);
      expect != nullptr && head.version >= 11) {
    if (!iequals(expect->value, "100-continue") || head.fields.count(FieldId::expect) > 1) {
      return Error::expectation_failed;
    }
    head.expect_continue = head.framing.kind != Framing::Kind::none;
  }
  return Error::none;
}

Error response_framing(ResponseHead& head, Verb request_method) {
  if (head.status < 100) return Error::bad_status_line;
  bool framed = false;
  if (const Error error =
          explicit_framing(head.fields, head.version, Lengths::may_repeat, head.framing, framed);
      error != Error::none) {
    return error;
  }
  const bool bodiless =
      request_method == Verb::head || head.status < 200 || head.status == 204 || head.status == 304;
  if (bodiless) {
    head.framing = {};
  } else if (!framed) {
    head.framing.kind = Framing::Kind::until_close;
  }
  const HopByHop hop(head.fields);
  if (hop.options().too_many) return Error::bad_field;
  note_trailers(hop.options(), head.framing);
  head.keep_alive =
      keeps_alive(head.version, hop.options()) && head.framing.kind != Framing::Kind::until_close;
  return Error::none;
}

}  // namespace spillway::http
