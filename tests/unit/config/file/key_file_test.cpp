#include "config/file/key_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "config/file/key_files.hpp"
#include "support/signing_keys.hpp"
#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

using namespace support;

// A directory of this test's own, gone with it.
class Keys {
 public:
  Keys()
      : path_(std::filesystem::temp_directory_path() /
              ("spillway-keys-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Keys() { std::filesystem::remove_all(path_); }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  std::filesystem::path write(const std::string& text, mode_t mode = 0600,
                              const std::string& name = "key") const {
    std::filesystem::remove(path_ / name);
    std::ofstream(path_ / name, std::ios::binary) << text;
    REQUIRE(::chmod((path_ / name).c_str(), mode) == 0);
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

const std::string kDigits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1E1F";

template <class Key>
void check_refused(const KeyFile<Key>& file, const char* why) {
  CHECK_FALSE(file.key);
  CHECK_MESSAGE(file.problem.find(why) != std::string::npos, file.problem);
}

}  // namespace

TEST_CASE("a key file holds 32 bytes or 64 digits and is open to its owner only") {
  const Keys keys;
  const auto key_of = [&](const std::string& text, mode_t mode = 0600) {
    return read_key_file(keys.write(text, mode));
  };
  REQUIRE(key_of(kDigits).key);
  CHECK(key_of(kDigits).key->back() == 31);
  CHECK(key_of(kDigits + "\n").key == key_of(kDigits).key);
  CHECK(key_of(kDigits + "\r\n").key == key_of(kDigits).key);
  CHECK(key_of(std::string(32, 'k')).key->front() == 'k');
  CHECK(key_of(kDigits, 0400).key);
  for (const mode_t mode : {0640, 0604, 0620}) check_refused(key_of(kDigits, mode), "0600");
  for (const std::string& wrong : {std::string(), kDigits + "0", kDigits.substr(1),
                                   kDigits + "\n\n", "g" + kDigits.substr(1), std::string(33, 'k')})
    check_refused(key_of(wrong), "neither 32 bytes nor 64 hexadecimal digits");
  check_refused(read_key_file("/nowhere/key"), "No such file");
  check_refused(read_key_file("/dev/null"), "not a regular file");
  std::filesystem::create_directory(keys.path() / "folder");
  check_refused(read_key_file(keys.path() / "folder"), "not a regular file");
}

TEST_CASE("a secret is the bytes of its file, 32 to 4096, without one line end behind them") {
  const Keys keys;
  const auto secret_of = [&](const std::string& text, mode_t mode = 0600) {
    return read_secret_file(keys.write(text, mode));
  };
  CHECK(secret_of(kDigits).key == kDigits);  // as the issuer has it: no number
  CHECK(secret_of(kDigits + "\n").key == kDigits);
  CHECK(secret_of(kDigits + "\n\n").key == kDigits + "\n");
  CHECK(secret_of(std::string(32, '\0')).key == std::string(32, '\0'));
  CHECK(secret_of(std::string(4096, 's') + "\n").key == std::string(4096, 's'));
  check_refused(secret_of(std::string(4097, 's')), "allowed: 32 to 4096");
  check_refused(secret_of(std::string(31, 's') + "\n"), "a secret of 31 bytes");
  check_refused(secret_of(""), "a secret of 0 bytes");
  check_refused(secret_of(kDigits, 0644), "0600");
  check_refused(secret_of(kRsaPublic), "in PEM");
}

TEST_CASE("a public key may be read by everybody and written by its owner alone") {
  const Keys keys;
  for (const mode_t mode : {0600, 0644, 0444})
    CHECK(read_public_key_file(keys.write(kP256Public, mode)).key);
  for (const mode_t mode : {0664, 0646, 0666})
    check_refused(read_public_key_file(keys.write(kP256Public, mode)), "can be written");
  check_refused(read_public_key_file(keys.write(kRsa1024Public)), "RSA of 2048");
  check_refused(read_public_key_file(keys.write(std::string(40, 's'))), "no public key");
  check_refused(read_public_key_file(keys.path() / "none"), "No such file");
}

TEST_CASE(
    "every key that a configuration names is read, and every one that cannot be is a problem") {
  const Keys keys;
  keys.write(kDigits);
  keys.write(std::string(32, 's'), 0600, "secret");
  keys.write(kP256Public, 0644, "ec.pem");
  const auto result = load_text(with(R"("trusted_tokens":{
      "jwt":{"keys":[{"kid":"h","algorithm":"HS256","key_file":"secret"},
                     {"kid":"e","algorithm":"ES256","key_file":"ec.pem"}]},
      "cookie":{"keys":[{"kid":"c","key_file":"key"}]}},
      "routes":[{"name":"sale","match":{"path":"/sale/**"},"waiting_room":{"proof_key_file":"key",
        "webhook":{"route":"hooks","key_file":"key"}}},
      {"name":"hooks","match":{},"internal":true,"defer":{}}])"),
                                "test.json", keys.path());
  REQUIRE_MESSAGE(result.config, listing(result.problems));
  Config config = *result.config;
  Problems problems;
  read_key_files(config, problems);
  CHECK(listing(problems) == "");
  CHECK(config.trusted_tokens.jwt->keys[0].secret == std::string(32, 's'));
  CHECK_FALSE(config.trusted_tokens.jwt->keys[0].public_key);
  CHECK(config.trusted_tokens.jwt->keys[1].public_key->kind == KeyKind::p256);
  CHECK(config.trusted_tokens.cookie->keys[0].key->back() == 31);
  CHECK(config.routes[0].waiting_room->proof.key);
  CHECK(config.routes[0].waiting_room->webhook->key);

  keys.write(kDigits, 0644);
  keys.write("short", 0600, "secret");
  keys.write(kRsaPublic, 0644, "ec.pem");
  Config broken = *result.config;
  read_key_files(broken, problems);
  REQUIRE(problems.size() == 5);
  const char* const paths[] = {
      "$.routes[0].waiting_room.proof_key_file", "$.routes[0].waiting_room.webhook.key_file",
      "$.trusted_tokens.jwt.keys[0].key_file", "$.trusted_tokens.jwt.keys[1].key_file",
      "$.trusted_tokens.cookie.keys[0].key_file"};
  for (std::size_t n = 0; n < problems.size(); ++n) CHECK(problems[n].path == paths[n]);
  CHECK(problems[3].message == "ec.pem holds a key of another algorithm");
}

}  // namespace spillway::config
