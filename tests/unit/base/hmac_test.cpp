#include "base/hmac.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace spillway;

TEST_CASE("the codes of RFC 4231's examples with a key of up to 32 bytes") {
  const auto is = [](std::string_view key, std::string_view text, std::string_view hex) {
    HmacKey padded{};  // with zeros, as HMAC itself does
    std::copy(key.begin(), key.end(), padded.begin());
    const auto expected = parse_sha256(hex);
    REQUIRE(expected);
    return equal_in_constant_time(hmac_sha256(padded, text), *expected);
  };
  CHECK(is(std::string(20, '\x0b'), "Hi There",
           "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"));
  CHECK(is("Jefe", "what do ya want for nothing?",
           "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
  CHECK(is(std::string(20, '\xaa'), std::string(50, '\xdd'),
           "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"));
  CHECK_FALSE(is("jefe", "what do ya want for nothing?",
                 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
}
