#include "jobs/idempotency.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "unit/jobs/fields.hpp"

using namespace spillway::jobs;

namespace {

ReadKey read(std::string_view value) {
  return read_idempotency_key(fields_of({{"Accept", "*/*"}, {"idempotency-KEY", value}}));
}

}  // namespace

TEST_CASE("a request without Idempotency-Key has none, and that is no error") {
  const ReadKey none = read_idempotency_key(fields_of({{"Accept", "*/*"}}));
  CHECK_FALSE(none.key);
  CHECK_FALSE(none.is_invalid);
}

TEST_CASE("a key is a quoted text, or the text alone as many clients send it") {
  CHECK(read("\"8e03978e-40d5-43dd-bc93-6894a57f9324\"").key ==
        "8e03978e-40d5-43dd-bc93-6894a57f9324");
  CHECK(read("8e03978e-40d5-43dd-bc93-6894a57f9324").key == "8e03978e-40d5-43dd-bc93-6894a57f9324");
  CHECK(read("\"two words\"").key == "two words");
  CHECK(read("order:7/1+2=").key == "order:7/1+2=");
}

TEST_CASE("the escapes of RFC 8941 are undone, and there are no others") {
  CHECK(read(R"("a\"b\\c")").key == "a\"b\\c");
  for (const char* wrong : {R"("a\b")", R"("a\")", R"("\)", R"("a\n")"}) {
    CAPTURE(wrong);
    CHECK(read(wrong).is_invalid);
    CHECK_FALSE(read(wrong).key);
  }
}

TEST_CASE("a key has 1 to 255 characters") {
  CHECK(read(std::string(255, 'k')).key == std::string(255, 'k'));
  CHECK(read('"' + std::string(255, 'k') + '"').key == std::string(255, 'k'));
  CHECK(read(std::string(256, 'k')).is_invalid);
  CHECK(read('"' + std::string(256, 'k') + '"').is_invalid);
  CHECK(read("").is_invalid);
  CHECK(read("\"\"").is_invalid);
}

TEST_CASE("what is not one key is an error") {
  for (const char* wrong : {"\"", "\"a", "a\"", "\"a\"b\"", "\"a\", \"b\"", "a, b", "two words",
                            "\"caf\xc3\xa9\"", "caf\xc3\xa9", "\"a\tb\""}) {
    CAPTURE(wrong);
    CHECK(read(wrong).is_invalid);
    CHECK_FALSE(read(wrong).key);
  }
}

TEST_CASE("two fields are an error, even if they say the same") {
  const ReadKey twice =
      read_idempotency_key(fields_of({{"Idempotency-Key", "a"}, {"idempotency-key", "a"}}));
  CHECK(twice.is_invalid);
  CHECK_FALSE(twice.key);
}

TEST_CASE("a principal with Authorization alone is the text by which earlier versions kept keys") {
  CHECK(principal_of("acme", fields_of({{"Accept", "*/*"}, {"authorization", "Bearer ann"}})) ==
        "acme\nBearer ann");
  CHECK(principal_of("acme", fields_of({{"Accept", "*/*"}})) == "acme");
}

TEST_CASE("who differs in any credential is another principal") {
  const std::set<std::string> all{
      principal_of("acme", fields_of({})),
      principal_of("acme", fields_of({{"Authorization", "Bearer ann"}})),
      principal_of("acme", fields_of({{"Authorization", "Cookie:id=ann"}})),
      principal_of("acme", fields_of({{"Cookie", "id=ann"}})),
      principal_of("acme", fields_of({{"X-Api-Key", "id=ann"}})),
      principal_of("acme", fields_of({{"Proxy-Authorization", "Bearer ann"}})),
      principal_of("acme", fields_of({{"Authorization", "Bearer ann"}, {"Cookie", "id=ann"}})),
      principal_of("acme", fields_of({{"Authorization", "Bearer ann"}, {"Cookie", "id=bob"}})),
      principal_of("acme", fields_of({{"Authorization", "a"}, {"Authorization", "b"}})),
      principal_of("other", fields_of({{"Cookie", "id=ann"}})),
  };
  CHECK(all.size() == 10);
  CHECK(principal_of("acme", fields_of({{"Cookie", "id=ann"}, {"Authorization", "Bearer ann"}})) ==
        principal_of("acme", fields_of({{"AUTHORIZATION", "Bearer ann"}, {"cookie", "id=ann"}})));
}

TEST_CASE("where it is said who a user is, nothing else makes another principal, and that does") {
  const spillway::config::IdempotencyPrincipal by{.fields = {"X-User"}, .cookies = {"session"}};
  const auto of = [&](const spillway::http::FieldList& fields, std::string_view tenant = "acme") {
    return principal_of(tenant, true, fields, by);
  };
  const std::string ann = of(fields_of({{"X-User", "ann"}, {"Cookie", "session=1; visits=1"}}));
  CHECK(ann == of(fields_of({{"cookie", "visits=2; session=1"},
                             {"Authorization", "Bearer renewed"},
                             {"x-user", "ann"}})));
  const std::set<std::string> all{
      ann,
      of(fields_of({{"X-User", "ann"}, {"Cookie", "session=1"}}), "other"),
      of(fields_of({{"X-User", "ann"}, {"Cookie", "session=2"}})),
      of(fields_of({{"X-User", "ann"}, {"Cookie", "session=2; session=1"}})),
      of(fields_of({{"X-User", "bob"}, {"Cookie", "session=1"}})),
      of(fields_of({{"X-User", "ann"}, {"X-User", "bob"}, {"Cookie", "session=1"}})),
      of(fields_of({{"X-User", "ann"}})),
      of(fields_of({{"Cookie", "session=1"}})),
      of(fields_of({})),
      principal_of("acme", false, fields_of({{"X-User", "ann"}, {"Cookie", "session=1"}}), by),
      principal_of("acme", fields_of({{"X-Api-Key", "ann"}})),
      principal_of("acme", fields_of({{"Authorization", "\tX-User:ann"}})),
  };
  CHECK(all.size() == 12);
}

TEST_CASE("a request that says nothing of it goes by a verified tenant, else by its credentials") {
  const auto ann = fields_of({{"Authorization", "Bearer ann"}});
  const auto bob = fields_of({{"Authorization", "Bearer bob"}});
  const spillway::config::IdempotencyPrincipal nothing;
  const spillway::config::IdempotencyPrincipal user{.fields = {"X-User"}, .cookies = {}};
  CHECK(principal_of("acme", true, ann, nothing) == principal_of("acme", true, bob, nothing));
  CHECK(principal_of("acme", true, ann, user) != principal_of("acme", true, bob, user));
  CHECK(principal_of("127.0.0.1", true, ann, user) != principal_of("127.0.0.1", false, ann, user));
  const auto anonymous = fields_of(
      {{"Authorization", "Bearer ann"}, {"X-User", ""}, {"Cookie", "session=; visits=1"}});
  CHECK(principal_of("acme", false, anonymous, {.fields = {"X-User"}, .cookies = {"session"}}) ==
        principal_of("acme", anonymous));
  for (const auto& by : {nothing, user}) {
    CHECK(principal_of("127.0.0.1", true, fields_of({}), nothing) !=
          principal_of("127.0.0.1", fields_of({})));
    CHECK(principal_of("127.0.0.1", false, ann, by) == principal_of("127.0.0.1", ann));
    CHECK(principal_of("127.0.0.1", false, bob, by) == principal_of("127.0.0.1", bob));
  }
}

TEST_CASE("a scope belongs to a route, a principal and a key, wherever their borders are") {
  const Digest scope = scope_of("orders", "alice", "k1");
  CHECK(scope == scope_of("orders", "alice", "k1"));
  const std::set<Digest> others{
      scope,
      scope_of("order", "salice", "k1"),
      scope_of("orders", "alic", "ek1"),
      scope_of("orders", "alicek1", ""),
      scope_of("", "ordersalice", "k1"),
      scope_of("mails", "alice", "k1"),
      scope_of("orders", "bob", "k1"),
      scope_of("orders", "alice", "k2"),
  };
  CHECK(others.size() == 8);
}

TEST_CASE("a fingerprint belongs to method, target, type and body, wherever their borders are") {
  const Digest print = fingerprint_of("POST", "/a", "text/plain", "body");
  CHECK(print == fingerprint_of("POST", "/a", "text/plain", "body"));
  const std::set<Digest> others{
      print,
      fingerprint_of("PUT", "/a", "text/plain", "body"),
      fingerprint_of("POST", "/b", "text/plain", "body"),
      fingerprint_of("POST", "/a", "text/html", "body"),
      fingerprint_of("POST", "/a", "text/plain", "bodY"),
      fingerprint_of("POST/", "a", "text/plain", "body"),
      fingerprint_of("POST", "/atext/", "plain", "body"),
      fingerprint_of("POST", "/a", "text/plainb", "ody"),
      fingerprint_of("POST", "/a", "text/plain", std::string("body\0", 5)),
      fingerprint_of("POST", "/a", "", "text/plainbody"),
  };
  CHECK(others.size() == 10);
}
