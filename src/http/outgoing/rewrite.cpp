#include "http/outgoing/rewrite.hpp"

#include <algorithm>
#include <utility>

#include "http/field/ascii.hpp"
#include "http/field/max_forwards.hpp"
#include "http/message/hop_by_hop.hpp"
#include "http/outgoing/forwarded.hpp"
#include "http/outgoing/server_timing.hpp"

namespace spillway::http {
namespace {

// Copies lines of a received field section, adjacent ones in one step.
class LineCopier {
 public:
  LineCopier(TextWriter& out, std::string_view lines)
      : out_(out), run_(lines.data()), end_(lines.data() + lines.size()) {}

  // Leaves out the line of fields[i].
  void skip(const FieldList& fields, std::size_t i) {
    flush(fields[i].name.data());
    run_ = i + 1 < fields.size() ? fields[i + 1].name.data() : end_;
  }
  void finish() { flush(end_); }

 private:
  void flush(const char* to) {
    if (to != run_) out_ << std::string_view(run_, static_cast<std::size_t>(to - run_));
  }

  TextWriter& out_;
  const char* run_;
  const char* end_;
};

std::string_view version_of(unsigned version) { return version >= 11 ? "1.1" : "1.0"; }

enum class Special : std::uint8_t {
  none,
  forwarded_for,
  forwarded_proto,
  forwarded_host,
  forwarded_other,
  deadline,
  request_id,
  traceparent,
  spillway
};

// Fields without an id that the proxy sets itself. The first letter rules out nearly all others.
Special special_of(const Field& field) {
  const std::string_view name = field.name;
  switch (to_lower(name.front())) {
    case 'x':
      if (iequals(name, "X-Request-Id")) return Special::request_id;
      if (iequals(name, "X-Request-Deadline")) return Special::deadline;
      if (!istarts_with(name, "X-Forwarded-")) break;
      if (iequals(name, "X-Forwarded-For")) return Special::forwarded_for;
      if (iequals(name, "X-Forwarded-Proto")) return Special::forwarded_proto;
      if (iequals(name, "X-Forwarded-Host")) return Special::forwarded_host;
      return Special::forwarded_other;
    case 'g': return iequals(name, "grpc-timeout") ? Special::deadline : Special::none;
    case 't':
      if (iequals(name, "traceparent")) return Special::traceparent;
      break;
    case 's': return istarts_with(name, "Spillway-") ? Special::spillway : Special::none;
    default: break;
  }
  return Special::none;
}

// Whether the Content-Length line has the usual form: one decimal number without leading zeros
// after ": ". The next recipient must not read another form differently.
bool is_plain_length(const Field& field) {
  const char* const colon = field.name.data() + field.name.size();
  const char* const end = field.value.data() + field.value.size();
  return colon[1] == ' ' && field.value.data() == colon + 2 && *end == '\r' &&
         (field.value.size() == 1 || field.value.front() != '0') &&
         field.value.find(',') == std::string_view::npos;
}

void write_plain_length(TextWriter& out, const FieldList& fields) {
  std::string_view digits = fields.find(FieldId::content_length)->value;
  digits = digits.substr(digits.find_first_not_of(" \t,"));
  digits = digits.substr(0, digits.find_first_of(" \t,"));
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  out << "Content-Length: " << digits << "\r\n";
}

// Which of the fields that Spillway rewrites were sent by the client.
struct Seen {
  bool forwarded_for = false;
  bool forwarded_proto = false;
  bool forwarded_host = false;
  bool wants_trailers = false;
  bool counts_forwards = false;
  bool unusual_length = false;
};

// True if the field is not forwarded unchanged.
bool leaves_out(const RequestHead& head, const Field& field, const HopByHop& hop,
                const ForwardedRequest& with, Seen& seen) {
  switch (field.id) {
    case FieldId::host: return true;
    case FieldId::forwarded: return true;
    case FieldId::if_none_match:
    case FieldId::if_modified_since: return with.for_store;
    case FieldId::cache_control:
    case FieldId::pragma: return with.in_background;
    case FieldId::prefer: return with.applies_prefer || hop.strips(field);
    case FieldId::expect: return true;  // the proxy itself sends the 100 (Continue)
    case FieldId::max_forwards:
      if (head.method == Verb::options && forwards_left(head.fields)) seen.counts_forwards = true;
      return seen.counts_forwards || hop.strips(field);
    case FieldId::te:
      for_each_element(field.value, [&](std::string_view coding) {
        if (iequals(coding.substr(0, coding.find(';')), "trailers")) seen.wants_trailers = true;
      });
      return true;
    case FieldId::content_length:
      seen.unusual_length = !is_plain_length(field);
      return seen.unusual_length;
    case FieldId::unknown: break;
    default: return hop.strips(field);
  }
  switch (special_of(field)) {
    case Special::none: return hop.strips(field);
    case Special::forwarded_for: seen.forwarded_for = true; return true;
    case Special::forwarded_proto: seen.forwarded_proto = true; return !with.trusted_peer;
    case Special::forwarded_host: seen.forwarded_host = true; return !with.trusted_peer;
    case Special::forwarded_other: return !with.trusted_peer;
    case Special::deadline: return true;
    case Special::request_id: return !with.request_id.empty();
    case Special::traceparent: return !with.traceparent.empty();
    case Special::spillway: return true;
  }
  return false;
}

// The elements of all fields of that name, each followed by ", ".
void write_elements(TextWriter& out, const FieldList& fields, FieldId id, std::string_view name) {
  for (const Field& field : fields) {
    const bool same = id == FieldId::unknown ? iequals(field.name, name) : field.id == id;
    if (same && !field.value.empty()) out << field.value << ", ";
  }
}

// The element for the peer; `host` is empty if its client sent none. RFC 7239 section 4: values
// that are not tokens are quoted; IPv6 addresses also have brackets.
void write_forwarded(TextWriter& out, std::string_view host, const ForwardedRequest& with) {
  if (with.client_address.empty()) {
    out << "for=unknown";
  } else if (with.client_address.find(':') != std::string_view::npos) {
    out << "for=\"[" << with.client_address << "]\"";
  } else {
    out << "for=" << with.client_address;
  }
  if (is_token_text(host)) {
    out << ";host=" << host;
  } else if (!host.empty()) {
    out << ";host=\"" << host << '"';  // a valid authority has no quote or backslash
  }
  out << ";proto=http\r\n";
}

void write_own_line(TextWriter& out, std::string_view name, std::string_view value) {
  if (!value.empty()) out << name << value << "\r\n";
}

std::string_view text_of_client(const ForwardedRequest& with) {
  return with.client_address.empty() ? std::string_view("unknown") : with.client_address;
}

void write_forwarding_fields(TextWriter& out, std::string_view host, const ForwardedRequest& with) {
  out << "X-Forwarded-For: " << text_of_client(with) << "\r\nX-Forwarded-Proto: http\r\n";
  write_own_line(out, "X-Forwarded-Host: ", host);
  out << "Forwarded: ";
  write_forwarded(out, host, with);
}

// A trusted peer's forwarding fields are forwarded, and converted to the form it did not send.
void append_forwarding_fields(TextWriter& out, const FieldList& fields, std::string_view host,
                              const ForwardedRequest& with, const Seen& seen) {
  const ForwardedElements elements(fields);
  const bool has_elements = elements.well_formed();
  out << "X-Forwarded-For: ";
  if (seen.forwarded_for) {
    write_elements(out, fields, FieldId::unknown, "X-Forwarded-For");
  } else if (has_elements) {
    elements.write_as_x_forwarded_for(out);
  }
  out << text_of_client(with) << "\r\n";
  const auto said = has_elements ? elements.last() : ForwardedElements::Element{};
  if (!seen.forwarded_proto) {
    out << "X-Forwarded-Proto: "
        << (is_convertible_proto(said.proto) ? said.proto : std::string_view("http")) << "\r\n";
  }
  if (!seen.forwarded_host) {
    write_own_line(out, "X-Forwarded-Host: ", is_convertible_host(said.host) ? said.host : host);
  }
  out << "Forwarded: ";
  if (has_elements) {
    write_elements(out, fields, FieldId::forwarded, "");
  } else if (seen.forwarded_for) {
    write_as_forwarded(out, fields);
  }
  write_forwarded(out, host, with);
}

// Whether a response field is forwarded unchanged.
bool is_forwarded(const Field& field, const HopByHop& hop, bool may_have_length) {
  if (field.id == FieldId::content_length) return may_have_length && is_plain_length(field);
  return !hop.strips(field);
}

void write_status_line(TextWriter& out, const ResponseHead& head) {
  out << "HTTP/1.1 " << head.status << ' ' << head.reason_phrase << "\r\n";
}

// The forwarded fields of a 1xx.
void copy_bodiless(TextWriter& out, const ResponseHead& head) {
  const HopByHop hop(head.fields);
  LineCopier copier(out, head.field_lines);
  for (std::size_t i = 0; i < head.fields.size(); ++i) {
    if (!is_forwarded(head.fields[i], hop, false)) copier.skip(head.fields, i);
  }
  copier.finish();
}

}  // namespace

bool write_request_head(TextWriter& out, const RequestHead& head, const ForwardedRequest& with) {
  const std::string_view host = head.host.empty() ? with.default_host : head.host;
  out << head.method_name << ' ';
  if (head.path_is_missing) out << '/';
  out << head.path_and_query << " HTTP/1.1\r\nHost: " << host << "\r\n";

  const HopByHop hop(head.fields, *with.protected_fields, with.trusted_peer);
  Seen seen;
  LineCopier copier(out, head.field_lines);
  for (std::size_t i = 0; i < head.fields.size(); ++i) {
    if (leaves_out(head, head.fields[i], hop, with, seen)) copier.skip(head.fields, i);
  }
  copier.finish();

  if (head.framing.kind == Framing::Kind::chunked) out << "Transfer-Encoding: chunked\r\n";
  if (seen.unusual_length) write_plain_length(out, head.fields);
  if (seen.counts_forwards) {
    const std::uint64_t left = forwards_left(head.fields).value_or(0);
    out << "Max-Forwards: " << (left > 0 ? left - 1 : 0) << "\r\n";
  }
  // RFC 9110 section 10.1.4: a sender of TE names it in Connection.
  if (!with.upgrade.empty()) {
    out << "Connection: upgrade\r\nUpgrade: " << with.upgrade << "\r\n";
  } else if (seen.wants_trailers) {
    out << "Connection: TE\r\nTE: trailers\r\n";
  }
  if (with.trusted_peer) {
    append_forwarding_fields(out, head.fields, head.host, with, seen);
  } else {
    write_forwarding_fields(out, head.host, with);
  }
  out << "Via: " << version_of(head.version) << " spillway\r\n";
  write_own_line(out, "X-Request-Id: ", with.request_id);
  write_own_line(out, "traceparent: ", with.traceparent);
  write_own_line(out, "X-Request-Deadline: ", with.request_deadline);
  write_own_line(out, "grpc-timeout: ", with.grpc_timeout);
  if (with.for_store) {
    write_own_line(out, "If-None-Match: ", with.etag);
    write_own_line(out, "If-Modified-Since: ", with.last_modified);
  }
  write_own_line(out, "Spillway-Pass: ", with.pass);
  if (with.late) out << "Spillway-Late: 1\r\n";
  if (with.skip_downstream) out << "Spillway-Degrade: skip-downstream\r\n";
  out << "\r\n";
  return !out.overflowed();
}

bool is_cache_policy(std::string_view name) {
  constexpr std::string_view kTargeted = "-Cache-Control";
  return iequals(name, "Cache-Control") || iequals(name, "Expires") ||
         iequals(name, "Surrogate-Control") ||
         (name.size() > kTargeted.size() &&
          iequals(name.substr(name.size() - kTargeted.size()), kTargeted));
}

bool write_response_head(TextWriter& out, const ResponseHead& head, const ForwardedResponse& with) {
  write_status_line(out, head);
  const HopByHop hop(head.fields);
  const bool may_have_length = head.status != 204;  // RFC 9110 section 8.6
  bool has_request_id = false;
  bool has_length = false;
  bool unusual_length = false;
  LineCopier copier(out, head.field_lines);
  for (std::size_t i = 0; i < head.fields.size(); ++i) {
    const Field& field = head.fields[i];
    const bool is_shared = !with.pass_lines.empty() && is_cache_policy(field.name);
    const bool is_length = field.id == FieldId::content_length;
    const bool is_repeated = is_length && std::exchange(has_length, true);
    if (is_shared || is_repeated || !is_forwarded(field, hop, may_have_length)) {
      copier.skip(head.fields, i);
      unusual_length = unusual_length || (is_length && !is_repeated);
    } else if (field.id == FieldId::unknown && special_of(field) == Special::request_id) {
      has_request_id = true;
    }
  }
  copier.finish();

  if (head.framing.kind == Framing::Kind::chunked && !with.dechunk) {
    out << "Transfer-Encoding: chunked\r\n";
  }
  if (may_have_length && unusual_length) write_plain_length(out, head.fields);
  // RFC 9110 section 6.6.1.
  if (!head.fields.contains(FieldId::date)) write_own_line(out, "Date: ", with.date);
  write_additions(out, head.version, has_request_id ? std::string_view{} : with.request_id, with);
  return !out.overflowed();
}

void write_additions(TextWriter& out, unsigned upstream_version, std::string_view request_id,
                     const ForwardedResponse& with) {
  if (upstream_version != 0) out << "Via: " << version_of(upstream_version) << " spillway\r\n";
  write_own_line(out, "X-Request-Id: ", request_id);
  if (with.queue_wait) write_server_timing(out, *with.queue_wait);
  if (!with.degraded.empty()) {
    out << "Spillway-Degraded: mode=" << with.degraded << "; reason=" << name(with.degraded_for)
        << "\r\n";
  }
  write_cache_status(out, with.cache_status);
  // Overrides the upstream's fields: a shared cache that stored the pass would give it to everyone.
  if (!with.pass_lines.empty()) out << with.pass_lines << "Cache-Control: private, no-cache\r\n";
  if (!with.keep_alive) {
    out << "Connection: close\r\n";
  } else if (with.client_version < 11) {
    out << "Connection: keep-alive\r\n";
  }
  out << "\r\n";
}

bool write_interim_head(TextWriter& out, const ResponseHead& head) {
  write_status_line(out, head);
  copy_bodiless(out, head);
  out << "\r\n";
  return !out.overflowed();
}

bool write_switching_head(TextWriter& out, const ResponseHead& head, const ForwardedSwitch& with) {
  write_status_line(out, head);
  copy_bodiless(out, head);
  out << "Connection: upgrade\r\nUpgrade: " << with.protocol << "\r\n";
  if (head.fields.find("X-Request-Id") == nullptr)
    write_own_line(out, "X-Request-Id: ", with.request_id);
  out << with.pass_lines << "\r\n";
  return !out.overflowed();
}

}  // namespace spillway::http
