// What the command line says of signed tokens and their keys.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <string>

#include "base/base64.hpp"
#include "base/hmac.hpp"
#include "repo/cli/command.hpp"

using namespace cli;

namespace {

const std::string kSecret(32, 's');

std::string base64url(std::string_view bytes) {
  std::string text(spillway::base64url_size(bytes.size()), '\0');
  spillway::write_base64url({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                            text.data());
  return text;
}

std::string jwt(const std::string& claims) {
  const std::string text = base64url(R"({"alg":"HS256"})") + "." + base64url(claims);
  const spillway::Sha256 code = spillway::hmac_sha256(
      {reinterpret_cast<const std::uint8_t*>(kSecret.data()), kSecret.size()}, text);
  return text + "." + base64url({reinterpret_cast<const char*>(code.data()), code.size()});
}

std::string settings(const std::string& key_file) {
  return R"({"upstreams":[{"name":"a","servers":["127.0.0.1:1"]}],
    "trusted_tokens":{"jwt":{"keys":[{"algorithm":"HS256","key_file":")" +
         key_file + R"("}]}},
    "routes":[{"name":"sale","match":{"path":"/sale/**"},"waiting_room":{}}]})";
}

}  // namespace

TEST_CASE("explain says who a visitor is, and why its token does not count") {
  const ScratchFile key("token.key", kSecret);
  REQUIRE(::chmod(key.path().c_str(), 0600) == 0);
  const ScratchFile file("tokens.json", settings(key.path()));
  const auto told = [&](const std::string& path, const std::string& token) {
    return run("explain --config " + file.path() + " GET " + path +
               (token.empty() ? "" : " -H 'Authorization: Bearer " + token + "'"))
        .out;
  };
  const std::string good = jwt(R"({"sub":"ann\u001b[1m","tier":"premium","exp":4000000000})");
  CHECK(contains(told("/sale/x", good), "visitor   tier premium, user ann?[1m, by its jwt\n"));
  CHECK(contains(told("/sale/x", ""), "visitor   tier standard, no verified user\n"));
  CHECK(contains(told("/sale/x", jwt(R"({"tier":"premium","exp":1})")),
                 "visitor   tier standard, no verified user; its jwt does not count: expired\n"));
  CHECK(contains(told("/sale/x", good + "="), "its jwt does not count: malformed\n"));
  CHECK_FALSE(contains(told("/other", good), "visitor"));
}

TEST_CASE("check and explain refuse keys that the start would refuse") {
  const ScratchFile key("token.key", kSecret);
  const ScratchFile file("tokens.json", settings(key.path()));
  const auto refused = [&](const std::string& command, const std::string& why) {
    const Result result =
        run(command + " --config " + file.path() + (command == "explain" ? " GET /sale/x" : ""));
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK_MESSAGE(
        contains(result.err, "error: $.trusted_tokens.jwt.keys[0].key_file: " + key.path() + why),
        result.err);
  };
  for (const std::string command : {"check", "explain"}) {
    REQUIRE(::chmod(key.path().c_str(), 0640) == 0);
    refused(command, " is open to its group");
    REQUIRE(::chmod(key.path().c_str(), 0600) == 0);
    CHECK(run("check --config " + file.path()).code == 0);
  }
}
