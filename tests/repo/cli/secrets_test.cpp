// No command prints a secret of the configuration, whatever is wrong with the file.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "repo/cli/command.hpp"

using namespace cli;

namespace {

// All secrets of these files contain it, and nothing else does.
constexpr std::string_view kMark = "hush";

constexpr std::string_view kUpstreams = R"("upstreams":[{"name":"a","servers":["127.0.0.1:1"]}])";

std::string file_with(std::string_view members) {
  return std::string("{").append(kUpstreams).append(",\n").append(members).append("}\n");
}

std::string printed(const std::string& arguments, int exit_code) {
  const Result result = run(arguments);
  CAPTURE(result.out);
  CAPTURE(result.err);
  CHECK(result.code == exit_code);
  CHECK_FALSE((result.out + result.err).empty());
  return result.out + result.err;
}

}  // namespace

TEST_CASE("check and explain print a good configuration without its secrets") {
  const ScratchFile file("secrets.json", file_with(R"("admin":{"token":"hush-hush-1"},
                   "tenants":{"api_keys":[{"tenant":"acme","key":"hush-hush-2"}]})"));
  const std::string shown = printed("check --config " + file.path(), 0);
  CHECK_FALSE(contains(shown, kMark));
  CHECK(contains(shown, "<redacted>"));
  CHECK(contains(shown, "acme"));
  const std::string explained =
      printed("explain --config " + file.path() + " -H 'X-Api-Key: hush-hush-2' GET /", 0);
  CHECK_FALSE(contains(explained, kMark));
  CHECK(contains(explained, "acme"));
}

TEST_CASE("an error in a secret or beside it is told without showing it") {
  for (const std::string_view members : {
           R"("admin":{"token":"hush"})",                       // too short
           R"("admin":{"token":"hush hush hush"})",             // blanks
           R"("admin":{"token":["hush-hush"]})",                // not a text
           R"("admin":{"token":"hush-hush","token":"hush2"})",  // twice
           R"("admin":"hush-hush")",                            // in the wrong place
           R"("admin":{"token":"hush-hush" "port":1})",         // no comma behind it
           R"("admin":{"token" "hush-hush"})",                  // no colon before it
           R"("admin":{"token":hush-hush})",                    // no quotes
           R"("admin":{"token":"hush-hush)",                    // no end
           R"("tenants":{"api_keys":["hush-hush"]})",           // no object
           R"("tenants":{"api_keys":"hush-hush"})",             // no list
           R"("tenants":{"api_keys":[{"tenant":"a","key":"hush"}]})",
           R"("tenants":{"api_keys":[{"tenant":"a","key":"hush-hush"},
                                     {"tenant":"b","key":"hush-hush"}]})",
       }) {
    CAPTURE(members);
    const ScratchFile file("secrets.json", file_with(members));
    for (const std::string command : {"check", "run"}) {
      const std::string shown = printed(command + " --config " + file.path(), 2);
      CHECK_FALSE(contains(shown, kMark));
      CHECK(contains(shown, "error: "));
    }
  }
}

TEST_CASE("an admin listener for everybody is refused without a token and taken with one") {
  const ScratchFile open("open.json", file_with(R"("admin":{"address":"0.0.0.0"})"));
  for (const std::string command : {"check", "run"}) {
    CHECK(contains(printed(command + " --config " + open.path(), 2), "error: $.admin"));
  }
  const ScratchFile closed("closed.json",
                           file_with(R"("admin":{"address":"0.0.0.0","token":"hush-hush"})"));
  CHECK_FALSE(contains(printed("check --config " + closed.path(), 0), kMark));
}
