#include "repo/house/comparisons.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "support/places.hpp"

namespace spillway::house {
namespace {

const std::set<std::string> kFolders = {"waiting", "proxy/waiting", "traffic"};

std::vector<std::string> found_in(const std::string& text) {
  return hasty_comparisons({{"waiting/token/token.cpp", text}}, kFolders);
}

}  // namespace

TEST_CASE("what visitors carry is compared in constant time") {
  const auto files = read_tree(support::in_source() + "/src");
  std::string listed;
  for (const std::string& each : hasty_comparisons(files, kFolders)) listed += each + '\n';
  CHECK(listed == "");
}

TEST_CASE("a made-up comparison of a secret is reported") {
  for (const std::string text :
       {"Sha256 sent{};\nif (sent == half(code)) return;\n",
        "const Sha256 code = signature(key, text);\nreturn other != code;\n",
        "return sent == signature(key, text[0], bytes);\n",
        "if (signature(key, text) != sent) return std::nullopt;\n",
        "return hmac_sha256(key, text) == sent;\n", "return change.secret == secrets_.newest;\n",
        "std::optional<HmacKey> former;\nreturn other.lasting == *secrets.former;\n",
        "const waiting::TokenText mine = sign(token);\nreturn text ==\n       mine;\n",
        "void f(const HmacKey& one) { return std::memcmp(one.data(), text, 32) == 0; }\n",
        "Sha256 sent{};\nreturn std::equal(sent.begin(), sent.end(), code.begin());\n",
        "Sha256 sent{};\nreturn std::ranges::equal(code, sent);\n"}) {
    CAPTURE(text);
    CHECK(found_in(text).size() >= 1);
  }
  // In the rooms of these folders, not in others, nor in pages.
  const std::string hasty = "return secret == sent;\n";
  CHECK(found_in(hasty).size() == 1);
  CHECK(hasty_comparisons({{"http/head.cpp", hasty}}, kFolders).empty());
  CHECK(hasty_comparisons({{"waiting/page/README.md", hasty}}, kFolders).empty());
}

TEST_CASE("what is no comparison of a secret is not reported") {
  for (const std::string text :
       {"if (!equal_in_constant_time(sent, half(code))) return std::nullopt;\n",
        "Sha256 sent{};  // sent == code would tell how much of it is right\n",
        "TokenText text;\nreturn text.size() == token_text(true, false);\n",
        "HmacKey key;\nif (::getrandom(key.data(), key.size(), 0) != size) return;\n",
        "bool operator==(const TokenSecrets&) const = default;\n",
        "if (read.secrets != written) return;\n", "return token.kind == TokenKind::pass;\n",
        "HmacKey key;\nreturn line[key.size()] == ':';\n"}) {
    CAPTURE(text);
    CHECK(found_in(text).empty());
  }
}

}  // namespace spillway::house
