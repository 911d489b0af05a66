#include "store/seal.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>

#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {

namespace {

const Key kKey{{1, 2, 3, 4}};

KeyFile key_of(const std::string& content, mode_t mode = 0600) {
  const support::TemporaryDirectory directory;
  const auto file = directory.write("key", content);
  ::chmod(file.c_str(), mode);
  return read_key_file(file);
}

}  // namespace

TEST_CASE("what was sealed is opened with the same key, job and kind, and with no other") {
  const auto sealed = seal("attack at dawn", kKey, job_id(1), Sealed::body);
  REQUIRE(sealed);
  CHECK(sealed->size() == 14 + kSealBytes);
  CHECK(sealed->find("dawn") == std::string::npos);
  CHECK(unseal(*sealed, kKey, job_id(1), Sealed::body) == "attack at dawn");
  CHECK_FALSE(unseal(*sealed, Key{{9}}, job_id(1), Sealed::body));
  CHECK_FALSE(unseal(*sealed, kKey, job_id(2), Sealed::body));
  CHECK_FALSE(unseal(*sealed, kKey, job_id(1), Sealed::head));
  CHECK_FALSE(unseal("", kKey, job_id(1), Sealed::body));
  CHECK(seal("attack at dawn", kKey, job_id(1), Sealed::body) != sealed);
  CHECK(unseal(*seal("", kKey, job_id(1), Sealed::body), kKey, job_id(1), Sealed::body) == "");
}

TEST_CASE("a bit that is changed anywhere in a sealed value is noticed") {
  const std::string sealed = seal("x", kKey, job_id(1), Sealed::body).value_or("");
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string altered = sealed;
    altered[at] = static_cast<char>(altered[at] ^ 1);
    CHECK_FALSE(unseal(altered, kKey, job_id(1), Sealed::body));
  }
}

TEST_CASE(
    "with a key, neither head, body nor answer can be read in the file; without one they can") {
  for (const bool is_sealed : {true, false}) {
    const support::TemporaryDirectory directory;
    const auto key = is_sealed ? std::optional<Key>(kKey) : std::nullopt;
    {
      const Opened opened = open_store("sqlite:jobs.db", directory.path(), key);
      REQUIRE(opened.store);
      Enqueue enqueue;
      enqueue.job.id = job_id(1);
      enqueue.job.head = "secret-head";
      enqueue.job.body = "secret-body";
      enqueue.job.is_leased = true;
      enqueue.epoch = 1;
      enqueue.max_pending = 1;
      Settle settle{1, job_id(1), {jobs::JobState::succeeded}};
      settle.answer = jobs::StoredAnswer{200, "secret-field", "secret-answer"};
      Command first = enqueue, second = settle;
      Command* const batch[] = {&first, &second};
      REQUIRE_FALSE(opened.store->execute(batch, jobs::WallTime{}));
      CHECK(std::get<Enqueue>(first).job.body == "secret-body");  // the caller's stays as it was
      CHECK(std::get<Settle>(second).answer == settle.answer);
    }
    std::ifstream in(directory.path() / "jobs.db", std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    for (const char* secret : {"secret-head", "secret-body", "secret-field", "secret-answer"}) {
      CHECK((file.find(secret) == std::string::npos) == is_sealed);
    }
  }
}

TEST_CASE("a key file holds 32 bytes or 64 digits and is open to its owner only") {
  const std::string digits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1E1F";
  REQUIRE(key_of(digits).key);
  CHECK(key_of(digits).key->bytes[31] == 31);
  CHECK(key_of(digits + "\n").key == key_of(digits).key);
  CHECK(key_of(std::string(32, 'k')).key->bytes[0] == 'k');
  CHECK(key_of(digits, 0400).key);
  for (const mode_t mode : {0640, 0604, 0620}) {
    CHECK(key_of(digits, mode).problem.find("0600") != std::string::npos);
  }
  for (const std::string& wrong : {std::string(), digits + "0", digits.substr(1), digits + "\n\n",
                                   "g" + digits.substr(1), std::string(33, 'k')}) {
    CHECK_FALSE(key_of(wrong).key);
    CHECK_FALSE(key_of(wrong).problem.empty());
  }
  CHECK_FALSE(read_key_file("/nowhere/key").key);
}

}  // namespace spillway::store
