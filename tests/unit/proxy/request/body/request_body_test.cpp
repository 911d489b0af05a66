// What is read of a request's body by those who do not send it on.
#include "proxy/request/body/request_body.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message/framing.hpp"
#include "unit/proxy/request/lone_process.hpp"
#include "unit/proxy/request/scripted_session.hpp"

namespace spillway::proxy {
namespace {

struct KeptBody {
  KeptBody(Process& process, std::string_view fields, const std::vector<std::string>& pieces)
      : session("POST /a HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n", kAnyNumber),
        request(RequestContext::Kind::live, *process.generation, framed(session), session.client(),
                process.services.now()),
        body(process.services, request, session, parking) {
    for (const std::string& piece : pieces) session.receive(piece);
  }

  Detached read_ahead() {
    const std::optional<Fault> failure = co_await body.read_ahead();
    end(failure);
  }
  Detached read_content(std::uint64_t most) {
    const std::optional<Fault> failure = co_await body.read_content(content, most);
    end(failure);
  }
  Detached read_small(std::uint64_t most) {
    const std::optional<Fault> failure = co_await body.read_small(content, most);
    end(failure);
  }

  ScriptedSession session;
  RequestContext request;
  Parking parking;
  RequestBody body;
  std::string content{};
  bool has_ended = false;
  unsigned status = 0;  // of the fault with which it has

 private:
  static const http::RequestHead& framed(ScriptedSession& session) {
    REQUIRE(http::request_framing(session.request()) == http::Error::none);
    return session.request();
  }
  void end(const std::optional<Fault>& fault) {
    has_ended = true;
    status = fault ? fault->status : 0;
  }
};

constexpr std::string_view kFiveBytes = "Content-Length: 5\r\n", kNoBytes = "Content-Length: 0\r\n",
                           kInChunks = "Transfer-Encoding: chunked\r\n";

}  // namespace

TEST_CASE("of a body that is kept the content is read, as far as it may go") {
  struct Case {
    const char* what;
    std::string_view fields;
    std::vector<std::string> pieces;
    std::uint64_t most;
    std::string_view content;  // one byte more than `most`: it is too long
    unsigned small_status;     // with which read_small() refuses it; 0: it does not
  };
  const std::vector<Case> cases{
      {"all of it with the head", kFiveBytes, {"hello"}, 5, "hello", 0},
      {"in pieces", kFiveBytes, {"he", "l", "lo"}, 5, "hello", 0},
      {"one byte too much", kFiveBytes, {"hello"}, 4, "hello", 413},
      {"several", kFiveBytes, {"hello"}, 2, "hel", 413},
      {"chunked", kInChunks, {"5\r\nhello\r\n0\r\n\r\n"}, 5, "hello", 0},
      {"two chunks, in pieces within their framing",
       kInChunks,
       {"2\r\nhe", "\r\n3", "\r\nllo\r\n0\r", "\n\r\n"},
       5,
       "hello",
       0},
      {"chunks that are too long", kInChunks, {"5\r\nhello\r\n", "0\r\n\r\n"}, 4, "hello", 413},
      {"an empty one", kInChunks, {"0\r\n\r\n"}, 0, "", 0},
  };
  Process process;
  for (const Case& one : cases) {
    CAPTURE(std::string(one.what));
    KeptBody upload(process, one.fields, one.pieces);
    upload.read_content(one.most);
    CHECK(upload.has_ended);
    CHECK(upload.status == 0);
    CHECK(upload.content == one.content);

    KeptBody small(process, one.fields, one.pieces);
    small.read_small(one.most);
    CHECK(small.has_ended);
    CHECK(small.status == one.small_status);
    if (one.small_status == 0) CHECK(small.content == one.content);
  }
}

TEST_CASE("a body that is too long by its length is refused before any of it is read") {
  Process process;
  KeptBody upload(process, kFiveBytes, {});
  upload.read_small(4);
  CHECK(upload.has_ended);
  CHECK(upload.status == 413);
}

TEST_CASE("without waiting only a body is taken that is here, and that nothing has sent") {
  struct Case {
    const char* what;
    std::string_view fields;
    std::vector<std::string> pieces;
    bool is_read_ahead;
    std::uint64_t most;
    std::optional<std::string> content;
  };
  const std::vector<Case> cases{
      {"there is none", kNoBytes, {}, false, 0, ""},
      {"not read yet", kFiveBytes, {"hello"}, false, 5, std::nullopt},
      {"here", kFiveBytes, {"he", "llo"}, true, 5, "hello"},
      {"here, in chunks", kInChunks, {"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"}, true, 5, "hello"},
      {"too long", kFiveBytes, {"hello"}, true, 4, std::nullopt},
      {"still on its way", kFiveBytes, {"he"}, true, 5, std::nullopt},
  };
  Process process;
  for (const Case& one : cases) {
    CAPTURE(std::string(one.what));
    KeptBody upload(process, one.fields, one.pieces);
    if (one.is_read_ahead) upload.read_ahead();
    CHECK(upload.body.take_content(one.most) == one.content);
    if (upload.parking.parked()) upload.parking.wake(Wake::timeout);
  }
}

}  // namespace spillway::proxy
