#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

// A head that is not of the grammar: 400, and the connection is closed.
Case no_field(std::string sentence, const std::string& line) {
  return should("9112 2.2", std::move(sentence), sends(get("/", line + "\r\n")).refused().closed());
}

// Never passed on: refused, or made harmless.
Case no_character(std::string sentence, const std::string& line) {
  return must("9110 5.5", std::move(sentence),
              sends(get("/", line + "\r\n")).refused().or_else().passes());
}

Case stays(std::string sentence, const std::string& value) {
  return must("9110 5.5", std::move(sentence),
              sends(get("/", "X-A: " + value + "\r\n")).passes().asked_with("X-A", value));
}

}  // namespace

std::vector<Case> field_cases() {
  const std::string nul(1, '\0');
  return {
      must("9112 5.1", "a space before the colon is refused",
           sends(get("/", "X-A : 1\r\n")).refused()),
      must("9112 5.1", "a tab before the colon is refused",
           sends(get("/", "X-A\t: 1\r\n")).refused()),
      must("9112 5.1", "a space before the colon of Content-Length is refused",
           sends(framed("Content-Length : 3\r\n", "abc")).refused().closed()),
      must(
          "9112 5.2", "a folded value is refused or unfolded",
          sends(get("/", "X-A: 1\r\n 2\r\n")).refused().or_else().passes().asked_part("X-A", "1 ")),
      must("9112 5.2", "a value folded with a tab is refused or unfolded",
           sends(get("/", "X-A: 1\r\n\t2\r\n"))
               .refused()
               .or_else()
               .passes()
               .asked_part("X-A", "1 ")),
      must("9112 5.2", "a folded Host is refused or unfolded",
           sends("GET / HTTP/1.1\r\nHost:\r\n a.example\r\nX-A: 1\r\n\r\n")
               .refused()
               .or_else()
               .passes()
               .asked_with("Host", "a.example")),
      ours("a folded value is refused",
           sends(get("/", "X-A: 1\r\n 2\r\n")).refused().untouched().closed()),
      must("9112 2.2", "white space before the first field is refused or passed over",
           sends("GET / HTTP/1.1\r\n Host: a.example\r\nHost: b.example\r\n\r\n")
               .refused()
               .or_else()
               .passes()
               .asked_with("Host", "b.example")),
      must("9112 2.2", "white space before the first field hides no framing",
           sends("POST / HTTP/1.1\r\n Transfer-Encoding: chunked\r\nHost: a.example\r\n"
                 "Content-Length: 5\r\n\r\n0\r\n\r\n")
               .refused()
               .or_else()
               .passes()
               .asked_body("0\r\n\r\n")),
      no_character("a NUL in a value does not go on", "X-A: 1" + nul + "2"),
      no_character("a NUL at the end of a value does not go on", "X-A: 1" + nul),
      no_character("a bare CR in a value does not go on", "X-A: 1\r2"),
      no_character("a bare CR before the line end does not go on", "X-A: 1\r"),
      no_character("a bare line feed in a value does not go on", "X-A: 1\nX-B: 2"),
      ours("a NUL in a value is refused",
           sends(get("/", "X-A: 1" + nul + "2\r\n")).refused().untouched().closed()),
      ours("a bare CR in a value is refused",
           sends(get("/", "X-A: 1\r2\r\n")).refused().untouched().closed()),
      ours("a bare line feed in a value is refused",
           sends(get("/", "X-A: 1\nX-B: 2\r\n")).refused().untouched().closed()),
      ours("a bare line feed instead of the empty line is refused",
           sends("GET / HTTP/1.1\r\nHost: a.example\r\n\n" + smuggled())
               .refused()
               .untouched()
               .closed()),
      ours("bare line feeds throughout are refused",
           sends("GET / HTTP/1.1\nHost: a.example\n\n").refused().untouched().closed()),
      ours("a control character in a value is refused",
           sends(get("/", "X-A: 1\x01\r\n")).refused().untouched().closed()),
      ours("a DEL in a value is refused",
           sends(get("/", "X-A: 1\x7f\r\n")).refused().untouched().closed()),
      ours("an escape in a value is refused",
           sends(get("/", "X-A: \x1b[31m\r\n")).refused().untouched().closed()),
      no_field("a line without a colon is refused", "nonsense"),
      no_field("a field without a name is refused", ": x"),
      no_field("a name with a space is refused", "X A: 1"),
      no_field("a name with a NUL is refused", "X" + nul + "A: 1"),
      no_field("a name with a control character is refused",
               "X\x01"
               "A: 1"),
      no_field("a name with a bracket is refused", "X(A): 1"),
      no_field("a name with a slash is refused", "X/A: 1"),
      no_field("a name with a quote is refused", "X\"A: 1"),
      no_field("a name with a letter beyond ASCII is refused", "X-\xc3\xa4: 1"),
      no_field("a name that begins with a space inside the head is refused", "X-B: 1\r\n X-A : 1"),
      must("9110 5.1", "field names are the same in any case",
           sends("POST / HTTP/1.1\r\nhOST: a.example\r\ncontent-LENGTH: 3\r\n\r\nabc")
               .passes()
               .asked_body("abc")
               .asked_with("Host", "a.example")),
      must("9112 5.1", "a field needs no space behind its colon",
           sends(get("/", "X-A:1\r\n")).passes().asked_with("X-A", "1")),
      must("9112 5.1", "white space around a value is none of it",
           sends(get("/", "X-A: \t 1 \t \r\n")).passes().asked_with("X-A", "1")),
      stays("spaces within a value stay", "1  2   3"),
      stays("a tab within a value stays", "1\t2"),
      stays("bytes beyond ASCII in a value stay", "\xc3\xa4\xff\x80"),
      stays("quotes and commas in a value stay", "\"a, \\\"b\", c;d=\"e\""),
      stays("colons in a value stay", ":a::b:"),
      stays("an empty value stays", ""),
      ours("a value of 7000 bytes goes on",
           sends(get("/", "X-A: " + std::string(7000, 'x') + "\r\n"))
               .passes()
               .asked_with("X-A", std::string(7000, 'x'))),
      ours("a name with all the characters of a token goes on",
           sends(get("/", "X!#$%&'*+-.^_`|~09: 1\r\n"))
               .passes()
               .asked_with("X!#$%&'*+-.^_`|~09", "1"))};
}

}  // namespace spillway::wire
