// Any bytes as an upstream's response: what is accepted can be read in one way only, and what goes
// back to the client is read by it in the same way, to the same end.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_writer.hpp"
#include "fuzz/claim.hpp"
#include "fuzz/options.hpp"
#include "fuzz/plain_head.hpp"
#include "fuzz/targets.hpp"
#include "http/field/ascii.hpp"
#include "http/message/body.hpp"
#include "http/message/framing.hpp"
#include "http/message/hop_by_hop.hpp"
#include "http/message/scan.hpp"
#include "http/outgoing/rewrite.hpp"

namespace spillway::fuzz {
namespace {

using http::Error;
using http::ResponseHead;
using http::Verb;
using Kind = http::Framing::Kind;

// A response and the bytes after its head.
struct Received {
  std::string_view head;   // as received
  std::string_view after;  // what was received behind it
  Error error = Error::none;
  bool cut_off = false;
};

Received read_response(std::string_view received, Verb method, ResponseHead& head) {
  Received out;
  http::HeadScanner scanner(http::HeadScanner::Kind::response);
  const http::Scan scan = scanner.scan(received);
  out.error = scan.error;
  out.cut_off = scan.state == http::Scan::State::need_more;
  if (scan.state != http::Scan::State::complete) return out;
  require(scan.begin == 0 && scan.end <= received.size(), "a response begins where it begins");
  out.head = received.substr(0, scan.end);
  out.after = received.substr(scan.end);
  out.error = http::parse_response(out.head, head);
  if (out.error == Error::none) out.error = http::response_framing(head, method);
  return out;
}

struct Body {
  std::string content;
  std::string relayed;  // as it goes to the client
  Error error = Error::none;
};

Body read_body(http::Framing framing, std::string_view bytes, bool dechunk) {
  Body out;
  http::BodyReader reader(framing, http::BodyReader::kNoLimit,
                          http::BodyReader::MessageKind::response);
  while (!bytes.empty() && !reader.done()) {
    const http::BodyReader::Step step = reader.read(bytes);
    if (step.error != Error::none) {
      out.error = step.error;
      return out;
    }
    out.content += step.payload;
    out.relayed += dechunk ? step.payload : bytes.substr(0, step.consumed);
    bytes.remove_prefix(step.consumed);
  }
  out.error = reader.end_of_input();
  return out;
}

void check_accepted(const ResponseHead& head, const PlainHead& plain, bool bodiless) {
  require(head.status >= 100 && head.status <= 999, "a status has three digits");
  require(is_version(plain.start_line.substr(0, 8), head.version), "the version is as sent",
          plain.start_line);
  require(plain.start_line.substr(8).starts_with(' ' + std::to_string(head.status)),
          "the status is as sent", plain.start_line);
  require(plain.fields.size() == head.fields.size(), "as many fields as lines");
  for (std::size_t i = 0; i < head.fields.size(); ++i) {
    require(plain.fields[i].name == head.fields[i].name, "names are as sent");
    require(plain.fields[i].value == head.fields[i].value, "values are as sent",
            plain.fields[i].line);
  }
  const http::Framing said = plain_framing(plain, LengthIs::said_often);
  const bool framed = plain.count("Content-Length") + plain.count("Transfer-Encoding") > 0;
  const Kind expected = bodiless ? Kind::none : framed ? said.kind : Kind::until_close;
  require(head.framing.kind == expected, "the framing is what the fields say");
  require(expected != Kind::length || head.framing.length == said.length, "and so is the length");
}

// Lines that end at no hop go on as they are and in order; none is made up.
void check_end_to_end(const ResponseHead& head, const PlainHead& in, const PlainHead& out) {
  const http::HopByHop hop(head.fields);
  std::size_t next = 0;
  for (std::size_t i = 0; i < in.fields.size(); ++i) {
    if (hop.strips(head.fields[i]) || http::iequals(in.fields[i].name, "Content-Length")) continue;
    while (next < out.fields.size() && out.fields[next].line != in.fields[i].line) ++next;
    require(next++ < out.fields.size(), "an end-to-end field goes on, in order", in.fields[i].line);
  }
  for (const PlainField& field : out.fields) {
    bool own = false;
    for (const std::string_view name :
         {"Via", "Date", "X-Request-Id", "Server-Timing", "Spillway-Degraded", "Cache-Status",
          "Connection", "Transfer-Encoding"}) {
      own = own || http::iequals(field.name, name);
    }
    const http::Field* sent = head.fields.find(field.name);
    require(own || sent != nullptr, "nothing is made up", field.line);
    require(own || !hop.strips(*sent), "a field that ends here does not go on", field.line);
  }
}

void check_interim(const Received& response, const ResponseHead& head) {
  std::vector<char> block(response.head.size() + http::kRewriteRoom);
  TextWriter out(block);
  require(http::write_interim_head(out, head), "the promised room is enough", response.head);
  const PlainHead plain = plain_head(out.text());
  require(plain.count("Content-Length") + plain.count("Transfer-Encoding") == 0,
          "an interim response has no framing", out.text());
  ResponseHead again;
  const Received read = read_response(out.text(), Verb::get, again);
  require(read.error == Error::none && !read.cut_off && read.after.empty() &&
              again.status == head.status,
          "an interim response goes on as one", out.text());
}

struct Client {
  unsigned version = 11;
  bool keep_alive = true;
  Verb method = Verb::get;
};

void check_final(const Received& response, const ResponseHead& head, const Client& client,
                 unsigned options) {
  const bool bodiless = client.method == Verb::head || head.status == 204 || head.status == 304;
  const PlainHead plain = plain_head(response.head);
  check_accepted(head, plain, bodiless);
  const bool dechunk = client.version == 10 && head.framing.kind == Kind::chunked;
  const Body body = read_body(head.framing, response.after, dechunk);
  const bool keep = client.keep_alive && !dechunk && head.framing.kind != Kind::until_close;

  const http::ForwardedResponse with{
      .client_version = client.version,
      .keep_alive = keep,
      .request_id = bit(options, 4) ? "0123456789abcdef0123456789abcdef" : "",
      .date = bit(options, 5) ? "Sun, 06 Nov 1994 08:49:37 GMT" : "",
      .queue_wait = bit(options, 6) ? std::optional(Duration{3141592}) : std::nullopt,
      .dechunk = dechunk,
      .degraded = bit(options, 7) ? "stale_ok" : "",
      .degraded_for = Reason::tail_latency,
      .cache_status = {}};
  std::vector<char> block(response.head.size() + http::kRewriteRoom);
  TextWriter out(block);
  require(http::write_response_head(out, head, with), "the promised room is enough", response.head);

  const PlainHead written = plain_head(out.text());
  check_end_to_end(head, plain, written);
  require(written.count("Connection") <= 1, "one Connection at most", out.text());
  require(head.status != 204 || written.count("Content-Length") == 0, "no length with 204");
  if (head.fields.size() + 16 > http::FieldList::kCapacity) return;

  const std::string sent = std::string(out.text()) + body.relayed;
  ResponseHead again;
  const Received read = read_response(sent, client.method, again);
  require(read.error == Error::none && !read.cut_off, "what is written parses", sent);
  require(again.status == head.status && again.reason_phrase == head.reason_phrase,
          "the status line goes on", sent);
  require(again.keep_alive == (keep && again.framing.kind != Kind::until_close),
          "the client hears whether its connection stays open", sent);
  const Kind expected = dechunk ? Kind::until_close : head.framing.kind;
  require(again.framing.kind == expected && again.framing.length == head.framing.length,
          "the client finds the same end of the body", sent);
  if (body.error != Error::none) return;  // its connection is cut off
  const Body received = read_body(again.framing, read.after, false);
  require(received.error == Error::none && received.content == body.content,
          "the client receives the same content", sent);
}

}  // namespace

void upstream_response(std::string_view input) {
  Options options(input);
  const unsigned how = options.byte();
  const Client client{.version = bit(how, 0) ? 10u : 11u,
                      .keep_alive = bit(how, 1),
                      .method = bit(how, 2)   ? Verb::head
                                : bit(how, 3) ? Verb::post
                                              : Verb::get};
  std::string_view received = options.rest();
  for (;;) {
    ResponseHead head;
    const Received response = read_response(received, client.method, head);
    if (response.error != Error::none) {
      require(!http::describe(response.error).empty(), "a fault has a sentence");
      require(!http::upstream_proxy_status(response.error).empty(), "a fault has a type");
      return;
    }
    if (response.cut_off) return;
    if (head.status >= 200) return check_final(response, head, client, how);
    if (head.status == 101) return;  // not a response to this request
    check_accepted(head, plain_head(response.head), true);
    check_interim(response, head);
    received = response.after;
  }
}

}  // namespace spillway::fuzz
