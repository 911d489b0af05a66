#include "proxy/admin/job_report.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace spillway::proxy {
namespace {

using std::chrono::milliseconds;

jobs::JobView waiting_job() {
  jobs::JobView job;
  job.lane.route = "export";
  job.tenant_name = "acme";
  job.method = "POST";
  job.target = "/export?x=1";
  job.accepted = jobs::WallTime(milliseconds(1000));
  job.expires = jobs::WallTime(milliseconds(2000));
  job.progress.due = jobs::WallTime(milliseconds(1500));
  return job;
}

nlohmann::ordered_json body_of(const std::string& first, std::uint64_t whole) {
  store::Inspect found;
  found.job = waiting_job();
  found.job->body_bytes = whole;
  found.body = first;
  return inspected_report(found).at("body");
}

}  // namespace

TEST_CASE("a job that waits is reported without an end") {
  const auto report = job_report(waiting_job());
  CHECK(report.dump() ==
        R"({"id":"00000000000000000000000000000000","state":"queued","route":"export",)"
        R"("tenant":"acme","method":"POST","target":"/export?x=1","body_bytes":0,"attempts":0,)"
        R"("recoveries":0,"accepted_at":"1970-01-01T00:00:01.000Z",)"
        R"("expires_at":"1970-01-01T00:00:02.000Z","due_at":"1970-01-01T00:00:01.500Z"})");
}

TEST_CASE("a job that has ended is reported with its cause, its end and its answer's status") {
  jobs::JobView job = waiting_job();
  job.progress.state = jobs::JobState::dead;
  job.progress.cause = jobs::Cause::rejected;
  job.progress.ended = jobs::WallTime(milliseconds(1700));
  job.status = 404;
  const auto report = job_report(job);
  CHECK(report.at("cause") == "rejected");
  CHECK(report.at("ended_at") == "1970-01-01T00:00:01.700Z");
  CHECK(report.at("status") == 404);
  CHECK_FALSE(report.contains("due_at"));
}

TEST_CASE("a head is shown without the secrets of the client") {
  CHECK(redacted_head("POST / HTTP/1.1\r\nHost: a\r\nAuthorization: Basic x\r\ncookie:y\r\n"
                      "X-API-KEY: z\r\nProxy-Authorization: v\r\nX-Other: w\r\n\r\n") ==
        "POST / HTTP/1.1\r\nHost: a\r\nAuthorization: <redacted>\r\ncookie: <redacted>\r\n"
        "X-API-KEY: <redacted>\r\nProxy-Authorization: <redacted>\r\nX-Other: w\r\n\r\n");
  CHECK(redacted_head("").empty());
  CHECK(redacted_head("Cookie: without an end") == "Cookie: <redacted>\n");
  CHECK(redacted_head("no colon") == "no colon");
}

TEST_CASE("a body is shown as text if it is UTF-8 and else in base64") {
  CHECK(body_of("gr\xc3\xbc\xc3\x9f", 6) == nlohmann::ordered_json{{"encoding", "utf-8"},
                                                                   {"text", "gr\xc3\xbc\xc3\x9f"},
                                                                   {"is_cut", false}});
  CHECK(body_of("", 0).at("text") == "");
  CHECK(body_of("\xff\xfe", 2) ==
        nlohmann::ordered_json{{"encoding", "base64"}, {"text", "//4="}, {"is_cut", false}});
  // A whole body that ends within a character is not text.
  CHECK(body_of("gr\xc3", 3).at("encoding") == "base64");
}

TEST_CASE("a character that the limit cuts does not make a text anything else") {
  const auto cut = body_of("gr\xf0\x9f\x98", 6);
  CHECK(cut.at("encoding") == "utf-8");
  CHECK(cut.at("text") == "gr");
  CHECK(cut.at("is_cut") == true);
  CHECK(body_of("gr\xff\xff\xff\xff", 7).at("encoding") == "base64");
}

TEST_CASE("an inspected job has every attempt") {
  store::Inspect found;
  found.job = waiting_job();
  found.head = "POST / HTTP/1.1\r\n\r\n";
  found.attempts = {{.number = 1,
                     .began = jobs::WallTime(milliseconds(1)),
                     .ended = jobs::WallTime(milliseconds(2)),
                     .cause = jobs::Cause::failed,
                     .status = 500,
                     .detail = "it failed"},
                    {.number = 0,
                     .began = jobs::WallTime(milliseconds(3)),
                     .ended = jobs::WallTime(milliseconds(4)),
                     .cause = jobs::Cause::never_sent,
                     .status = 0,
                     .detail = ""}};
  const auto report = inspected_report(found);
  CHECK(report.at("head") == found.head);
  CHECK(
      report.at("history").dump() ==
      R"([{"number":1,"began_at":"1970-01-01T00:00:00.001Z","ended_at":"1970-01-01T00:00:00.002Z",)"
      R"("cause":"failed","status":500,"detail":"it failed"},)"
      R"({"number":0,"began_at":"1970-01-01T00:00:00.003Z","ended_at":"1970-01-01T00:00:00.004Z",)"
      R"("cause":"never_sent"}])");
}

}  // namespace spillway::proxy
