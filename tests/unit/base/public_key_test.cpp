#include "base/public_key.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/signing_keys.hpp"

namespace spillway {
namespace {

using namespace support;

std::vector<std::uint8_t> from_hex(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t n = 0; n < text.size(); n += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(n, 2), nullptr, 16)));
  return bytes;
}

struct Signed {
  std::string pem;
  KeyKind kind;
  std::string text;
  std::vector<std::uint8_t> signature;
};

// By `openssl dgst -sha256 -sign`; the last one is test 3 of RFC 8032 section 7.1.
const std::vector<Signed> kSigned{
    {kRsaPublic, KeyKind::rsa, "attack at dawn",
     from_hex("4b11cc4002d9f80d85c352eecfe0ce5b04cb21e37b7831b680dac1bdaa1aaf63"
              "0654ba9a640886dc240400e36a0495d532b1d18062da9c60284de8febf51069a"
              "0fc8cda8d115a3ffe61da60a919e692a9f3c84072819247d632a919ed0d4f32b"
              "b6cd9c3bf5da4a43d547176c27bd0d2c96ae81519ade827ecd59b4662cffefd6"
              "90d9a10a5be6f7ec00726e471932b02968a9a08f42ce267799aa48363a349aaf"
              "c7492245c0a6db7e554102a2587c42a9d2dc11c7e742251283e1756d0a05ccf3"
              "d98fdefdee54a9e24ab75223278eabeade8877181b490bfa351ff7b00f5a5154"
              "9d8185068139302265017fef40cd71396c14ddc974999ab15d84962e4eeae434")},
    {kP256Public, KeyKind::p256, "attack at dawn",
     from_hex("38643ecb1c9d24c0b91dfae8d027166303c8c50b1d6f712ee42d75803c9c5b85"
              "2225b40a08c4494bdb59f306aa090514206afd3ba98b7e558a47bcc9377576d9")},
    {kEd25519Public, KeyKind::ed25519, "\xaf\x82",
     from_hex("6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
              "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a")}};

PublicKey key_of(const std::string& pem) {
  const ReadPublicKey read = read_public_key(pem);
  REQUIRE_MESSAGE(read.key.has_value(), read.problem);
  return *read.key;
}

}  // namespace

TEST_CASE("a signature by a key's owner is known, and with any bit changed it is not") {
  for (const Signed& one : kSigned) {
    const PublicKey key = key_of(one.pem);
    CHECK(key.kind == one.kind);
    CHECK(key.has_signed(one.text, one.signature));
    CHECK_FALSE(key.has_signed(one.text + " ", one.signature));
    for (std::size_t at = 0; at < one.signature.size(); at += 7) {
      auto changed = one.signature;
      changed[at] ^= 1;
      CHECK_FALSE(key.has_signed(one.text, changed));
    }
  }
}

TEST_CASE("a signature of another length, or of zeros, is none") {
  for (const Signed& one : kSigned) {
    const PublicKey key = key_of(one.pem);
    CHECK_FALSE(key.has_signed(one.text, {}));
    CHECK_FALSE(key.has_signed(one.text, std::vector<std::uint8_t>(one.signature.size())));
    CHECK_FALSE(key.has_signed(one.text, std::vector<std::uint8_t>(one.signature.size(), 255)));
    auto longer = one.signature;
    longer.insert(longer.begin(), 0);
    CHECK_FALSE(key.has_signed(one.text, longer));
    longer.erase(longer.begin(), longer.begin() + 2);
    CHECK_FALSE(key.has_signed(one.text, longer));
  }
}

TEST_CASE("a key of one kind does not know the signature of another") {
  for (const Signed& one : kSigned) {
    for (const Signed& other : kSigned) {
      if (one.kind != other.kind)
        CHECK_FALSE(key_of(one.pem).has_signed(other.text, other.signature));
    }
  }
}

TEST_CASE("a key that is weak, private, no key or not alone is refused with a reason") {
  const auto refused = [](const std::string& pem, const char* why) {
    const ReadPublicKey read = read_public_key(pem);
    CHECK_FALSE(read.key);
    CHECK_MESSAGE(read.problem.find(why) != std::string::npos, read.problem);
  };
  refused(kRsa1024Public, "RSA of 2048");
  refused(kP384Public, "P-256");
  refused(kRsaPrivate, "no public key");
  refused(kP256Private, "no public key");
  refused("", "no public key");
  refused(kRsaPublic + kRsaPublic, "more than one");
  refused(kRsaPublic + kRsaPrivate, "more than one");
  refused(kRsaPublic.substr(0, 200), "no public key");
  std::string changed = kP256Public;  // a point that is not on the curve
  changed[100] = changed[100] == 'A' ? 'B' : 'A';
  refused(changed, "P-256");
  changed = kRsaPublic;
  changed.erase(100, 4);
  refused(changed, "RSA");
  changed = kRsaPublic;
  changed[100] = '!';
  refused(changed, "RSA");
  CHECK(read_public_key("a comment\n" + kRsaPublic + "\n").key);
}

}  // namespace spillway
