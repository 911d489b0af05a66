#include "base/sha256.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace spillway;

TEST_CASE("the digests of FIPS 180-4's examples") {
  const auto is = [](std::string_view text, std::string_view hex) {
    const auto expected = parse_sha256(hex);
    REQUIRE(expected);
    return equal_in_constant_time(sha256(text), *expected);
  };
  CHECK(is("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
  CHECK(is("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  CHECK(is("abc", "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"));
  CHECK(is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
  CHECK(is(std::string(1'000'000, 'a'),
           "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

TEST_CASE("a digest is 64 hexadecimal digits and nothing else") {
  CHECK(parse_sha256(std::string(64, '0')));
  CHECK_FALSE(parse_sha256(""));
  CHECK_FALSE(parse_sha256(std::string(63, '0')));
  CHECK_FALSE(parse_sha256(std::string(65, '0')));
  CHECK_FALSE(parse_sha256(std::string(63, '0') + 'g'));
  CHECK_FALSE(parse_sha256(std::string(62, '0') + "-1"));
}

TEST_CASE("digests are equal only if all bytes are") {
  const Sha256 one = sha256("one");
  for (std::size_t i = 0; i < one.size(); ++i) {
    Sha256 other = one;
    CHECK(equal_in_constant_time(one, other));
    other[i] ^= 1;
    CHECK_FALSE(equal_in_constant_time(one, other));
  }
}
