#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

// A field of a request that is for this hop alone.
Case ends_here(std::string sentence, const std::string& name, const std::string& value) {
  return should("9110 7.6.1", std::move(sentence),
                sends(get("/", name + ": " + value + "\r\nX-Stays: 1\r\n"))
                    .passes()
                    .asked_without(name)
                    .asked_with("X-Stays", "1"));
}

// A field of a response that is for this hop alone.
Case response_ends_here(std::string sentence, const std::string& name, const std::string& value) {
  return should("9110 7.6.1", std::move(sentence),
                sends(get())
                    .answered(ok("ok", name + ": " + value + "\r\nX-Stays: 1\r\n"))
                    .passes()
                    .satisfies([=](const Observation& seen) -> std::string {
                      const auto found = seen.responses[0].field(name);
                      return found && *found == value ? name + " reached the client" : "";
                    })
                    .with("X-Stays", "1"));
}

// A field by which Spillway tells clients something: an upstream cannot say it in its place.
Case is_ours_to_say(const std::string& name, const std::string& value) {
  return ours(name + " of a backend does not reach the client",
              sends(get())
                  .answered(ok("ok", name + ": " + value + "\r\nX-Stays: 1\r\n"))
                  .passes()
                  .satisfies([=](const Observation& seen) -> std::string {
                    return seen.responses[0].field(name) ? name + " reached the client" : "";
                  })
                  .with("X-Stays", "1"));
}

// A field by whose removal a client could change what the origin believes.
Case not_named_away(const std::string& name, const std::string& value) {
  return ours("Connection cannot name " + name + " away",
              sends(get("/", "Connection: " + name + "\r\n" + name + ": " + value + "\r\n"))
                  .passes()
                  .asked_part(name, value));
}

}  // namespace

std::vector<Case> hop_cases() {
  return {
      must("9110 7.6.1", "a field that Connection names ends here",
           sends(get("/", "Connection: X-Hop\r\nX-Hop: 1\r\nX-Stays: 1\r\n"))
               .passes()
               .asked_without("X-Hop")
               .asked_with("X-Stays", "1")),
      must("9110 7.6.1", "a field that Connection names ends here wherever it stands",
           sends(get("/", "X-Hop: 1\r\nX-Stays: 1\r\nConnection: X-Hop\r\nX-Hop: 2\r\n"))
               .passes()
               .asked_without("X-Hop")
               .asked_with("X-Stays", "1")),
      must("9110 7.6.1", "a field that Connection names in other letters ends here",
           sends(get("/", "Connection: x-hop\r\nX-HOP: 1\r\n")).passes().asked_without("X-Hop")),
      must("9110 7.6.1", "all fields of a list in Connection end here",
           sends(get("/", "Connection: keep-alive ,X-A,, X-B\r\nX-A: 1\r\nX-B: 2\r\n"))
               .passes()
               .asked_without("X-A")
               .asked_without("X-B")),
      must("9110 7.6.1", "fields that a second Connection names end here",
           sends(get("/", "Connection: X-A\r\nConnection: X-B\r\nX-A: 1\r\nX-B: 2\r\n"))
               .passes()
               .asked_without("X-A")
               .asked_without("X-B")),
      must("9110 7.6.1", "what Connection names is not named to the backend",
           sends(get("/", "Connection: X-Hop\r\n"))
               .passes()
               .satisfies([](const Observation& seen) -> std::string {
                 const auto found = seen.requests[0].field("Connection");
                 return found && found->find("X-Hop") != std::string::npos ? *found : "";
               })),
      must("9110 7.6.1", "close in a client's Connection is not for the backend alone",
           sends(get("/", "Connection: close\r\n")).passes().closed()),
      must("9110 7.6.1", "Connection cannot name Content-Length away",
           sends(framed("Connection: Content-Length\r\nContent-Length: 3\r\n", "abc"))
               .passes()
               .asked_body("abc")),
      must("9110 7.6.1", "Connection cannot name Transfer-Encoding away",
           sends(chunked_post("3\r\nabc\r\n0\r\n\r\n", "Connection: Transfer-Encoding\r\n"))
               .passes()
               .asked_body("abc")),
      not_named_away("Authorization", "Basic eA=="),
      not_named_away("Cookie", "a=1"),
      not_named_away("X-Forwarded-For", "127.0.0.1"),
      not_named_away("X-Forwarded-Host", "a.example"),
      not_named_away("Forwarded", "127.0.0.1"),
      not_named_away("Via", "1.1 "),
      not_named_away("Cache-Control", "no-cache"),
      not_named_away("Content-Type", "text/plain"),
      not_named_away("Range", "bytes=0-2"),
      not_named_away("Origin", "http://a.example"),
      not_named_away("Accept-Language", "de"),
      not_named_away("If-None-Match", "\"a\""),
      not_named_away("X-Api-Key", "0123"),
      must("8586 2", "CDN-Loop goes on",
           sends(get("/", "CDN-Loop: a.example\r\n")).passes().asked_with("CDN-Loop", "a.example")),
      must("8586 2", "Connection cannot name CDN-Loop away",
           sends(get("/", "Connection: CDN-Loop\r\nCDN-Loop: a.example\r\n"))
               .passes()
               .asked_with("CDN-Loop", "a.example")),
      not_named_away("X-Wire-Person", "7"),   // of cache.personal
      not_named_away("X-Wire-Variant", "7"),  // of cache.vary
      ours("HTTP2-Settings ends here when Connection does not name it",
           sends(get("/", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"))
               .passes()
               .asked_without("HTTP2-Settings")),
      ours("Connection with more than 32 names is refused", sends([] {
                                                              std::string lines = "Connection: a";
                                                              for (int n = 0; n < 40; ++n)
                                                                lines += ", x" + std::to_string(n);
                                                              return get("/", lines + "\r\n");
                                                            }())
                                                                .refused()
                                                                .untouched()
                                                                .closed()),
      ends_here("Keep-Alive of a client ends here", "Keep-Alive", "timeout=5"),
      ends_here("Proxy-Connection of a client ends here", "Proxy-Connection", "keep-alive"),
      ends_here("TE of a client ends here when Connection does not name it", "TE", "gzip"),
      ends_here("Upgrade of a client ends here when Connection does not name it", "Upgrade",
                "websocket"),
      ours("Proxy-Authorization of a client ends here",
           sends(get("/", "Proxy-Authorization: Basic eA==\r\n"))
               .passes()
               .asked_without("Proxy-Authorization")),
      must("9110 7.8", "an upgrade that the route does not have is not passed on",
           sends(get("/", "Connection: upgrade\r\nUpgrade: frobnicate/2\r\n"))
               .passes()
               .asked_without("Upgrade")),
      must("9110 7.8", "an upgrade to HTTP/2 is not passed on",
           sends(get("/",
                     "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                     "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"))
               .passes()
               .asked_without("Upgrade")
               .asked_without("HTTP2-Settings")),
      must("9110 7.8", "an upgrade in HTTP/1.0 is passed over",
           sends("GET / HTTP/1.0\r\nHost: a.example\r\nConnection: upgrade\r\n"
                 "Upgrade: websocket\r\n\r\n")
               .passes()
               .asked_without("Upgrade")),
      ours("TE says to the backend that trailers are welcome",
           sends(get("/", "Connection: TE\r\nTE: trailers, gzip\r\n"))
               .passes()
               .asked_with("TE", "trailers")
               .asked_part("Connection", "TE")),
      must("9110 7.6.1", "a field that a response's Connection names ends here",
           sends(get())
               .answered(ok("ok", "Connection: x-hop\r\nX-Hop: 1\r\nX-Stays: 1\r\n"))
               .passes()
               .without("X-Hop")
               .with("X-Stays", "1")),
      must("9110 7.6.1", "a field that a response's Connection names ends here before it too",
           sends(get())
               .answered(ok("ok", "X-Hop: 1\r\nX-Stays: 1\r\nConnection: X-A, X-Hop\r\n"))
               .passes()
               .without("X-Hop")
               .with("X-Stays", "1")),
      must("9110 7.6.1", "a trailer that a request's Connection names ends here",
           sends(chunked_post("3\r\nabc\r\n0\r\nX-Hop: 1\r\n\r\n", "Connection: X-Hop\r\n"))
               .passes()
               .asked_body("abc")
               .satisfies([](const Observation& seen) -> std::string {
                 return seen.requests[0].trailers.empty() ? "" : "the trailer reached the backend";
               })),
      must("9110 7.6.1", "a response's Connection cannot name Content-Length away",
           sends(get()).answered(ok("ok", "Connection: Content-Length\r\n")).passes().body("ok")),
      ours("a response's Connection cannot name Set-Cookie away",
           sends(get())
               .answered(ok("ok", "Connection: Set-Cookie\r\nSet-Cookie: a=1\r\n"))
               .passes()
               .with("Set-Cookie", "a=1")),
      ours("a response's Connection cannot name Cache-Control away",
           sends(get())
               .answered(ok("ok", "Connection: Cache-Control\r\nCache-Control: no-store\r\n"))
               .passes()
               .with("Cache-Control", "no-store")),
      response_ends_here("Keep-Alive of a backend ends here", "Keep-Alive", "timeout=77"),
      response_ends_here("Proxy-Connection of a backend ends here", "Proxy-Connection",
                         "x-keep-alive"),
      response_ends_here("Upgrade of a backend ends here", "Upgrade", "h2c"),
      is_ours_to_say("Spillway-Degraded", "mode=stale_ok; reason=TAIL_LATENCY"),
      is_ours_to_say("spillway-job", "cut"),
      is_ours_to_say("Spillway-Ticket", "t1"),
      ours("Proxy-Authenticate of a backend ends here",
           sends(get())
               .answered(ok("ok", "Proxy-Authenticate: Basic\r\n"))
               .passes()
               .without("Proxy-Authenticate")),
      must("9110 7.6.1", "close in a backend's Connection does not close the client's",
           sends(get())
               .answered(raw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
                             .closing())
               .passes()
               .body("ok")
               .open())};
}

}  // namespace spillway::wire
