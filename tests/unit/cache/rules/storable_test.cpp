#include "cache/rules/storable.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "unit/cache/rules/messages.hpp"

using namespace spillway;
using namespace spillway::cache;

namespace {

const config::Cache kSettings{};

// "yes", "open" or the reason.
std::string verdict(const Storable& storable) {
  if (!storable) return std::string(name(storable.why_not));
  return storable.open ? "open" : "yes";
}

std::string verdict(const Lines& request, const Lines& response, unsigned status = 200) {
  return verdict(
      storable(request_of("GET", request), response_of(status, response), kSettings, {}));
}

std::string of_control(std::string_view control, unsigned status = 200) {
  return verdict({}, {{"Cache-Control", control}}, status);
}

}  // namespace

TEST_CASE("directives of the response say whether it may be stored") {
  // RFC 9111 sections 3 and 5.2.2
  struct Case {
    std::string_view control;
    std::string expected;
  };
  const Case cases[] = {
      {"", "yes"},
      {"max-age=60", "yes"},
      {"max-age=0", "yes"},
      {"no-cache", "yes"},
      {"must-revalidate", "yes"},
      {"public", "open"},
      {"s-maxage=60", "open"},
      {"s-maxage=x", "open"},
      {"no-store", "no-store"},
      {"No-Store, public, max-age=60", "no-store"},
      {"no-store=\"x\"", "no-store"},
      {"private", "private"},
      {"private, public, max-age=60", "private"},
      {"private=\"X-One\", public", "private"},
      {"public, x=\"", "no-store"},
      {"x=\"no-store, private\"", "yes"},
      {"must-understand", "yes"},
      {"must-understand, no-store", "yes"},
      {"must-understand, no-store, private", "private"},
      {"must-understand, \"", "private"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.control);
    CHECK(of_control(one.control) == one.expected);
  }
}

TEST_CASE("a status is stored by default or on a lifetime or never") {
  // RFC 9110 section 15.1, RFC 9111 sections 3 and 4.2.2
  const std::set<unsigned> by_default{200, 203, 204, 300, 301, 308};
  const std::set<unsigned> errors{404, 405, 410, 414, 501};  // by default, if they have a ttl
  const config::Cache keeps_errors{.error_ttl = Milliseconds(1)};
  for (unsigned status = 100; status < 700; ++status) {
    CAPTURE(status);
    const bool never = status < 200 || status == 206 || status == 304 || status >= 600;
    const bool is_failure = status >= 500 && status != 501;
    const std::string on_lifetime = never ? "status" : "yes";
    CHECK(of_control("max-age=60", status) == on_lifetime);
    CHECK(verdict({}, {{"Expires", "0"}}, status) == on_lifetime);
    CHECK(of_control("public", status) == (never ? "status" : is_failure ? "no lifetime" : "open"));
    CHECK(of_control("s-maxage=60", status) == (never ? "status" : "open"));
    const std::string unsaid = never                         ? "status"
                               : by_default.contains(status) ? "yes"
                                                             : "no lifetime";
    CHECK(of_control("", status) == unsaid);
    CHECK(of_control("stale-if-error=60", status) == unsaid);
    CHECK(verdict(storable(request_of("GET"), response_of(status), keeps_errors, {})) ==
          (errors.contains(status) ? "yes" : unsaid));
  }
}

TEST_CASE("must-understand keeps statuses out whose rules are not known here") {
  // RFC 9111 section 5.2.2.3
  CHECK(of_control("must-understand, max-age=60", 299) == "status");
  CHECK(of_control("must-understand, max-age=60", 499) == "status");
  CHECK(of_control("max-age=60", 299) == "yes");
  CHECK(of_control("must-understand, max-age=60", 302) == "yes");
  CHECK(of_control("must-understand, no-store, max-age=60", 299) == "status");
}

TEST_CASE("cookies and an unbounded Vary keep a response out") {
  CHECK(verdict({}, {{"Set-Cookie", "a=1"}, {"Cache-Control", "public, max-age=60"}}) ==
        "Set-Cookie");
  CHECK(verdict({}, {{"Set-Cookie2", "a=1"}}) == "Set-Cookie");
  CHECK(verdict({}, {{"Vary", "Accept"}}) == "yes");
  CHECK(verdict({}, {{"Vary", "Accept, Accept-Encoding"}, {"Vary", ",X-One,"}}) == "yes");
  CHECK(verdict({}, {{"Vary", ""}}) == "yes");
  for (const std::string_view vary : {"*", "*, *", ", *", "*, Accept", "Accept, *", " * "}) {
    CAPTURE(vary);
    CHECK(verdict({}, {{"Vary", vary}}) == "Vary");
    CHECK(verdict({}, {{"Vary", "Accept"}, {"Vary", vary}}) == "Vary");
  }
  CHECK(verdict({}, {{"Vary", "Accept Encoding"}}) == "Vary");
}

TEST_CASE("only a GET without a body and for the whole is stored") {
  const auto of = [](const http::RequestHead& request, const config::Cache& settings = kSettings) {
    return verdict(
        storable(request, response_of(200, {{"Cache-Control", "public"}}), settings, {}));
  };
  CHECK(of(request_of("GET")) == "open");
  for (const char* method : {"HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"}) {
    CAPTURE(method);
    CHECK(of(request_of(method)) == "method");
  }
  CHECK(of(request_of("GET"), {.methods = {"HEAD"}}) == "method");
  for (const char* field : {"Range", "If-Range", "If-Match", "If-Unmodified-Since"}) {
    CAPTURE(field);
    CHECK(of(request_of("GET", {{field, "x"}})) == "part");
  }
  for (const char* field : {"If-None-Match", "If-Modified-Since", "Pragma"}) {
    CAPTURE(field);
    CHECK(of(request_of("GET", {{field, "x"}})) == "open");
  }
  CHECK(of(request_of("GET", {{"Cache-Control", "no-store"}})) == "request no-store");
  CHECK(of(request_of("GET", {{"Cache-Control", "no-cache, max-age=0"}})) == "open");
  http::RequestHead with_body = request_of("GET");
  with_body.framing = {http::Framing::Kind::length, 1};
  CHECK(of(with_body) == "body");
}

TEST_CASE("what is one person's is stored only with leave") {
  // RFC 9111 section 3.5
  const Lines authorization{{"Authorization", "Bearer x"}};
  const Lines cookie{{"Cookie", "session=1"}};
  const Lines both{{"Authorization", "Bearer x"}, {"Cookie", "session=1"}};
  struct Case {
    std::string_view control;
    std::string to_authorization;
    std::string to_cookie;
    std::string to_both;
  };
  const Case cases[] = {
      {"", "Authorization", "personal", "Authorization"},
      {"max-age=60", "Authorization", "personal", "Authorization"},
      {"proxy-revalidate", "Authorization", "personal", "Authorization"},
      {"public", "open", "open", "open"},
      {"s-maxage=60", "open", "open", "open"},
      {"max-age=60, must-revalidate", "Authorization", "personal", "Authorization"},
      {"public, no-store", "no-store", "no-store", "no-store"},
      {"public, private", "private", "private", "private"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.control);
    const Lines response{{"Cache-Control", one.control}};
    CHECK(verdict(authorization, response) == one.to_authorization);
    CHECK(verdict(cookie, response) == one.to_cookie);
    CHECK(verdict(both, response) == one.to_both);
  }
}

TEST_CASE("a personal field that Vary names is in the key and so may be stored for one") {
  const Lines cookie{{"Cookie", "session=1"}};
  CHECK(verdict(cookie, {{"Vary", "cookie"}}) == "yes");
  CHECK(verdict(cookie, {{"Vary", "Accept"}, {"Vary", "Accept-Language, COOKIE"}}) == "yes");
  CHECK(verdict(cookie, {{"Vary", "Accept"}}) == "personal");
  CHECK(verdict(cookie, {{"Vary", "Accept"}, {"Access-Control-Allow-Headers", "Cookie"}}) ==
        "personal");
  CHECK(verdict({{"Cookie", "a"}, {"X-Api-Key", "k"}}, {{"Vary", "Cookie"}}) == "personal");
  CHECK(verdict({{"Cookie", "a"}, {"X-Api-Key", "k"}},
                {{"Vary", "Cookie"}, {"Vary", "X-Api-Key"}}) == "yes");
  CHECK(verdict({{"Authorization", "x"}}, {{"Vary", "Authorization"}}) == "Authorization");
}

TEST_CASE("which requests the cache looks at") {
  const auto may = [](const http::RequestHead& request, const config::Cache& settings = kSettings) {
    return request_may_use_cache(request, settings);
  };
  CHECK(may(request_of("GET")));
  CHECK(may(request_of("HEAD")));
  CHECK(may(request_of("GET", {{"Cookie", "a"}, {"Authorization", "x"}, {"If-None-Match", "*"}})));
  CHECK(may(request_of("GET", {{"Cache-Control", "no-store"}})));
  CHECK_FALSE(may(request_of("HEAD"), {.methods = {"GET"}}));
  CHECK(may(request_of("GET"), {.methods = {"GET"}}));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get", "BREW"}) {
    CAPTURE(method);
    CHECK_FALSE(may(request_of(method)));
    CHECK_FALSE(may(request_of(method), {.methods = {method}}));
  }
  for (const char* field : {"Range", "If-Range", "If-Match", "If-Unmodified-Since"}) {
    CAPTURE(field);
    CHECK(may(request_of("GET", {{field, "x"}})));  // CacheLookup judges these
  }
  http::RequestHead chunked = request_of("GET");
  chunked.framing.kind = http::Framing::Kind::chunked;
  CHECK_FALSE(may(chunked));
  http::RequestHead upgrade = request_of("GET");
  upgrade.upgrade = true;
  CHECK(may(upgrade));  // CacheLookup knows for what, and what the route allows
}

TEST_CASE("a 304 can withdraw what is stored") {
  const http::RequestHead request = request_of("GET");
  const auto after = [&](const Lines& not_modified, const http::RequestHead& of) {
    // As merged: the 304's fields beside those of the stored response.
    Lines both = not_modified;
    std::erase_if(both, [](const auto& line) { return line.first == "Set-Cookie"; });
    both.push_back({"ETag", "\"a\""});
    return storable_after(response_of(304, not_modified), of, response_of(200, both), kSettings,
                          {});
  };
  CHECK(verdict(after({}, request)) == "yes");
  CHECK(verdict(after({{"Cache-Control", "public"}}, request)) == "open");
  for (const Lines& lines :
       {Lines{{"Cache-Control", "no-store"}}, Lines{{"Cache-Control", "private"}},
        Lines{{"Set-Cookie", "a=1"}}, Lines{{"Vary", "*"}}}) {
    CAPTURE(lines.front().first);
    const Storable storable = after(lines, request);
    CHECK_FALSE(storable);
    CHECK(withdraws(storable.why_not));
  }
  const Storable personal = after({}, request_of("GET", {{"Cookie", "a"}}));
  CHECK(verdict(personal) == "personal");
  CHECK(withdraws(personal.why_not));
  // Only this request does not want it kept, or is not one that could.
  CHECK_FALSE(withdraws(after({}, request_of("GET", {{"Cache-Control", "no-store"}})).why_not));
  CHECK_FALSE(withdraws(after({}, request_of("HEAD")).why_not));
  CHECK_FALSE(withdraws(Unstorable::none));
}

TEST_CASE("each reason has a name of its own") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kUnstorableCount; ++i) names.insert(name(static_cast<Unstorable>(i)));
  CHECK(names.size() == kUnstorableCount);
  CHECK(name(Unstorable::no_lifetime) == "no lifetime");
  CHECK(name(Unstorable::none) == "");
}
