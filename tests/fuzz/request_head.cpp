// Any bytes as a request: what is accepted can be read in one way only, and what goes on to the
// upstream is a request again that the upstream reads in the same way.
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
#include "http/message/framing.hpp"
#include "http/message/hop_by_hop.hpp"
#include "http/message/scan.hpp"
#include "http/message/target.hpp"
#include "http/outgoing/rewrite.hpp"

namespace spillway::fuzz {
namespace {

using http::Error;
using http::FieldId;
using http::RequestHead;

constexpr std::string_view kDefaultHost = "backend.example:8080";

http::ForwardedRequest forwarded(unsigned options) {
  return {.client_address = bit(options, 0) ? "2001:db8::7" : "192.0.2.7",
          .default_host = kDefaultHost,
          .trusted_peer = bit(options, 1),
          .request_id = bit(options, 2) ? "0123456789abcdef0123456789abcdef" : "",
          .traceparent =
              bit(options, 3) ? "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" : "",
          .late = bit(options, 4),
          .skip_downstream = bit(options, 4),
          .for_store = bit(options, 5),
          .etag = bit(options, 6) ? "\"v1\"" : "",
          .last_modified = bit(options, 6) ? "Sun, 06 Nov 1994 08:49:37 GMT" : "",
          .in_background = bit(options, 7)};
}

// Fields that are written anew, or not at all.
bool is_rewritten(std::string_view name) {
  for (const std::string_view own : {"Host",
                                     "Forwarded",
                                     "X-Forwarded-For",
                                     "X-Forwarded-Proto",
                                     "X-Forwarded-Host",
                                     "X-Request-Id",
                                     "traceparent",
                                     "TE",
                                     "Connection",
                                     "Transfer-Encoding",
                                     "Expect",
                                     "If-None-Match",
                                     "If-Modified-Since",
                                     "Cache-Control",
                                     "Pragma",
                                     "Via",
                                     "Upgrade",
                                     "Max-Forwards",
                                     "Content-Length",
                                     "X-Request-Deadline",
                                     "grpc-timeout"}) {
    if (http::iequals(name, own)) return true;
  }
  return http::istarts_with(name, "X-Forwarded-") || http::istarts_with(name, "Spillway-") ||
         http::is_proxy_field(name);
}

void check_accepted(const RequestHead& head, const PlainHead& plain) {
  require(plain.fields.size() == head.fields.size(), "as many fields as lines");
  for (std::size_t i = 0; i < head.fields.size(); ++i) {
    require(plain.fields[i].name == head.fields[i].name, "names are as sent");
    require(plain.fields[i].value == head.fields[i].value, "values are as sent",
            plain.fields[i].line);
  }
  const http::Framing framing = plain_framing(plain);
  require(framing.kind == head.framing.kind && framing.length == head.framing.length,
          "the framing is what the fields say");
  const std::size_t hosts = plain.count("Host");
  require(hosts == 1 || (hosts == 0 && head.version == 10), "Host comes once");
  const std::string asked = std::string(head.method_name) + ' ' + std::string(head.target) + ' ';
  require(plain.start_line.starts_with(asked) &&
              is_version(plain.start_line.substr(asked.size()), head.version),
          "a request line has three parts with one blank between them", plain.start_line);
  require(hosts == 0 || !head.host.empty(), "there is an authority");
  require(head.host.empty() || http::valid_authority(head.host), "the authority is one", head.host);
  require(head.target.ends_with(head.path_and_query) || head.path_and_query == "/" ||
              head.path_and_query == "*",
          "the path is as sent", head.target);
  require(head.path_is_missing ? head.path_and_query.starts_with('?')
                               : head.path_and_query.starts_with('/') ||
                                     (head.path_and_query == "*" && head.method_name == "OPTIONS"),
          "what is asked for is a path, or * for OPTIONS", head.path_and_query);
  require(head.method_name != "CONNECT" && head.method_name != "TRACE", "both are refused");
}

// Lines that end at no hop go on as they are and in order.
void check_end_to_end(const RequestHead& head, const PlainHead& in, const PlainHead& out,
                      bool is_from_trusted_peer) {
  const http::HopByHop hop(head.fields, http::kNoFieldsConfigured, is_from_trusted_peer);
  const auto is_alias = [](const PlainField& field) {
    return http::kNoFieldsConfigured.is_alias(field.name);
  };
  std::size_t next = 0;
  for (std::size_t i = 0; i < in.fields.size(); ++i) {
    if (is_rewritten(in.fields[i].name) || is_alias(in.fields[i]) || hop.strips(head.fields[i]))
      continue;
    while (next < out.fields.size() && out.fields[next].line != in.fields[i].line) ++next;
    require(next++ < out.fields.size(), "an end-to-end field goes on, in order", in.fields[i].line);
  }
  std::size_t own = 0;
  for (const PlainField& field : out.fields) {
    if (is_rewritten(field.name)) {
      ++own;
      continue;
    }
    const http::Field* sent = head.fields.find(field.name);
    require(sent != nullptr, "nothing is made up", field.line);
    require(!hop.strips(*sent), "a field that ends here does not go on", field.line);
    require(!is_alias(field), "a name that another stands for does not go on", field.line);
  }
  require(out.fields.size() - own <= in.fields.size(), "no field is doubled");
}

void check_written(std::string_view written, const RequestHead& head, const PlainHead& in,
                   bool is_from_trusted_peer) {
  const PlainHead out = plain_head(written);
  const http::Framing framing = plain_framing(out);
  require(framing.kind == head.framing.kind && framing.length == head.framing.length,
          "the upstream finds the same end of the body", written);
  const bool has_body = framing.kind != http::Framing::Kind::none;
  require(out.count("Content-Length") + out.count("Transfer-Encoding") == 1 || !has_body,
          "exactly one framing field for a body", written);
  require(out.count("Host") == 1, "exactly one Host", written);
  check_end_to_end(head, in, out, is_from_trusted_peer);

  // Our own fields may be too many for a head that was full already.
  if (head.fields.size() + 16 > http::FieldList::kCapacity) return;
  http::HeadScanner scanner(http::HeadScanner::Kind::request, {SIZE_MAX, http::kMaxRequestLine});
  const http::Scan scan = scanner.scan(written);
  require(
      scan.state == http::Scan::State::complete && scan.begin == 0 && scan.end == written.size(),
      "what is written is one head", written);
  RequestHead again;
  require(http::parse_request(written, again) == Error::none, "what is written parses", written);
  require(http::request_framing(again) == Error::none, "what is written is framed", written);
  require(again.method_name == head.method_name, "the method stays", written);
  require(again.version == 11, "the upstream is spoken HTTP/1.1 to", written);
  const std::string path = (head.path_is_missing ? "/" : "") + std::string(head.path_and_query);
  require(again.path_and_query == path, "the path stays byte for byte", written);
  require(again.host == (head.host.empty() ? kDefaultHost : head.host), "the host stays", written);
  require(again.framing.kind == head.framing.kind && again.framing.length == head.framing.length,
          "the framing stays", written);
  require(!again.expect_continue, "an expectation is the proxy's to meet", written);
  require(again.keep_alive, "the upstream's connection stays open", written);
}

}  // namespace

void request_head(std::string_view input) {
  Options options(input);
  const unsigned how = options.byte();
  const std::string_view received = options.rest();

  http::HeadScanner scanner(http::HeadScanner::Kind::request);
  const http::Scan scan = scanner.scan(received);
  Error error = scan.error;
  RequestHead head;
  const std::string_view text = received.substr(scan.begin, scan.end - scan.begin);
  if (scan.state == http::Scan::State::need_more) return;
  if (scan.state == http::Scan::State::complete) {
    require(scan.begin <= scan.end && scan.end <= received.size(), "a head lies in what came");
    error = http::parse_request(text, head);
    if (error == Error::none) error = http::request_framing(head);
  }
  if (error != Error::none) {
    const int status = http::status_of(error);
    require((status >= 400 && status < 500) || status == 501 || status == 505,
            "a fault has a status");
    require(!http::describe(error).empty(), "a fault has a sentence");
    return;
  }

  const PlainHead plain = plain_head(text);
  check_accepted(head, plain);

  std::vector<char> block(text.size() + http::kRewriteRoom);
  TextWriter out(block);
  require(http::write_request_head(out, head, forwarded(how)), "the promised room is enough", text);
  check_written(out.text(), head, plain, forwarded(how).trusted_peer);
}

}  // namespace spillway::fuzz
