#include "traffic/classify/deadline.hpp"

#include <doctest/doctest.h>

#include <string>

#include "http/message/head.hpp"
#include "traffic/classify/classify.hpp"

using namespace spillway;
using namespace spillway::traffic;

namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr TimePoint kArrived{seconds(1000)};
constexpr Milliseconds kUnixTime{1'792'834'566'000};
constexpr WallTime kWall{kUnixTime};

DeadlineFields fields_of(const std::string& lines) {
  static std::string text;
  static http::RequestHead head;
  text = "GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
  REQUIRE(http::parse_request(text, head) == http::Error::none);
  return deadline_fields(head.fields);
}

// How long after arrival.
Duration left_of(const std::string& lines) {
  const ClientDeadline deadline = client_deadline(fields_of(lines), kArrived, kWall);
  REQUIRE(deadline.at != kNever);
  return deadline.at - kArrived;
}

bool counts(const std::string& lines) { return fields_of(lines).any(); }

}  // namespace

TEST_CASE("a timeout is parsed with its unit") {
  CHECK(left_of("X-Request-Deadline: 250ms\r\n") == Milliseconds(250));
  CHECK(left_of("x-request-deadline: 2s\r\n") == seconds(2));
  CHECK(left_of("X-REQUEST-DEADLINE:   007s  \r\n") == seconds(7));
  CHECK(left_of("X-Request-Deadline: 0ms\r\n") == Milliseconds(0));
  CHECK(left_of("X-Request-Deadline: 123456789012ms\r\n") ==
        Milliseconds(kFurthest / nanoseconds(1000000)));
}

TEST_CASE("Unix time is converted to a monotonic deadline on arrival") {
  CHECK(left_of("X-Request-Deadline: 1792834566250\r\n") == Milliseconds(250));
  CHECK(left_of("X-Request-Deadline: 1792834566000\r\n") == Milliseconds(0));
  CHECK(left_of("X-Request-Deadline: 1792834565000\r\n") == -seconds(1));
  // The least number of digits: September 2001 or earlier.
  CHECK(left_of("X-Request-Deadline: 999999999999\r\n") == -kFurthest);
  CHECK(left_of("X-Request-Deadline: 000000000001\r\n") == -kFurthest);
}

TEST_CASE("a clock before the epoch overflows nothing") {
  const auto fields = fields_of("X-Request-Deadline: 1792834566250\r\n");
  for (const WallTime wall : {WallTime::min(), WallTime{}, WallTime{seconds(-5)}}) {
    CHECK(client_deadline(fields, kArrived, wall).at == kArrived + kFurthest);
  }
  CHECK(client_deadline(fields, kArrived, WallTime::max()).at == kArrived - kFurthest);
}

TEST_CASE("grpc-timeout is read with each of its units") {
  CHECK(left_of("grpc-timeout: 1H\r\n") == hours(1));
  CHECK(left_of("grpc-timeout: 2M\r\n") == seconds(120));
  CHECK(left_of("grpc-timeout: 3S\r\n") == seconds(3));
  CHECK(left_of("grpc-timeout: 4m\r\n") == Milliseconds(4));
  CHECK(left_of("Grpc-Timeout: 5u\r\n") == microseconds(5));
  CHECK(left_of("grpc-timeout: 6n\r\n") == nanoseconds(6));
  CHECK(left_of("grpc-timeout: 0n\r\n") == Duration(0));
  CHECK(left_of("grpc-timeout: 99999999S\r\n") == kFurthest);
}

TEST_CASE("numbers of any length are as far away as any deadline can be") {
  for (const char* digits : {"99999999999999999999", "18446744073709551616", "9223372036854775808",
                             "999999999999999999999999999999999999999999"}) {
    CHECK(left_of("X-Request-Deadline: " + std::string(digits) + "ms\r\n") == kFurthest);
    CHECK(left_of("X-Request-Deadline: " + std::string(digits) + "s\r\n") == kFurthest);
    CHECK(left_of("X-Request-Deadline: " + std::string(digits) + "\r\n") == kFurthest);
    CHECK_FALSE(counts("grpc-timeout: " + std::string(digits) + "S\r\n"));
  }
  CHECK(left_of("grpc-timeout: 99999999H\r\n") == kFurthest);
}

TEST_CASE("anything but digits and a known unit counts for nothing") {
  for (const char* value : {"",
                            "ms",
                            "s",
                            "5",
                            "12345678901",
                            "+5s",
                            "-5s",
                            "5 s",
                            "5S",
                            "5MS",
                            "5m",
                            "1.5s",
                            "5e3ms",
                            "0x10ms",
                            "5s,6s",
                            "5s 6s",
                            "five",
                            "\"5s\"",
                            "5s;q=1",
                            "1792834566250.5",
                            "-1792834566250",
                            "1792834566250 ",
                            "5us",
                            "\xd9\xa5s"}) {
    CAPTURE(value);
    const std::string text(value);
    if (text == "1792834566250 ") {  // white space around a value is none of it
      CHECK(counts("X-Request-Deadline: " + text + "\r\n"));
    } else {
      CHECK_FALSE(counts("X-Request-Deadline: " + text + "\r\n"));
    }
  }
  for (const char* value : {"", "S", "5", "5s", "5ms", "5h", "+5S", "-5S", "5 S", "123456789S",
                            "5SS", "S5", "1.5S", "5M,5M", "5\x80"}) {
    CAPTURE(value);
    CHECK_FALSE(counts("grpc-timeout: " + std::string(value) + "\r\n"));
  }
}

TEST_CASE("a field that comes twice counts for nothing") {
  CHECK_FALSE(counts("X-Request-Deadline: 5s\r\nx-request-deadline: 5s\r\n"));
  CHECK_FALSE(
      counts("X-Request-Deadline: 5s\r\nX-Request-Deadline: bad\r\nX-Request-Deadline: 5s\r\n"));
  CHECK_FALSE(counts("grpc-timeout: 5S\r\ngrpc-timeout: 6S\r\n"));
  CHECK(counts("grpc-timeout: 5S\r\nX-Request-Deadline: 1s\r\nX-Request-Deadline: 1s\r\n"));
}

TEST_CASE("of two fields the earlier deadline counts") {
  CHECK(left_of("X-Request-Deadline: 2s\r\ngrpc-timeout: 300m\r\n") == Milliseconds(300));
  CHECK(left_of("X-Request-Deadline: 2s\r\ngrpc-timeout: 3S\r\n") == seconds(2));
  CHECK(left_of("X-Request-Deadline: 1792834566250\r\ngrpc-timeout: 3S\r\n") == Milliseconds(250));
  CHECK(left_of("X-Request-Deadline: nonsense\r\ngrpc-timeout: 3S\r\n") == seconds(3));
}

TEST_CASE("a client shortens the deadline of its route or class and never puts it off") {
  Classification classification{.deadline = kArrived + seconds(1)};
  CHECK(classification.wait_until(Duration{0}) == kArrived + seconds(1));
  CHECK(classification.response_deadline(Duration{0}) ==
        kNever);  // a class's deadline does not limit the response
  classification.client.at = kArrived + seconds(5);
  CHECK(classification.wait_until(Duration{0}) == kArrived + seconds(1));
  CHECK(classification.response_deadline(Duration{0}) == kArrived + seconds(5));
  classification.has_route_deadline = true;
  CHECK(classification.response_deadline(Duration{0}) == kArrived + seconds(1));
  // Time that is not counted puts off the route's deadline, and not the client's.
  CHECK(classification.response_deadline(seconds(3)) == kArrived + seconds(4));
  CHECK(classification.response_deadline(seconds(9)) == kArrived + seconds(5));
  classification.client.at = kArrived + Milliseconds(10);
  CHECK(classification.wait_until(seconds(9)) == kArrived + Milliseconds(10));
  CHECK(classification.response_deadline(seconds(9)) == kArrived + Milliseconds(10));
}

TEST_CASE("a written timeout never reads back as longer than it was") {
  DeadlineText text;
  CHECK(write_time_left(Milliseconds(250), text) == "250ms");
  CHECK(write_time_left(microseconds(1999), text) == "1ms");
  CHECK(write_time_left(nanoseconds(1), text) == "1ms");  // 0 would say that it has passed
  CHECK(write_grpc_timeout(Milliseconds(250), text) == "250000u");
  CHECK(write_grpc_timeout(nanoseconds(1), text) == "1u");
  CHECK(write_grpc_timeout(seconds(99), text) == "99000000u");
  CHECK(write_grpc_timeout(seconds(100), text) == "100000m");
  CHECK(write_grpc_timeout(seconds(100'000), text) == "100000S");
  CHECK(write_unix_time(kUnixTime, text) == "1792834566000");
  for (Duration left{1'500'000}; left <= kFurthest; left += left / 3) {
    const auto again = parse_request_deadline(write_time_left(left, text));
    REQUIRE(again);
    CHECK(again->value <= left);
    CHECK(again->value + Milliseconds(1) > left);
    const auto grpc = parse_grpc_timeout(write_grpc_timeout(left, text));
    REQUIRE(grpc);
    CHECK(*grpc <= left);
    CHECK(to_seconds(*grpc) >= 0.999 * to_seconds(left));
  }
}
