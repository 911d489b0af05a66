#include "store/seal.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/base64.hpp"
#include "store/sqlite/sqlite.hpp"
#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {

namespace {

const Key kKey{{1, 2, 3, 4}};

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 2)
    bytes += static_cast<char>(std::stoi(text.substr(at, 2), nullptr, 16));
  return bytes;
}

}  // namespace

// Test cases 13 to 16 of "The Galois/Counter Mode of Operation" (McGrew and Viega), which NIST took
// SP 800-38D from.
TEST_CASE("the cipher gives what NIST's test vectors say") {
  struct Vector {
    std::string key, nonce, plain, about, sealed, tag;
  };
  const std::string zeros(64, '0'), key = "feffe9928665731c6d6a8f9467308308";
  const std::string plain =
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
      "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
  const std::string sealed =
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
      "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad";
  const std::string nonce = "cafebabefacedbaddecaf888";
  for (const Vector& vector : std::vector<Vector>{
           {zeros, zeros.substr(0, 24), "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
           {zeros, zeros.substr(0, 24), zeros.substr(0, 32), "", "cea7403d4d606b6e074ec5d3baf39d18",
            "d0d1c8a799996bf0265b98b5d48ab919"},
           {key + key, nonce, plain, "", sealed, "b094dac5d93471bdec1a502270e3cc6c"},
           {key + key, nonce, plain.substr(0, 120), "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            sealed.substr(0, 120), "76fc6ece0f4e1768cddf8853bb2d551b"}}) {
    CAPTURE(vector.tag);
    Key its;
    Nonce once{};
    std::ranges::copy(from_hex(vector.key), its.bytes.begin());
    std::ranges::copy(from_hex(vector.nonce), once.begin());
    const std::string about = from_hex(vector.about);
    const std::string whole = from_hex(vector.nonce + vector.sealed + vector.tag);
    CHECK(aes_256_gcm(from_hex(vector.plain), its, once, about) == whole);
    CHECK(open_aes_256_gcm(whole, its, about) == from_hex(vector.plain));
    CHECK_FALSE_MESSAGE(open_aes_256_gcm(whole, its, about + 'x'), "the control");
    its.bytes[31] ^= 1;
    CHECK(aes_256_gcm(from_hex(vector.plain), its, once, about) != whole);
  }
}

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

// As version 1 sealed it, with the store's key.
std::string formerly_sealed(const std::string& plain, std::uint64_t job, Sealed kind) {
  const jobs::JobId id = job_id(job);
  const std::string about(id.bytes.begin(), id.bytes.end());
  return aes_256_gcm(plain, kKey, Nonce{7}, about + static_cast<char>(kind));
}

TEST_CASE("each job has a key of its own, and that opens no other job's values") {
  const Key first = key_of_job(kKey, job_id(1));
  CHECK_FALSE(first == kKey);
  CHECK_FALSE(first == key_of_job(kKey, job_id(2)));
  CHECK_FALSE(first == key_of_job(Key{{9}}, job_id(1)));
  CHECK(first == key_of_job(kKey, job_id(1)));
  const std::string sealed = seal("a body", kKey, job_id(1), Sealed::body).value_or("");
  const jobs::JobId id = job_id(1);
  const std::string about = std::string(id.bytes.begin(), id.bytes.end()) + '\2';
  CHECK(open_aes_256_gcm(sealed, first, about) == "a body");
  CHECK_FALSE_MESSAGE(open_aes_256_gcm(sealed, kKey, about), "the store's key seals nothing");
}

TEST_CASE("what an earlier version sealed with the store's key is opened") {
  const std::string sealed = formerly_sealed("a body", 1, Sealed::body);
  CHECK(unseal(sealed, kKey, job_id(1), Sealed::body) == "a body");
  CHECK_FALSE(unseal(sealed, kKey, job_id(2), Sealed::body));
  CHECK_FALSE(unseal(sealed, kKey, job_id(1), Sealed::head));
  CHECK_FALSE(unseal(sealed, Key{{9}}, job_id(1), Sealed::body));
  // "/a" of job 1, as that version wrote it
  const std::string text = "sealed1:" + base64(formerly_sealed("/a", 1, Sealed::target));
  CHECK(unseal_text(text, kKey, job_id(1), Sealed::target) == "/a");
  CHECK_FALSE(unseal_text(text, kKey, job_id(2), Sealed::target));
}

TEST_CASE("a bit that is changed anywhere in a sealed value is noticed") {
  const std::string sealed = seal("x", kKey, job_id(1), Sealed::body).value_or("");
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string altered = sealed;
    altered[at] = static_cast<char>(altered[at] ^ 1);
    CHECK_FALSE(unseal(altered, kKey, job_id(1), Sealed::body));
  }
}

TEST_CASE("a sealed text is printable, opens as it was, and one that was never sealed as it is") {
  const std::string target = "/people/7?name=J\xc3\xbcrgen&x=\"'";
  for (const std::string& plain :
       {target, std::string("/"), std::string(), std::string(3000, 'x')}) {
    const std::string text = seal_text(plain, kKey, job_id(1), Sealed::target).value_or("none");
    CHECK(text.starts_with("sealed2:"));
    CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; }));
    CHECK(unseal_text(text, kKey, job_id(1), Sealed::target) == plain);
    CHECK_FALSE(unseal_text(text, Key{{9}}, job_id(1), Sealed::target));
    CHECK_FALSE(unseal_text(text, kKey, job_id(2), Sealed::target));
    CHECK_FALSE(unseal_text(text, kKey, job_id(1), Sealed::method));
    CHECK_FALSE(unseal_text(text.substr(0, text.size() - 4), kKey, job_id(1), Sealed::target));
    CHECK_FALSE(unseal_text(text + "!", kKey, job_id(1), Sealed::target));
  }
  CHECK(unseal_text(target, kKey, job_id(1), Sealed::target) == target);
  CHECK(unseal_text("", kKey, job_id(1), Sealed::target) == "");
}

namespace {

// Whatever lies in the directory, the log of the file included.
std::string everything_in(const std::filesystem::path& directory) {
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream in(entry.path(), std::ios::binary);
    all.append(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return all;
}

jobs::NewJob secret_job(std::uint64_t n) {
  jobs::NewJob job;
  job.id = job_id(n);
  job.lane.route = "plain-route";
  job.tenant_name = "secret-tenant";
  job.head = "secret-head";
  job.body = "secret-body";
  job.method = "SECRETMETHOD";
  job.target = "/secret-target?name=person";
  job.expires = jobs::WallTime{std::chrono::hours(1)};
  return job;
}

}  // namespace

TEST_CASE(
    "with a key nothing of a request or an answer can be read in the file; without one all of it") {
  for (const bool is_sealed : {true, false}) {
    const support::TemporaryDirectory directory;
    const auto key = is_sealed ? std::optional<Key>(kKey) : std::nullopt;
    const Opened opened = open_store("sqlite:jobs.db", directory.path(), key);
    REQUIRE(opened.store);
    Enqueue enqueue;
    enqueue.job = secret_job(1);
    enqueue.max_pending = 1;
    Settle settle{1, job_id(1), {jobs::JobState::succeeded}};
    settle.answer = jobs::StoredAnswer{200, "secret-field", "secret-answer"};
    Command join = Join{.lease = std::chrono::seconds(1)};
    Command claim = Claim{.epoch = 1, .lane = enqueue.job.lane, .limit = 1};
    Command first = enqueue, second = settle, third = Bury{secret_job(2), jobs::Cause::none};
    Command* const batch[] = {&join, &first, &claim, &second, &third};
    REQUIRE_FALSE(opened.store->execute(batch, jobs::WallTime{}));
    // The caller's stay as they were.
    CHECK(std::get<Enqueue>(first).job.body == "secret-body");
    CHECK(std::get<Enqueue>(first).job.target == "/secret-target?name=person");
    CHECK(std::get<Settle>(second).answer == settle.answer);
    CHECK(std::get<Bury>(third).job.method == "SECRETMETHOD");

    const std::string file = everything_in(directory.path());
    for (const char* secret : {"secret-head", "secret-body", "secret-field", "secret-answer",
                               "SECRETMETHOD", "secret-target", "name=person", "secret-tenant"}) {
      CAPTURE(secret);
      CHECK((file.find(secret) == std::string::npos) == is_sealed);
    }
    // What jobs are found by is not sealed.
    CHECK(file.find("plain-route") != std::string::npos);

    Command look = List{.filter = {.route = "plain-route"}, .limit = 9};
    Command* const one[] = {&look};
    REQUIRE_FALSE(opened.store->execute(one, jobs::WallTime{}));
    REQUIRE(std::get<List>(look).jobs.size() == 2);
    for (const jobs::JobView& job : std::get<List>(look).jobs) {
      CHECK(job.method == "SECRETMETHOD");
      CHECK(job.target == "/secret-target?name=person");
      CHECK(job.tenant_name == "secret-tenant");
      CHECK(job.body_bytes == 11);
    }
  }
}

TEST_CASE("jobs that were written before methods and targets were sealed are read as they are") {
  const support::TemporaryDirectory directory;
  {
    const Opened old = open_sqlite(directory.path() / "jobs.db", mark_of(kKey));
    REQUIRE(old.store);
    Enqueue enqueue;
    enqueue.job = secret_job(1);
    enqueue.job.head = seal("a head", kKey, job_id(1), Sealed::head).value_or("");
    enqueue.job.body = seal("a body", kKey, job_id(1), Sealed::body).value_or("");
    enqueue.max_pending = 1;
    Command join = Join{"old", std::chrono::hours(1)}, written = enqueue;
    Command* const batch[] = {&join, &written};
    REQUIRE_FALSE(old.store->execute(batch, jobs::WallTime{}));
  }
  const Opened opened = open_store("sqlite:jobs.db", directory.path(), kKey);
  REQUIRE(opened.store);
  Command join = Join{"new", std::chrono::hours(1)}, find = Find{job_id(1), {}};
  Command claim = Claim{.epoch = 2, .lane = secret_job(1).lane, .limit = 1};
  Command* const batch[] = {&join, &find, &claim};
  REQUIRE_FALSE(opened.store->execute(batch, jobs::WallTime{}));
  REQUIRE(std::get<Find>(find).job);
  CHECK(std::get<Find>(find).job->target == "/secret-target?name=person");
  REQUIRE(std::get<Claim>(claim).jobs.size() == 1);
  CHECK(std::get<Claim>(claim).jobs[0].head == "a head");
  CHECK(std::get<Claim>(claim).jobs[0].method == "SECRETMETHOD");
  CHECK(std::get<Claim>(claim).jobs[0].tenant_name == "secret-tenant");
}

}  // namespace spillway::store
