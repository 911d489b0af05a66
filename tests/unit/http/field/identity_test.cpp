// What a client cannot make the upstream believe: fields that it drops, adds or disguises.
#include "http/field/identity.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "http/message/body.hpp"
#include "http/message/trailer.hpp"
#include "unit/http/requests.hpp"

using namespace spillway;
using namespace spillway::http;

namespace {

const ProtectedFields kOfShop(std::vector<std::string>{"X-Customer", "X_Plan", "X-Session"});

ForwardedRequest of_shop(bool trusted) {
  ForwardedRequest with = kClient;
  with.trusted_peer = trusted;
  with.protected_fields = &kOfShop;
  return with;
}

// The head that goes on of a request with these fields.
std::string sent(const std::string& fields, bool trusted = false) {
  return forward("GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n", of_shop(trusted));
}

}  // namespace

TEST_CASE("the configuration names the fields that are protected besides") {
  config::Config config;
  config.trusted_headers = {
      .tenant = "X-Customer", .priority = "X-Rank", .tier = "X-Club", .user = "X-Who"};
  config.routes.resize(3);
  config.routes[1].cache.emplace();
  config.routes[1].cache->personal = {"X-Session", "X-Customer"};
  config.routes[1].cache->vary = {"X-Country"};
  const ProtectedFields fields(config);
  for (const char* name : {"X-Customer", "x-rank", "X-Club", "X-Who", "X-SESSION", "X-Country"}) {
    CAPTURE(name);
    CHECK(fields.contains(name));
  }
  for (const char* name : {"X-Customers", "X-Cust", "", "X_Customer", "Cookie"}) {
    CAPTURE(name);
    CHECK_FALSE(fields.contains(name));
  }
}

TEST_CASE("Connection names no protected field away") {
  for (const std::string name :
       {"X-Customer",      "x-customer",      "X_Plan",     "CDN-Loop",      "cdn-loop",
        "X-Session",       "X-Tenant",        "X-Priority", "X-Api-Key",     "X-Forwarded-For",
        "X-Real-IP",       "X-Request-Id",    "Cookie",     "Authorization", "Accept",
        "Accept-Language", "Accept-Encoding", "User-Agent", "Referer",       "If-Match",
        "Pragma"}) {
    CAPTURE(name);
    for (const bool trusted : {false, true}) {
      const std::string head =
          sent("Connection: close, " + name + "\r\n" + name + ": v1\r\n", trusted);
      const bool is_dropped = name == "X-Real-IP" && !trusted;  // for another reason
      const bool is_anew = name == "X-Forwarded-For";
      CHECK(has_field(head, name) != is_dropped);
      if (!is_dropped && !is_anew) CHECK(has_line(head, name + ": v1"));
      CHECK_FALSE(has_field(head, "Connection"));
    }
  }
  // The control: what is not protected does end here, unless a trusted peer passes on the names.
  const std::string other = "Connection: X-Hop\r\nX-Hop: 1\r\n";
  CHECK_FALSE(has_field(sent(other), "X-Hop"));
  CHECK(has_line(sent(other, true), "X-Hop: 1"));
  for (const std::string name : {"Keep-Alive", "TE", "Proxy-Connection", "HTTP2-Settings",
                                 "Upgrade", "Proxy-Authorization"}) {
    CAPTURE(name);
    CHECK_FALSE(has_field(sent(name + ": 1\r\n", true), name));
    CHECK_FALSE(has_field(sent(name + ": 1\r\n"), name));
  }
}

TEST_CASE("fields whose names CGI cannot tell from protected ones do not go on") {
  for (const std::string name :
       {"X_Forwarded_For",
        "x_forwarded-for",
        "X-Forwarded_Proto",
        "X_FORWARDED_HOST",
        "X_Real_IP",
        "True_Client_IP",
        "X_Request_Id",
        "X-Request_Deadline",
        "grpc_timeout",
        "Spillway_Late",
        "Spillway_Degrade",
        "X_Api_Key",
        "X_Tenant",
        "X_Customer",
        "X-Plan",
        "X_Session",
        "Content_Length",
        "Transfer_Encoding",
        "Content_Type",
        "Proxy_Authorization",
        "If_None_Match",
        "Accept_Language",
        "Max_Forwards",
        "X_Original_URL",
        "X.Forwarded.For",
        "X_Host",
        "Front.End.Https",
        "Client_Cert",
        "CDN_Loop",
        "X+Real+IP",
        "X~Tenant",
        "x-forwarded.PROTO",
        "X!Customer",
        "x.session",
        "X.Plan",
        "Content.Length",
        "Transfer`Encoding",
        "Accept|Language",
        "If'None'Match",
        "grpc^timeout",
        "Spillway*Late",
        "Proxy%Authorization",
        "X#Api&Key",
        "X_Forwarded_A_name_that_is_much_longer_than_any_other_that_has_a_meaning_here"}) {
    CAPTURE(name);
    CHECK_FALSE(has_field(sent(name + ": 1\r\n"), name));
    CHECK_FALSE(has_field(sent(name + ": 1\r\n", true), name));
    CHECK_FALSE(may_be_request_trailer(name, kOfShop));
  }
  for (const std::string name :
       {"X_Custom", "session_id", "my_field_", "_", "X_Plan", "X_Forward", "Forwarded_For_Me",
        "X.Custom", "a.b+c", "~", "X.Forward", "X-Real0IP", "XReal.IP", "X.Real..IP", "x-2"}) {
    CAPTURE(name);
    CHECK(has_line(sent(name + ": 1\r\n"), name + ": 1"));
  }
}

TEST_CASE("only a trusted peer says which address or target its client has") {
  std::istringstream names(
      "X-Real-IP x-real-ip True-Client-IP X-Client-IP X-Cluster-Client-IP Client-IP "
      "CF-Connecting-IP CF-Connecting-IPv6 Fastly-Client-IP X-Azure-ClientIP "
      "X-Original-Forwarded-For X-Envoy-External-Address X-Original-URL X-Rewrite-URL "
      "X-Original-Uri Proxy X-Forwarded-Port X-Forwarded-Prefix X-Forwarded Forwarded-For "
      "X-Host x-host X-Original-Host X-HTTP-Host-Override Proxy-Client-IP "
      "WL-Proxy-Client-IP X-Remote-IP X-Remote-Addr X-Originating-IP X-ProxyUser-Ip "
      "Front-End-Https X-Scheme X-Url-Scheme X-Envoy-Original-Path X-Original-Method "
      "Client-Cert client-cert Client-Cert-Chain Fly-Client-IP DO-Connecting-IP "
      "do-connecting-ip X-Vercel-Forwarded-For X-Vercel-Proxied-For X-Appengine-User-IP "
      "X-Azure-SocketIP X-NF-Client-Connection-IP X-Sucuri-ClientIP CF-Pseudo-IPv4 "
      "CloudFront-Viewer-Address Incap-Client-IP X-Appengine-Remote-Addr Ali-CDN-Real-IP "
      "Cdn-Src-Ip");
  for (std::string name; names >> name;) {
    CAPTURE(name);
    CHECK_FALSE(has_field(sent(name + ": 10.0.0.1\r\n"), name));
    CHECK(has_line(sent(name + ": 10.0.0.1\r\n", true), name + ": 10.0.0.1"));
    CHECK_FALSE(may_be_request_trailer(name));
  }
  for (const std::string name : {"X-Real-Name",
                                 "Client-Name",
                                 "True",
                                 "CF-Ray",
                                 "Fastly",
                                 "X-Hosts",
                                 "X-Remote",
                                 "Front-End",
                                 "Forwarded-Fo",
                                 "Proxy-Client",
                                 "WL-Proxy",
                                 "X-Schemes",
                                 "Scheme",
                                 "Client-Certs",
                                 "DO",
                                 "Fly-Region",
                                 "Incap",
                                 "X-Vercel-Id",
                                 "X-Original-Methods",
                                 "CDN-Loop"}) {
    CAPTURE(name);
    CHECK(has_line(sent(name + ": 1\r\n"), name + ": 1"));
  }
}

TEST_CASE("what trusted peers say in configured fields no other peer says to the backend") {
  config::Config config;
  config.trusted_headers = {.tenant = "X-Customer", .priority = "X-Rank", .tier = "X-Club"};
  config.routes.resize(1);
  config.routes[0].cache.emplace();
  config.routes[0].cache->personal = {"X-Session", "X-Customer"};
  config.routes[0].cache->vary = {"X-Country"};
  const ProtectedFields fields(config);
  const auto goes_on = [&](const std::string& name, bool trusted) {
    ForwardedRequest with = kClient;
    with.trusted_peer = trusted;
    with.protected_fields = &fields;
    return has_line(
        forward("GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n" + name + ": v1\r\nX-B: 1\r\n\r\n", with),
        name + ": v1");
  };
  for (const std::string name : {"X-Customer", "x-customer", "X-Rank", "X-Club"}) {
    CAPTURE(name);
    CHECK_FALSE(goes_on(name, false));
    CHECK(goes_on(name, true));
    CHECK_FALSE(may_be_request_trailer(name, fields));
  }
  // What is protected for another reason is any client's to say.
  for (const std::string name :
       {"X-Session", "X-Country", "X-Tenant", "X-Customers", "X-Api-Key"}) {
    CAPTURE(name);
    CHECK(goes_on(name, false));
    CHECK(goes_on(name, true));
  }
}

TEST_CASE("an upstream does not say to clients what Spillway says in fields of its own") {
  const auto relayed = [](const std::string& line, bool interim) {
    const std::string text = std::string("HTTP/1.1 ") + (interim ? "103" : "200") +
                             " X\r\nX-A: 1\r\n" + line + "\r\nX-B: 1\r\nContent-Length: 0\r\n\r\n";
    ResponseHead head;
    REQUIRE(parse_response(text, head) == Error::none);
    std::string block(text.size() + kRewriteRoom, '\0');
    TextWriter out(block);
    REQUIRE((interim ? write_interim_head(out, head) : write_response_head(out, head, {})));
    return std::string(out.text());
  };
  for (const std::string name :
       {"Spillway-Degraded", "spillway-degraded", "Spillway-Job", "Spillway-Ticket",
        "SPILLWAY-TICKET", "Spillway-Pass", "Spillway-Late", "Spillway-Degrade", "Spillway-Attempt",
        "Spillway-Join", "Spillway-Leave", "Spillway-Work", "Spillway-Enter"}) {
    CAPTURE(name);
    for (const bool interim : {false, true}) {
      const std::string head = relayed(name + ": 1", interim);
      CHECK_FALSE(has_field(head, name));
      CHECK(has_line(head, "X-A: 1"));
      CHECK(has_line(head, "X-B: 1"));
    }
    CHECK_FALSE(may_be_response_trailer(name));
    CHECK_FALSE(may_be_request_trailer(name));
  }
  // Others have no meaning here and are the upstream's own.
  for (const std::string name :
       {"Spillway-Colour", "Spillway", "Spillway-Degraded-By", "X-Spillway-Job"}) {
    CAPTURE(name);
    CHECK(has_line(relayed(name + ": 1", false), name + ": 1"));
    CHECK(may_be_response_trailer(name));
  }
}

TEST_CASE("no protected field is a trailer of a request") {
  for (const char* name : {"X-Customer", "x-session", "X_Plan", "X-Plan", "X-Forwarded-For",
                           "X-Request-Deadline", "grpc-timeout", "Cookie", "Content-Length"}) {
    CAPTURE(name);
    CHECK_FALSE(may_be_request_trailer(name, kOfShop));
  }
  for (const char* name : {"Accept",
                           "accept-language",
                           "Accept_Language",
                           "Accept-Encoding",
                           "Accept-Datetime",
                           "Accept-Anything",
                           "User-Agent",
                           "Referer",
                           "Date",
                           "Vary",
                           "Forwarded",
                           "X-Real-IP",
                           "HTTP2-Settings",
                           "Keep-Alive",
                           "Proxy-Authenticate",
                           "Proxy-Authorization",
                           "Proxy-Authentication-Info",
                           "TE",
                           "If-None-Match",
                           "Content-Type"}) {
    CAPTURE(name);
    CHECK_FALSE(may_be_request_trailer(name));
  }
  for (const char* name : {"X-Checksum", "Digest", "X-Customer-Count", "grpc-status"}) {
    CAPTURE(name);
    CHECK(may_be_request_trailer(name, kOfShop));
  }
  CHECK(may_be_request_trailer("X-Customer"));  // the control: by itself it has no meaning
  const auto read = [](const std::string& trailer) {
    BodyReader reader({Framing::Kind::chunked}, 100, BodyReader::MessageKind::request, kOfShop);
    return reader.read("0\r\n" + trailer + ": 1\r\n\r\n").error;
  };
  CHECK(read("X-Customer") == Error::bad_trailer);
  CHECK(read("X_Session") == Error::bad_trailer);
  CHECK(read("X-Checksum") == Error::none);
}

TEST_CASE("no field that a client acts on before the content is a trailer of a response") {
  for (const char* name :
       {"HTTP2-Settings", "http2-settings", "Proxy-Authenticate", "Proxy-Authentication-Info",
        "Keep-Alive", "Connection", "Content-Length", "Content-Type", "Set-Cookie", "Cache-Control",
        "WWW-Authenticate", "Vary", "Age", "Expires", "Location", "Retry-After"}) {
    CAPTURE(name);
    CHECK_FALSE(may_be_response_trailer(name));
  }
  for (const char* name :
       {"X-Sum", "Digest", "ETag", "Server-Timing", "grpc-status", "Locations"}) {
    CAPTURE(name);
    CHECK(may_be_response_trailer(name));
  }
}

TEST_CASE("a Content-Length in an unusual form is written anew") {
  const auto forwarded = [](const std::string& line) {
    return forward("POST / HTTP/1.1\r\nHost: a\r\n" + line + "\r\nX-After: 1\r\n\r\n", kClient);
  };
  const std::string zeros(30, '0');
  const std::pair<std::string, std::string> anew[] = {
      {"Content-Length:\t1", "1"},       {"Content-Length: \t 1", "1"},
      {"Content-Length:1", "1"},         {"Content-Length: 1 ", "1"},
      {"Content-Length: 1\t", "1"},      {"content-length: 01", "1"},
      {"Content-Length: " + zeros, "0"}, {"Content-Length: " + zeros + "12", "12"},
      {"Content-Length:  0", "0"},       {"CONTENT-LENGTH:   0010  ", "10"}};
  for (const auto& [line, length] : anew) {
    CAPTURE(line);
    const std::string head = forwarded(line);
    CHECK(has_line(head, "Content-Length: " + length));
    CHECK(head.find(line + "\r\n") == std::string::npos);
    CHECK(has_line(head, "X-After: 1"));
  }
  for (const char* usual : {"Content-Length: 0", "content-length: 10", "Content-Length: 1"}) {
    CAPTURE(usual);
    CHECK(has_line(forwarded(usual), usual));
  }
}

TEST_CASE("a response's Content-Length in an unusual form is written anew") {
  const auto relayed = [](const std::string& status, const std::string& line, Verb method) {
    const std::string text = "HTTP/1.1 " + status + " X\r\n" + line + "\r\nX-After: 1\r\n\r\n";
    ResponseHead head;
    REQUIRE(read_response(text, method, head) == Error::none);
    std::string block(text.size() + kRewriteRoom, '\0');
    TextWriter out(block);
    REQUIRE(write_response_head(out, head, {}));
    return std::string(out.text());
  };
  for (const Verb method : {Verb::get, Verb::head}) {
    CHECK(has_line(relayed("200", "Content-Length:\t0012", method), "Content-Length: 12"));
    CHECK(has_line(relayed("200", "content-length: 12", method), "content-length: 12"));
    CHECK(has_line(relayed("304", "Content-Length: 00", method), "Content-Length: 0"));
  }
  CHECK_FALSE(has_field(relayed("204", "Content-Length: 00", Verb::get), "Content-Length"));
}

TEST_CASE("a host is written into three fields and therefore bounded") {
  const auto read = [](const std::string& host) {
    RequestHead head;
    return read_request("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n", head);
  };
  const std::string longest(255, 'h');
  CHECK(read(longest) == Error::none);
  CHECK(read(longest + ":65535") == Error::none);
  CHECK(read(longest + "h") == Error::bad_host);
  CHECK(read(std::string(20'000, 'h')) == Error::bad_host);
  CHECK(read("a:" + std::string(20'000, '0') + "80") == Error::bad_host);
  std::string escapes;
  for (int i = 0; i < 86; ++i) escapes += "%61";
  CHECK(read(escapes) == Error::bad_host);
  RequestHead head;
  CHECK(read_request("GET http://" + longest + "h/ HTTP/1.1\r\nHost: a\r\n\r\n", head) ==
        Error::bad_target);
  // All that it adds stays within the room.
  const std::string text = "GET / HTTP/1.1\r\nHost: " + longest + ":65535\r\n\r\n";
  CHECK(forward(text, kClient).size() <= text.size() + kRewriteRoom);
}
