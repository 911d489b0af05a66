#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/base64.hpp"

using namespace spillway;

namespace {

std::string written(const std::vector<std::uint8_t>& bytes) {
  std::string text(base64url_size(bytes.size()), '?');
  write_base64url(bytes, text.data());
  return text;
}

}  // namespace

TEST_CASE("base64url writes RFC 4648's examples without padding") {
  CHECK(written({}).empty());
  CHECK(written({'f'}) == "Zg");
  CHECK(written({'f', 'o'}) == "Zm8");
  CHECK(written({'f', 'o', 'o'}) == "Zm9v");
  CHECK(written({'f', 'o', 'o', 'b', 'a', 'r'}) == "Zm9vYmFy");
  CHECK(written({0xfb, 0xff}) == "-_8");
}

TEST_CASE("base64url reads what it writes, and no other text for the same bytes") {
  for (std::size_t size = 0; size <= 8; ++size) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t n = 0; n < size; ++n) bytes.push_back(static_cast<std::uint8_t>(211 * n + 7));
    const std::string text = written(bytes);
    std::vector<std::uint8_t> read(size);
    REQUIRE(read_base64url(text, read));
    CHECK(read == bytes);
    CHECK_FALSE(read_base64url(text + "A", read));
    CHECK_FALSE(read_base64url(text + "=", read));
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string wrong = text;
      for (const char c : {'+', '/', '=', ' ', '\0', '\xc3'}) {
        wrong[at] = c;
        CHECK_FALSE(read_base64url(wrong, read));
      }
    }
  }
  std::vector<std::uint8_t> one(1);
  CHECK(read_base64url("Zg", one));
  CHECK_FALSE(read_base64url("Zh", one));  // a bit that belongs to no byte
  CHECK_FALSE(read_base64url("Zv", one));
}
