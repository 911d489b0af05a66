#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

// A body large enough to be streamed, in which there is what looks like requests all along.
std::string tempting_body() {
  std::string body;
  while (body.size() < 200'000) body += smuggled();
  return body;
}

std::string no(int status) {
  return "HTTP/1.1 " + std::to_string(status) + " No\r\nContent-Length: 2\r\n\r\nno";
}

std::string not_taken_for_requests(const Observation& seen) {
  return seen.begun <= 1 ? "" : "the body was taken for requests";
}

// A POST of which half is sent before the response.
Step early() {
  const std::string all = post(tempting_body());
  return sends(all.substr(0, 100'000))
      .awaits_response()
      .sends(all.substr(100'000))
      .unread_requests()
      .satisfies(not_taken_for_requests);
}

// A proxy may say 502, or end the connection as the origin did.
std::string not_sent_again(const Observation& seen) {
  if (seen.requests.size() != 2) return std::to_string(seen.requests.size()) + " requests came";
  return seen.responses.size() < 2 || seen.responses[1].status() != 200 ? "" : "it was answered";
}

// Two requests on a connection; the origin does not answer the second one.
Step unanswered(const std::string& second, Answer answer = raw("").closing()) {
  return sends(get("/first"))
      .awaits_response()
      .sends(second)
      .answered(ok())
      .answered(std::move(answer))
      .answered(ok("again"))
      .responses(2);
}

}  // namespace

std::vector<Case> early_cases() {
  return {
      must("9112 9.3", "a refusal ahead of the body arrives and its body is no request",
           early().answered(raw(no(403)).early()).status(403).body("no")),
      must("9112 9.3", "a refusal ahead of the body arrives when the backend closes behind it",
           early().answered(raw(no(413)).early().closing()).status(413).body("no")),
      must("9112 9.3", "a success ahead of the body arrives and the body is no request",
           early()
               .answered(raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").early())
               .status(200)
               .body("ok")),
      ours("a response may begin before the request ends",
           sends(post(tempting_body()).substr(0, 100'000))
               .awaits_response()
               .sends("x")
               .answered(raw(no(403)).early())
               .satisfies([](const Observation& seen) -> std::string {
                 return seen.got_early ? "" : "the response waits for the body";
               })
               .status(403)
               .unread_requests())
          .otherwise("a body is read before a slot is taken; request_buffering \"off\" streams it"),
      must("9112 9.3", "chunks behind an early answer are no requests",
           sends(chunked_post("30d40\r\n" + tempting_body().substr(0, 100'000)))
               .awaits_response()
               .sends(tempting_body().substr(100'000, 100'000) + "\r\n0\r\n\r\n")
               .answered(raw(no(403)).early())
               .status(403)
               .unread_requests()
               .satisfies(not_taken_for_requests)),
      must("9112 9.6", "the small body of a refused request is no request",
           sends("TRACE / HTTP/1.1\r\nHost: a.example\r\nContent-Length: " +
                 std::to_string(smuggled().size()) + "\r\n\r\n" + smuggled())
               .refused({400, 405, 413})
               .untouched()),
      must("9110 9.2.2", "a POST is not sent again when the backend closes without an answer",
           sends(post("abc"))
               .answered(raw("").closing())
               .answered(ok("again"))
               .status({502, 503})
               .requests(1)),
      must("9110 9.2.2", "a POST is not sent again when the backend resets without an answer",
           sends(post("abc"))
               .answered(raw("").resetting())
               .answered(ok("again"))
               .status({502, 503})
               .requests(1)),
      must("9110 9.2.2", "a POST on a connection that was used before is not sent again either",
           unanswered(post("abc")).satisfies(not_sent_again)),
      ours("a POST that was not answered gets 502",
           unanswered(post("abc")).statuses({200, 502}).requests(2)),
      must(
          "9110 9.2.2", "an unknown method is not sent again",
          unanswered("FROBNICATE / HTTP/1.1\r\nHost: a.example\r\n\r\n").satisfies(not_sent_again)),
      must("9110 9.2.2", "a PATCH is not sent again",
           unanswered("PATCH / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n")
               .satisfies(not_sent_again)),
      ours("a GET is sent once more when the backend has just closed the connection",
           unanswered(get("/second")).bodies({"ok", "again"}).requests(3)),
      ours("a GET is not sent once more when a byte of the answer has come",
           unanswered(get("/second"), raw("HTTP/1.1 2").closing())
               .statuses({200, 502})
               .requests(2))};
}

}  // namespace spillway::wire
