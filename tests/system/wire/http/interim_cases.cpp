#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

std::string expecting(std::string_view lines = {}) {
  return framed("Content-Length: 3\r\nExpect: 100-continue\r\n" + std::string(lines), "");
}

std::string hints(std::string_view lines) {
  return "HTTP/1.1 103 Early Hints\r\n" + std::string(lines) + "\r\n";
}

std::string has_interim(const Observation& seen) { return seen.interim.empty() ? "no 100" : ""; }

}  // namespace

std::vector<Case> interim_cases() {
  return {
      must("9110 10.1.1", "a client that expects 100 gets it and sends the body",
           sends(expecting())
               .awaits_interim()
               .sends("abc")
               .answered(ok().continuing())
               .satisfies(has_interim)
               .passes()
               .asked_body("abc")
               .open()),
      must(
          "9110 10.1.1", "a client that expects 100 and does not wait for it is served",
          sends(expecting() + "abc").answered(ok().continuing()).passes().asked_body("abc").open()),
      must("9110 10.1.1", "100-continue is the same in any case",
           sends(framed("Content-Length: 3\r\nExpect: 100-Continue\r\n", ""))
               .awaits_interim()
               .sends("abc")
               .answered(ok().continuing())
               .satisfies(has_interim)
               .passes()
               .asked_body("abc")),
      must("9110 10.1.1", "a client that expects 100 for chunks gets it",
           sends(framed("Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n", ""))
               .awaits_interim()
               .sends("3\r\nabc\r\n0\r\n\r\n")
               .answered(ok().continuing())
               .satisfies(has_interim)
               .passes()
               .asked_body("abc")),
      ours("a client that expects 100 gets it even if the backend will refuse, so that no slot "
           "waits for it",
           sends(expecting())
               .awaits_interim()
               .sends("abc")
               .answered(raw("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno").early())
               .interim({100})
               .status(401)
               .body("no")
               .unread_requests()),
      ours("a body that was not wanted is not taken for a request when it comes all the same",
           sends(framed("Content-Length: 43\r\nExpect: 100-continue\r\n", ""))
               .awaits_interim()
               .sends(smuggled())
               .answered(raw("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno").early())
               .status(401)
               .unread_requests()
               .satisfies([](const Observation& seen) -> std::string {
                 return seen.begun <= 1 ? "" : "it was taken for a request";
               })),
      must("9110 10.1.1", "an expectation in HTTP/1.0 is passed over",
           sends("POST / HTTP/1.0\r\nHost: a.example\r\nContent-Length: 3\r\n"
                 "Expect: 100-continue\r\n\r\n")
               .sends("abc")
               .answered(ok())
               .interim({})
               .passes()
               .asked_body("abc")),
      must("9110 10.1.1", "an expectation without a body is passed over",
           sends(get("/", "Expect: 100-continue\r\n")).passes()),
      may("9110 10.1.1", "an unknown expectation gets 417",
          sends(framed("Content-Length: 3\r\nExpect: wonders\r\n", "abc"))
              .refused({417})
              .untouched()),
      ours("two expectations get 417",
           sends(framed("Content-Length: 3\r\nExpect: 100-continue, wonders\r\n", "abc"))
               .refused({417})
               .untouched()),
      must("9110 15.2", "103 is passed on with its fields",
           sends(get())
               .answered(ok().after(hints("Link: </a.css>; rel=preload\r\n")))
               .interim({103})
               .interim_with("Link", "</a.css>; rel=preload")
               .passes()
               .body("ok")
               .open()),
      must("9110 15.2", "several interim responses are passed on in order",
           sends(get())
               .answered(raw("HTTP/1.1 102 Processing\r\n\r\n" + hints("Link: </a>\r\n") +
                             hints("Link: </b>\r\n") +
                             "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
               .interim({102, 103, 103})
               .interim_with("Link", "</b>")
               .passes()
               .open()),
      must("9110 15.2", "an unknown interim response is passed on",
           sends(get())
               .answered(ok().after("HTTP/1.1 199 Odd\r\nX-A: 1\r\n\r\n"))
               .interim({199})
               .interim_with("X-A", "1")
               .passes()),
      must("9110 15.2", "an interim response is passed on before the final one is there",
           sends(post(""))
               .awaits_interim()
               .answered(raw_pieces(
                   {hints("Link: </a>\r\n"), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}))
               .interim({103})
               .passes()),
      must("9110 15.2", "HTTP/1.0 gets no interim responses",
           sends("GET / HTTP/1.0\r\nHost: a.example\r\n\r\n")
               .answered(ok().after(hints("Link: </a>\r\n")))
               .interim({})
               .passes()
               .body("ok")),
      must("9110 7.6.1", "a field that an interim response's Connection names ends here",
           sends(get())
               .answered(ok().after(hints("Link: </a>\r\nConnection: X-Hop\r\nX-Hop: 1\r\n")))
               .interim({103})
               .interim_without("X-Hop")
               .passes()),
      must("9112 6.3", "an interim response has no body whatever it says",
           sends(get())
               .answered(ok().after(hints("Content-Length: 5\r\nLink: </a>\r\n")))
               .interim_without("Content-Length")
               .passes()
               .body("ok")
               .open()
               .or_else()
               .bad_gateway()),
      must("9110 15.2.1", "100 that was not asked for does no harm",
           sends(get())
               .answered(ok().after("HTTP/1.1 100 Continue\r\n\r\n"))
               .passes()
               .body("ok")
               .open()),
      must("9110 15.2.2", "101 that was not asked for is no success",
           sends(get())
               .answered(raw(
                   "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
                   "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"))
               .bad_gateway()),
      must("9110 15.6.3", "an interim response and then nothing is a bad gateway",
           sends(get()).answered(raw(hints("Link: </a>\r\n")).closing()).bad_gateway()),
      must("9110 15.2", "a HEAD may have interim responses too",
           sends("HEAD / HTTP/1.1\r\nHost: a.example\r\n\r\n")
               .answered(
                   raw(hints("Link: </a>\r\n") + "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"))
               .interim({103})
               .passes()
               .open())};
}

}  // namespace spillway::wire
