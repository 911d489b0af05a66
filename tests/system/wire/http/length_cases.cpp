#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

// RFC 9112 section 6.3: 400, and the connection is closed. What follows may be anything.
Case no_length(std::string sentence, const std::string& line) {
  return must("9112 6.3", std::move(sentence),
              sends(framed(line + "\r\n", "abc" + smuggled())).refused().closed());
}

}  // namespace

std::vector<Case> length_cases() {
  return {
      no_length("a Content-Length with a plus is refused", "Content-Length: +3"),
      no_length("a negative Content-Length is refused", "Content-Length: -1"),
      no_length("a hexadecimal Content-Length is refused", "Content-Length: 0x3"),
      no_length("a Content-Length with letters behind it is refused", "Content-Length: 3a"),
      no_length("a Content-Length with a fraction is refused", "Content-Length: 3.0"),
      no_length("a Content-Length with an exponent is refused", "Content-Length: 3e0"),
      no_length("a Content-Length of two numbers is refused", "Content-Length: 3 3"),
      no_length("a quoted Content-Length is refused", "Content-Length: \"3\""),
      no_length("an empty Content-Length is refused", "Content-Length:"),
      no_length("a Content-Length of words is refused", "Content-Length: three"),
      no_length("a Content-Length with a parameter is refused", "Content-Length: 3;a=1"),
      no_length("a Content-Length with an underscore in it is refused", "Content-Length: 1_0"),
      no_length("a list of different Content-Lengths is refused", "Content-Length: 3, 4"),
      no_length("two different Content-Length fields are refused",
                "Content-Length: 3\r\nContent-Length: 4"),
      no_length("two different Content-Length fields are refused also when the first is 0",
                "Content-Length: 0\r\nContent-Length: 3"),
      no_length("two different Content-Length fields are refused also far apart",
                "Content-Length: 3\r\nX-A: 1\r\nX-B: 2\r\ncontent-length: 0"),
      must("9110 8.6", "a Content-Length of 2^64 and 3 is not taken for 3",
           sends(framed("Content-Length: 18446744073709551619\r\n", "abc" + smuggled()))
               .refused({400, 413})
               .closed()),
      must("9110 8.6", "a Content-Length of 2^63 is not taken for a negative one",
           sends(framed("Content-Length: 9223372036854775808\r\n", "abc" + smuggled()))
               .refused({400, 413})
               .closed()),
      must("9110 8.6", "a Content-Length of 2^32 and 3 is not taken for 3",
           sends(framed("Content-Length: 4294967299\r\n", "abc" + smuggled())).refused({400, 413})),
      must("9110 8.6", "a Content-Length of a hundred digits is refused",
           sends(framed("Content-Length: " + std::string(100, '9') + "\r\n", "abc" + smuggled()))
               .refused({400, 413})
               .closed()),
      ours("thirty zeros before a Content-Length are not passed on",
           sends(framed("Content-Length: " + std::string(30, '0') + "3\r\n", "abc"))
               .passes()
               .asked_body("abc")
               .asked_raw("Content-Length: 3\r\n")),
      ours("a tab before a Content-Length is not passed on",
           sends(framed("Content-Length:\t3\r\n", "abc"))
               .passes()
               .asked_body("abc")
               .asked_raw("Content-Length: 3\r\n")),
      must("9112 6.3", "equal Content-Length fields are refused or made one",
           sends(framed("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"))
               .refused()
               .or_else()
               .passes()
               .asked_with("Content-Length", "3")),
      must("9112 6.3", "a list of equal Content-Lengths is refused or made one",
           sends(framed("Content-Length: 3, 3\r\n", "abc"))
               .refused()
               .or_else()
               .passes()
               .asked_with("Content-Length", "3")),
      ours("equal Content-Length fields are refused",
           sends(framed("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"))
               .refused()
               .untouched()
               .closed()),
      ours("a list of equal Content-Lengths is refused",
           sends(framed("Content-Length: 3, 3\r\n", "abc")).refused().untouched().closed()),
      must("9110 8.6", "a Content-Length with leading zeros is a number like others",
           sends(framed("Content-Length: 0003\r\n", "abc")).passes().asked_body("abc")),
      must("9112 6.2", "as many bytes belong to the body as Content-Length says",
           sends(post("abc")).passes().asked_body("abc").open()),
      must("9112 6.2", "what follows the body is the next request",
           sends(post("abc") + post("defg")).statuses({200, 200}).requests(2).asked_body("abc")),
      must("9112 6.2", "a body that looks like a request is none",
           sends(post(smuggled())).passes().asked_body(smuggled()).open()),
      must("9112 6.3", "a request without framing has no body",
           sends(framed("", smuggled()))
               .answered(ok("post"))
               .answered(ok("get"))
               .statuses({200, 200})
               .bodies({"post", "get"})
               .requests(2)
               .asked_body("")),
      must("9110 8.6", "a POST with Content-Length 0 passes without a body",
           sends(post("")).passes().asked_body("").open()),
      ours("a GET may have a body and it is not taken for a request",
           sends("GET / HTTP/1.1\r\nHost: a.example\r\nContent-Length: " +
                 std::to_string(smuggled().size()) + "\r\n\r\n" + smuggled())
               .passes()
               .asked_body(smuggled())),
      must("9112 8", "a body that breaks off never reaches the backend as a whole request",
           sends(framed("Content-Length: 10\r\n", "abc")).half_closes().requests(0)),
      must("9112 8", "a large body that breaks off never reaches the backend as a whole request",
           sends(framed("Content-Length: 200000\r\n", std::string(100'000, 'x')))
               .awaits_origin()
               .leaves()
               .requests(0)
               .satisfies([](const Observation& seen) -> std::string {
                 return seen.begun <= 1 ? "" : "the body was taken for requests";
               })),
      ours("a small body is complete before the backend hears of the request",
           sends(framed("Content-Length: 10\r\n", "abc")).half_closes().requests(0).untouched()),
      must("9112 6.2", "a body in many pieces arrives whole",
           Step().byte_by_byte(post("abcdefgh")).passes().asked_body("abcdefgh"))};
}

}  // namespace spillway::wire
