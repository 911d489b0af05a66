#include "jobs/job_id.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "jobs/job.hpp"

using namespace spillway::jobs;

TEST_CASE("an id is 32 lower-case hexadecimal digits, and is read back from them") {
  JobId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i)
    id.bytes[i] = static_cast<std::uint8_t>(i * 0x11);
  CHECK(to_text(id) == "00112233445566778899aabbccddeeff");
  CHECK(parse_job_id(to_text(id)) == id);
  CHECK(parse_job_id(std::string(32, '0')) == JobId{});
}

TEST_CASE("any other text is no id") {
  const std::string good = "00112233445566778899aabbccddeeff";
  REQUIRE(parse_job_id(good));
  CHECK_FALSE(parse_job_id(""));
  CHECK_FALSE(parse_job_id(good.substr(1)));
  CHECK_FALSE(parse_job_id(good + "0"));
  CHECK_FALSE(parse_job_id("00112233445566778899AABBCCDDEEFF"));
  for (const char wrong : {'g', ' ', '-', '/', '%', '\0', '\xff'}) {
    std::string text = good;
    text[17] = wrong;
    CAPTURE(text);
    CHECK_FALSE(parse_job_id(text));
  }
}

TEST_CASE("each state and each cause has a name of its own, and no cause has none") {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kJobStateCount; ++i) {
    names.insert(std::string(name(static_cast<JobState>(i))));
  }
  CHECK(names.size() == kJobStateCount);
  CHECK_FALSE(names.contains(""));
  names.clear();
  for (std::size_t i = 0; i < kCauseCount; ++i) {
    names.insert(std::string(name(static_cast<Cause>(i))));
  }
  CHECK(names.size() == kCauseCount);
  CHECK(name(Cause::none) == "");
  CHECK(name(Cause::never_sent) == "never_sent");
  CHECK(name(Cause::too_many_attempts) == "too_many_attempts");
  CHECK(name(Cause::out_of_time) == "out_of_time");
  CHECK(name(static_cast<Cause>(kCauseCount)) == "");  // of a store of a newer version
}
