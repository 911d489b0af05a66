// A step must find out what it is about, and what no step says because it always holds.
#include "system/wire/step.hpp"

#include <doctest/doctest.h>

namespace spillway::wire {
namespace {

Observation answered(std::string status_line, support::Fields fields = {}) {
  Observation seen;
  seen.responses.push_back({.start_line = std::move(status_line), .fields = std::move(fields)});
  return seen;
}

TEST_CASE("a step that succeeds expects 200 until it says something of the status") {
  const Observation ok = answered("HTTP/1.1 200 OK");
  const Observation gone = answered("HTTP/1.1 410 Gone");
  CHECK(sends(get()).succeeds().verdict(ok).empty());
  CHECK(sends(get()).succeeds().verdict(gone) == "status 410");
  CHECK(sends(get()).succeeds().without("Age").status(410).verdict(gone).empty());
  CHECK(sends(get()).succeeds().status(410).verdict(ok) == "status 200");
  CHECK(sends(get()).succeeds().any_status().verdict(gone).empty());
  CHECK_FALSE(sends(get()).succeeds().any_status().verdict({}).empty());
}

TEST_CASE("one whole list of expectations must hold") {
  const Step step = sends(get()).status(200).with("X-A").or_else().status(404).with("X-B");
  CHECK(step.verdict(answered("HTTP/1.1 200 OK", {{"X-A", "1"}})).empty());
  CHECK(step.verdict(answered("HTTP/1.1 404 No", {{"x-b", "1"}})).empty());
  CHECK(step.verdict(answered("HTTP/1.1 200 OK", {{"X-B", "1"}})) == "no X-A; or status 200");
}

TEST_CASE("no step accepts more than is due or what has two meanings") {
  const Step step = sends(get()).any_status();
  Observation seen = answered("HTTP/1.1 200 OK");
  CHECK(step.verdict(seen).empty());
  seen.rest = "more";
  CHECK_FALSE(step.verdict(seen).empty());
  seen.rest.clear();
  seen.origin_trouble = "two Host fields";
  CHECK_FALSE(step.verdict(seen).empty());
  seen.origin_trouble.clear();
  seen.responses.push_back(seen.responses[0]);
  CHECK_FALSE(step.verdict(seen).empty());
  CHECK_FALSE(step.verdict(answered("HTTP/1.1 200 OK",
                                    {{"Content-Length", "1"}, {"Transfer-Encoding", "chunked"}}))
                  .empty());
}

}  // namespace
}  // namespace spillway::wire
