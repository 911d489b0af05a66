#include "http/outgoing/local_response.hpp"

#include "http/field/ascii.hpp"
#include "http/outgoing/problem.hpp"

namespace spillway::http {
namespace {

// RFC 9110 section 15.4.5, plus Via and Cache-Status, which record the path of the response.
bool is_for_not_modified(std::string_view name) {
  return contains_name({"Cache-Control", "Content-Location", "Date", "ETag", "Expires",
                        "Last-Modified", "Vary", "Via", "Cache-Status"},
                       name);
}

void write_status_line(TextWriter& out, unsigned status, std::string_view phrase) {
  out << "HTTP/1.1 " << status << ' ' << phrase << "\r\n";
}

// A response with a pass is for one visitor: it gets no caching fields of the stored response.
template <class Wanted>
void write_stored_lines(TextWriter& out, std::string_view lines, const ForwardedResponse& with,
                        const Wanted& is_wanted) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find("\r\n") + 2);
    const std::string_view name = line.substr(0, line.find(':'));
    const bool is_shared = !with.pass_lines.empty() && is_cache_policy(name);
    if (is_wanted(name) && !is_shared) out << line;
    lines.remove_prefix(line.size());
  }
}

void write_stored_lines(TextWriter& out, std::string_view lines, const ForwardedResponse& with) {
  if (with.pass_lines.empty())
    out << lines;
  else
    write_stored_lines(out, lines, with, [](std::string_view) { return true; });
}

}  // namespace

bool write_stored_head(TextWriter& out, const StoredHead& head, const ForwardedResponse& with) {
  if (head.part) {
    const ByteRange& part = *head.part;
    write_status_line(out, 206, reason_phrase(206));
    write_stored_lines(out, head.lines, with);
    out << "Content-Range: bytes " << part.first << '-' << part.last << '/' << *head.content_length
        << "\r\nContent-Length: " << part.size() << "\r\n";
  } else {
    write_status_line(out, head.status, head.reason_phrase);
    write_stored_lines(out, head.lines, with);
    if (head.content_length) out << "Content-Length: " << *head.content_length << "\r\n";
  }
  out << "Age: " << head.age << "\r\n";
  write_additions(out, 11, with.request_id, with);
  return !out.overflowed();
}

bool write_not_modified_head(TextWriter& out, const StoredHead& head,
                             const ForwardedResponse& with) {
  write_status_line(out, 304, "Not Modified");
  write_stored_lines(out, head.lines, with, is_for_not_modified);
  out << "Age: " << head.age << "\r\n";
  write_additions(out, 11, with.request_id, with);
  return !out.overflowed();
}

bool write_fallback_head(TextWriter& out, const FallbackHead& head, const ForwardedResponse& with) {
  write_status_line(out, head.status, reason_phrase(head.status));
  out << head.lines;
  if (!head.content_type.empty()) out << "Content-Type: " << head.content_type << "\r\n";
  // A 204 has no content (RFC 9110 section 8.6); in a 304 this would be the length of another one.
  const bool may_have_length = head.status != 204 && head.status != 304;
  if (head.content_length && may_have_length)
    out << "Content-Length: " << *head.content_length << "\r\n";
  if (!head.is_final) out << "Cache-Control: no-store\r\n";
  if (head.varies) out << "Vary: Accept\r\n";
  if (!with.date.empty()) out << "Date: " << with.date << "\r\n";
  write_additions(out, 0, with.request_id, with);
  return !out.overflowed();
}

}  // namespace spillway::http
