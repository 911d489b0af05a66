// The keys of trusted_tokens, and what must hold between them.
#include "config/describe/effective.hpp"
#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

const std::string kPath = "$.trusted_tokens";
const std::string kKey = R"({"kid":"a","algorithm":"RS256","key_file":"a.pem"})";

std::string jwt(const std::string& members) {
  return with(R"("trusted_tokens":{"jwt":{)" + members + "}}");
}
std::string keys(const std::string& list, const std::string& more = {}) {
  return jwt("\"keys\":[" + list + "]" + more);
}
std::string cookie(const std::string& members) {
  return with(R"("trusted_tokens":{"cookie":{)" + members + "}}");
}

}  // namespace

TEST_CASE("no token is believed unless it is configured, and then by the usual claims") {
  CHECK_FALSE(load_good(with("")).trusted_tokens.jwt);
  CHECK_FALSE(load_good(with("")).trusted_tokens.cookie);
  const VisitorJwt of_login = *load_good(keys(kKey)).trusted_tokens.jwt;
  CHECK(of_login.header == "Authorization");
  CHECK(of_login.cookie.empty());
  CHECK(of_login.tier_claim == "tier");
  CHECK(of_login.user_claim == "sub");
  CHECK(of_login.keys[0].algorithm == JwtAlgorithm::rs256);
  const TierCookie of_backend =
      *load_good(cookie(R"("keys":[{"kid":"a","key_file":"k"}])")).trusted_tokens.cookie;
  CHECK(of_backend.name == "tier");
}

TEST_CASE("a key has an algorithm and a file, and there is none without a signature") {
  const std::string path = kPath + ".jwt.keys[0]";
  check_problem(keys(R"({"key_file":"a.pem"})"), path + ".algorithm", "missing");
  check_problem(keys(R"({"algorithm":"RS256"})"), path + ".key_file", "missing");
  for (const char* const algorithm : {"none", "HS384", "rs256", "PS256", ""})
    check_problem(keys(R"({"key_file":"a","algorithm":")" + std::string(algorithm) + "\"}"),
                  path + ".algorithm", "HS256");
  check_problem(keys(""), kPath + ".jwt.keys", "1 to 16");
  check_problem(jwt(""), kPath + ".jwt.keys", "missing");
  check_problem(cookie(""), kPath + ".cookie.keys", "missing");
  check_problem(cookie(R"("keys":[{"key_file":"k"}])"), kPath + ".cookie.keys[0].kid", "missing");
}

TEST_CASE("several keys have ids that differ, a single one needs none") {
  load_good(keys(R"({"algorithm":"HS256","key_file":"a"})"));
  const std::string other = R"({"kid":"b","algorithm":"HS256","key_file":"b"})";
  load_good(keys(kKey + "," + other));
  check_problem(keys(kKey + R"(,{"algorithm":"HS256","key_file":"b"})"), kPath + ".jwt.keys[1].kid",
                "need ids");
  check_problem(keys(other + "," + kKey + "," + other), kPath + ".jwt.keys[2].kid",
                "the same as of $.trusted_tokens.jwt.keys[0]");
  check_problem(cookie(R"("keys":[{"kid":"a","key_file":"k"},{"kid":"a","key_file":"l"}])"),
                kPath + ".cookie.keys[1].kid", "the same as of");
}

TEST_CASE("a token is in one place, and in none that is Spillway's own") {
  load_good(keys(kKey, R"(,"header":"X-Login")"));
  load_good(keys(kKey, R"(,"cookie":"session")"));
  check_problem(keys(kKey, R"(,"header":"X-Login","cookie":"session")"), kPath + ".jwt.cookie",
                "give one of them");
  check_problem(keys(kKey, R"(,"header":"")"), kPath + ".jwt.header", "name of an HTTP field");
  check_problem(keys(kKey, R"(,"cookie":"a b")"), kPath + ".jwt.cookie", "name of a cookie");
  for (const char* const own : {"spillway-sale", "__Host-spillway-sale"}) {
    check_problem(keys(kKey, R"(,"cookie":")" + std::string(own) + "\""), kPath + ".jwt.cookie",
                  "other than Spillway's own");
    check_problem(
        cookie(R"("name":")" + std::string(own) + R"(","keys":[{"kid":"a","key_file":"k"}])"),
        kPath + ".cookie.name", "other than Spillway's own");
  }
  check_problem(with(R"("trusted_tokens":{"jwt":{"keys":[)" + kKey +
                     R"(],"cookie":"tier"},"cookie":{"keys":[{"kid":"a","key_file":"k"}]}})"),
                kPath + ".jwt.cookie", "the same as $.trusted_tokens.cookie.name");
}

TEST_CASE("the effective configuration loads again and shows no key") {
  Config config = load_good(with(R"("trusted_tokens":{"jwt":{"keys":[)" + kKey +
                                 R"(],"issuer":"i","audience":"a","tier_claim":"t"},"cookie":{
      "name":"rank","keys":[{"kid":"a","key_file":"k"}]}})"));
  config.trusted_tokens.jwt->keys[0].secret = "hush-hush-hush-hush";
  const std::string shown = effective(config).dump();
  CHECK(shown.find("hush") == std::string::npos);
  CHECK(effective(load_good(shown)).dump() == shown);
}

}  // namespace spillway::config
