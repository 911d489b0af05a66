// Our reading of heads beside that of another implementation, Beast's, on heads damaged at random.
#include <doctest/doctest.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "http/framing.hpp"
#include "http/head.hpp"
#include "http/scan.hpp"

namespace spillway::http {
namespace {

namespace beast = boost::beast;

using Fields = std::vector<std::pair<std::string, std::string>>;

// What a head says, in whatever way it was read.
struct Reading {
  bool is_sound = false;
  std::string start;  // the parts of the start line
  Fields fields;
  bool operator==(const Reading&) const = default;
};

template <bool kRequest>
class Reference final : public beast::http::basic_parser<kRequest> {
 public:
  static Reading read(std::string_view head) {
    Reference reference;
    reference.header_limit(UINT32_MAX);
    reference.body_limit(boost::none);
    beast::error_code ec;
    const std::size_t used = reference.put(boost::asio::buffer(head.data(), head.size()), ec);
    reference.reading_.is_sound = !ec && reference.is_header_done() && used == head.size();
    return reference.reading_;
  }

 private:
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                       int version, beast::error_code&) override {
    reading_.start =
        std::string(method) + "|" + std::string(target) + "|" + std::to_string(version);
  }
  void on_response_impl(int status, beast::string_view reason, int version,
                        beast::error_code&) override {
    reading_.start =
        std::to_string(status) + "|" + std::string(reason) + "|" + std::to_string(version);
  }
  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                     beast::error_code&) override {
    reading_.fields.emplace_back(name, value);
  }
  void on_header_impl(beast::error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, beast::error_code&) override {
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body,
                                 beast::error_code&) override {
    return body.size();
  }
  void on_finish_impl(beast::error_code&) override {}

  Reading reading_;
};

template <class Head>
Fields fields_of(const Head& head) {
  Fields fields;
  for (const Field& field : head.fields) {
    fields.emplace_back(field.name, field.value);
    CHECK(field.id == beast::http::string_to_field(field.name));
  }
  return fields;
}

Reading reading_of(const RequestHead& head) {
  return {true,
          std::string(head.method_name) + "|" + std::string(head.target) + "|" +
              std::to_string(head.version),
          fields_of(head)};
}

Reading reading_of(const ResponseHead& head) {
  return {true,
          std::to_string(head.status) + "|" + std::string(head.reason_phrase) + "|" +
              std::to_string(head.version),
          fields_of(head)};
}

// Bytes that mean something in a head, and some that mean nothing.
std::string damaged(std::string head, Random& random) {
  constexpr std::string_view kBytes = " \t\r\n:,;/.-=\"1029HPTXabc\x80\xff\x7f";
  for (std::uint64_t times = 1 + random.next() % 4; times > 0; --times) {
    const std::size_t at = random.next() % head.size();
    const std::size_t size = 1 + random.next() % 4;
    const char byte = kBytes[random.next() % kBytes.size()];
    switch (random.next() % 4) {
      case 0: head[at] = byte; break;
      case 1: head.insert(at, 1, byte); break;
      case 2: head.erase(at, size); break;
      default: head.insert(random.next() % head.size(), head.substr(at, size * 6)); break;
    }
    if (head.empty()) head = "x";
  }
  return head;
}

struct Agreement {
  int sound = 0, refused = 0;
};

// Framing fields, which Beast checks while it parses, are ours to check afterwards.
template <bool kRequest, class Head, class CheckFraming>
Agreement compare(const std::vector<std::string>& samples, CheckFraming check_framing) {
  Agreement agreement;
  Random random(11);
  Head head;
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = damaged(samples[random.next() % samples.size()], random);
    HeadScanner scanner(kRequest ? HeadScanner::Kind::request : HeadScanner::Kind::response);
    const Scan scan = scanner.scan(text);
    if (scan.state != Scan::State::complete) continue;
    const std::string_view block = std::string_view(text).substr(scan.begin, scan.end - scan.begin);
    CAPTURE(block);
    const Reading theirs = Reference<kRequest>::read(block);
    Error error;
    if constexpr (kRequest) {
      error = parse_request(block, head);
    } else {
      error = parse_response(block, head);
    }
    if (theirs.is_sound) {
      REQUIRE(error == Error::none);
      REQUIRE(reading_of(head) == theirs);
      ++agreement.sound;
    } else {
      const bool is_refused = error != Error::none || check_framing(head) != Error::none;
      REQUIRE(is_refused);
      ++agreement.refused;
    }
  }
  return agreement;
}

}  // namespace

TEST_CASE("damaged requests are read as Beast reads them") {
  const Agreement agreement = compare<true, RequestHead>(
      {"GET /a/b?c=d HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive, x\r\n\r\n",
       "POST http://h/x HTTP/1.0\r\nHost: h\r\nContent-Length: 12\r\nA:\r\nB: \t c d \t\r\n\r\n",
       "PUT * HTTP/1.1\r\nTransfer-Encoding: chunked\r\nhost:h\r\nUpgrade: w, x/1\r\n\r\n"},
      [](RequestHead& head) { return request_framing(head); });
  CHECK(agreement.sound > 10'000);
  CHECK(agreement.refused > 10'000);
}

TEST_CASE("damaged responses are read as Beast reads them") {
  const Agreement agreement = compare<false, ResponseHead>(
      {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n",
       "HTTP/1.0 404 Not  \xc3\xa4 Found\r\nConnection: close\r\nSet-Cookie: a=b; c\r\n\r\n",
       "HTTP/1.1 304 \r\nETag: \"x\"\r\nTransfer-Encoding: chunked\r\n\r\n"},
      [](ResponseHead& head) { return response_framing(head, Verb::get); });
  CHECK(agreement.sound > 10'000);
  CHECK(agreement.refused > 10'000);
}

}  // namespace spillway::http
