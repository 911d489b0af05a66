#include "proxy/admin/job_query.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "jobs/job_id.hpp"

namespace spillway::proxy {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kId = "00112233445566778899aabbccddeeff";

template <class Value>
Value good(std::variant<Value, std::string> read) {
  if (const auto* wrong = std::get_if<std::string>(&read)) FAIL(*wrong);
  return std::get<Value>(std::move(read));
}
template <class Value>
std::string wrong(const std::variant<Value, std::string>& read) {
  const auto* text = std::get_if<std::string>(&read);
  return text == nullptr ? "" : *text;
}

JobsListing listing(std::string_view query) { return good(read_jobs_query(query)); }
std::string wrong_query(std::string_view query) { return wrong(read_jobs_query(query)); }
JobsChange replay(std::string_view body) { return good(read_replay(body)); }
std::string wrong_replay(std::string_view body) { return wrong(read_replay(body)); }
std::string wrong_purge(std::string_view body) { return wrong(read_jobs_purge(body)); }

}  // namespace

TEST_CASE("the pages of deferred requests are told by their paths") {
  using Kind = JobsPath::Kind;
  const std::string one = "/jobs/" + std::string(kId);
  REQUIRE(read_jobs_path("/jobs"));
  CHECK(read_jobs_path("/jobs")->kind == Kind::list);
  CHECK(read_jobs_path("/jobs/replay")->kind == Kind::replay);
  CHECK(read_jobs_path("/jobs/purge")->kind == Kind::purge);
  REQUIRE(read_jobs_path(one));
  CHECK(read_jobs_path(one)->kind == Kind::inspect);
  CHECK(jobs::to_text(read_jobs_path(one)->id) == kId);
  CHECK(read_jobs_path(one + "/cancel")->kind == Kind::cancel);
  for (const std::string path :
       {"", "/", "/job", "/jobsx", "/jobs/", "/jobs/x", "/jobs/replay/", "/jobs//cancel"}) {
    CHECK_FALSE_MESSAGE(read_jobs_path(path), path);
  }
  CHECK_FALSE(read_jobs_path(one + "/"));
  CHECK_FALSE(read_jobs_path(one + "/cancel/"));
  CHECK_FALSE(read_jobs_path("/jobs/00112233445566778899AABBCCDDEEFF"));
  CHECK(is_jobs_path("/jobs/x"));
  CHECK_FALSE(is_jobs_path("/jobsx"));
}

TEST_CASE("a query without parameters lists a hundred of all jobs") {
  const JobsListing all = listing("");
  CHECK(all.limit == 100);
  CHECK_FALSE(all.after);
  CHECK_FALSE(all.filter.state);
  CHECK_FALSE(all.filter.route);
}

TEST_CASE("a query has a filter, a place to go on and a limit") {
  const JobsListing some = listing(
      "state=dead&route=a%20%26b&cause=rejected&accepted_from=2026-11-23T20:00:00Z&"
      "accepted_before=2026-11-23T21:00:00.5+01:00&ended_from=1970-01-01T00:00:01Z&"
      "ended_before=1970-01-01T00:00:02Z&after=" +
      std::string(kId) + "&limit=1000");
  CHECK(some.filter.state == jobs::JobState::dead);
  CHECK(some.filter.route == "a &b");
  CHECK(some.filter.cause == jobs::Cause::rejected);
  CHECK(some.filter.accepted_from == jobs::WallTime(milliseconds(1'795'464'000'000)));
  CHECK(some.filter.accepted_before == jobs::WallTime(milliseconds(1'795'464'000'500)));
  CHECK(some.filter.ended_from == jobs::WallTime(milliseconds(1000)));
  CHECK(some.filter.ended_before == jobs::WallTime(milliseconds(2000)));
  CHECK(jobs::to_text(some.after.value_or(jobs::JobId{})) == kId);
  CHECK(some.limit == 1000);
}

TEST_CASE("a query that is not understood is refused rather than read as all jobs") {
  CHECK(wrong_query("stat=dead") == "\"stat\" is not known here");
  CHECK(wrong_query("state=Dead").starts_with("\"state\" must be one of: queued, leased, "));
  CHECK(wrong_query("state=").starts_with("\"state\" must be one of"));
  CHECK(wrong_query("state").starts_with("\"state\" must be one of"));
  CHECK(wrong_query("cause=").starts_with("\"cause\" must be one of: answered, "));
  CHECK(wrong_query("route=") == "\"route\" must not be empty");
  CHECK(wrong_query("route=a&route=b") == "\"route\" is given twice");
  CHECK(wrong_query("after=1").starts_with("\"after\" must be the id of a job"));
  CHECK(wrong_query("id=" + std::string(kId)) == "\"id\" is not known here");
  CHECK(wrong_query("ended_from=yesterday").starts_with("\"ended_from\" must be a time"));
  for (const char* limit : {"0", "1001", "-1", "1e2", "", " 1", "99999999999999999999"})
    CHECK_MESSAGE(wrong_query("limit=" + std::string(limit)) ==
                      "\"limit\" must be a whole number from 1 to 1000",
                  limit);
  for (const char* broken : {"route=%", "route=%4", "route=%zz", "%=a"})
    CHECK_MESSAGE(wrong_query(broken) == "the query is not percent-encoded", broken);
  CHECK(wrong_query(std::string(9000, 'x')).size() < 100);
}

TEST_CASE("nothing happens by accident: a replay is a dry run unless the body says otherwise") {
  CHECK(replay("{}").is_dry_run);
  CHECK(good(read_jobs_purge("{}")).is_dry_run);
  CHECK(replay(R"({"state":"dead"})").limit == kMostChangedJobs);
  const JobsChange real = replay(R"({"dry_run":false,"limit":5})");
  CHECK_FALSE(real.is_dry_run);
  CHECK(real.limit == 5);
  CHECK(real.spacing == milliseconds(0));
  CHECK_FALSE(real.ttl);
}

TEST_CASE("a replay in earnest needs a limit unless it names one job") {
  CHECK(wrong_replay(R"({"dry_run":false})").starts_with("\"limit\" is needed"));
  CHECK(wrong_purge(R"({"dry_run":false,"state":"dead"})").starts_with("\"limit\" is needed"));
  const JobsChange one = replay(R"({"dry_run":false,"id":")" + std::string(kId) + "\"}");
  CHECK(one.limit == 1);
  CHECK(jobs::to_text(one.filter.id.value_or(jobs::JobId{})) == kId);
}

TEST_CASE("the pace of a replay is kept to the millisecond and never exceeded") {
  const auto spacing = [](const std::string& rate) {
    return replay(R"({"per_second":)" + rate + "}").spacing;
  };
  CHECK(spacing("1") == milliseconds(1000));
  CHECK(spacing("1000") == milliseconds(1));
  CHECK(spacing("0.5") == milliseconds(2000));
  CHECK(spacing("3") == milliseconds(334));
  CHECK(spacing("600") == milliseconds(2));
  CHECK(spacing("0.001") == milliseconds(1'000'000));
  for (const char* rate : {"0", "-1", "1001", "0.0001", "\"1\"", "null", "1e400"})
    CHECK_MESSAGE(wrong_replay(R"({"per_second":)" + std::string(rate) + "}") != "", rate);
}

TEST_CASE("a body that is not understood is refused with one sentence") {
  CHECK(wrong_replay("") == "the body is not JSON");
  CHECK(wrong_replay("{") == "the body is not JSON");
  CHECK(wrong_replay("\xff\xfe") == "the body is not JSON");
  CHECK(wrong_replay("[]") == "the body is not a JSON object");
  CHECK(wrong_replay("null") == "the body is not a JSON object");
  CHECK(wrong_replay(R"({"rout":"a"})") == "\"rout\" is not known here");
  CHECK(wrong_replay(R"({"after":"a"})") == "\"after\" is not known here");
  CHECK(wrong_purge(R"({"per_second":1})") == "\"per_second\" is not known here");
  CHECK(wrong_purge(R"({"ttl_ms":1000})") == "\"ttl_ms\" is not known here");
  CHECK(wrong_replay(R"({"route":1})") == "\"route\" must be a string");
  CHECK(wrong_replay(R"({"route":null})") == "\"route\" must be a string");
  CHECK(wrong_replay(R"({"route":"a","route":"b"})") == "a member is given twice");
  CHECK(wrong_replay(R"({"dry_run":"false"})") == "\"dry_run\" must be true or false");
  CHECK(wrong_replay(R"({"dry_run":0})") == "\"dry_run\" must be true or false");
  CHECK(wrong_replay(R"({"id":"1"})").starts_with("\"id\" must be the id of a job"));
  for (const char* limit : {"0", "-1", "10001", "1.5", "\"1\"", "18446744073709551615"})
    CHECK_MESSAGE(wrong_replay(R"({"limit":)" + std::string(limit) + "}") ==
                      "\"limit\" must be a whole number from 1 to 10000",
                  limit);
  for (const char* ttl : {"999", "31536000001", "-1", "18446744073709551615"})
    CHECK_MESSAGE(wrong_replay(R"({"ttl_ms":)" + std::string(ttl) + "}")
                      .starts_with("\"ttl_ms\" must be a whole number"),
                  ttl);
}

TEST_CASE("what can never match is refused: jobs that run are neither replayed nor purged") {
  for (const char* state : {"queued", "leased", "retrying", "succeeded", "cancelled"})
    CHECK_MESSAGE(wrong_replay(R"({"state":")" + std::string(state) + "\"}")
                      .starts_with("only dead and expired jobs are replayed"),
                  state);
  for (const char* state : {"queued", "leased", "retrying"})
    CHECK_MESSAGE(wrong_purge(R"({"state":")" + std::string(state) + "\"}")
                      .starts_with("only jobs that have ended are purged"),
                  state);
  CHECK(wrong_purge(R"({"state":"succeeded"})").empty());
}

TEST_CASE("a time to live that ends before the last of the jobs is due is refused") {
  CHECK(wrong_replay(R"({"limit":101,"per_second":1,"ttl_ms":100000})")
            .starts_with("\"ttl_ms\" is over before the last"));
  CHECK(wrong_replay(R"({"limit":100,"per_second":1,"ttl_ms":100000})").empty());
  CHECK(wrong_replay(R"({"limit":100,"per_second":1,"delay_ms":1000,"ttl_ms":100000})")
            .starts_with("\"ttl_ms\" is over before the last"));
  CHECK(wrong_replay(R"({"delay_ms":1000,"ttl_ms":1000})")
            .starts_with("\"ttl_ms\" is over before the last"));
}

TEST_CASE("the delay of a replay is a whole number of milliseconds") {
  CHECK(replay("{}").delay == milliseconds(0));
  CHECK(replay(R"({"delay_ms":1500})").delay == milliseconds(1500));
  for (const char* delay : {"-1", "1.5", "\"1\"", "31536000001"})
    CHECK_MESSAGE(wrong_replay(R"({"delay_ms":)" + std::string(delay) + "}")
                      .starts_with("\"delay_ms\" must be a whole number"),
                  delay);
  CHECK(wrong_purge(R"({"delay_ms":1})") == "\"delay_ms\" is not known here");
}

}  // namespace spillway::proxy
