#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

// Path and query are not the proxy's to change.
Case stays(std::string sentence, const std::string& target) {
  return must("9110 7.7", std::move(sentence),
              sends(get(target)).passes().asked_method_and_target("GET " + target));
}

Case absolute(std::string sentence, const std::string& target, const std::string& asked) {
  return must("9112 3.2.2", std::move(sentence),
              sends("GET " + target + " HTTP/1.1\r\nHost: b.example\r\n\r\n")
                  .passes()
                  .asked_method_and_target("GET " + asked)
                  .asked_with("Host", "b.example"));
}

Case no_target(std::string sentence, const std::string& method_and_target) {
  return should(
      "9112 3.2", std::move(sentence),
      sends(method_and_target + " HTTP/1.1\r\nHost: a.example\r\n\r\n").refused().closed());
}

}  // namespace

std::vector<Case> target_cases() {
  return {
      stays("dots in a path stay", "/a/../b/./c"),
      stays("dots that are encoded stay", "/a/%2e%2e/b"),
      stays("an encoded slash stays", "/a%2Fb%2fc"),
      stays("slashes in a row stay", "//a///b//"),
      stays("parameters of a path stay", "/a;b=c/d;e"),
      stays("an empty query stays", "/a?"),
      stays("question marks in a query stay", "/a?b?c=/../d"),
      stays("needless encoding stays", "/%61%7e?%62"),
      stays("small and capital digits of an encoding stay", "/%c3%A4"),
      stays("an encoded question mark and an encoded hash stay", "/a%3Fb%23c"),
      stays("an encoded percent sign stays", "/100%2525"),
      stays("characters of every kind stay", "/-._~!$&'()*+,;=:@/?-._~!$&'()*+,;=:@/?"),
      ours("an encoded NUL stays",
           sends(get("/a%00b")).passes().asked_method_and_target("GET /a%00b")),
      ours("encoded line ends stay",
           sends(get("/a%0d%0aX-A:%201")).passes().asked_method_and_target("GET /a%0d%0aX-A:%201")),
      ours("a percent sign that encodes nothing stays",
           sends(get("/a%zz")).passes().asked_method_and_target("GET /a%zz")),
      absolute("an absolute target goes on as a path", "http://b.example/x", "/x"),
      must("9112 3.2.2", "the host of an absolute target counts and not Host",
           sends(get("http://b.example/x")).passes().asked_with("Host", "b.example")),
      absolute("an absolute target without a path asks for the root", "http://b.example", "/"),
      absolute("an absolute target without a path keeps its query", "http://b.example?q=1",
               "/?q=1"),
      absolute("an absolute target's path stays as it is", "http://b.example//a/../b?c",
               "//a/../b?c"),
      absolute("the scheme of an absolute target may have capitals", "HTTP://b.example/x", "/x"),
      must("9112 3.2.2", "the port of an absolute target goes on",
           sends("GET http://b.example:8080/x HTTP/1.1\r\nHost: b.example:8080\r\n\r\n")
               .passes()
               .asked_with("Host", "b.example:8080")),
      must("9112 3.2", "an absolute target does not make up for a missing Host",
           sends("GET http://b.example/ HTTP/1.1\r\n\r\n").refused()),
      must("9112 3.2", "an absolute target does not make up for two Hosts",
           sends(get("http://b.example/", "Host: b.example\r\n")).refused()),
      must("9110 4.2.1", "an absolute target with an empty host is refused",
           sends(get("http:///x")).refused()),
      should("9110 4.2.4", "an absolute target with user information is refused",
             sends(get("http://user@b.example/x")).refused()),
      ours("an absolute target of another protocol is refused",
           sends(get("ftp://b.example/x")).refused().untouched().closed()),
      ours("an absolute target with an impossible port is refused",
           sends(get("http://b.example:99999/x")).refused().untouched().closed()),
      must("9112 3.2.4", "OPTIONS with an asterisk passes as that",
           sends("OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n")
               .passes()
               .asked_method_and_target("OPTIONS *")),
      must("9112 3.2.4", "OPTIONS of an absolute target without a path asks for an asterisk",
           sends("OPTIONS http://b.example HTTP/1.1\r\nHost: b.example\r\n\r\n")
               .passes()
               .asked_method_and_target("OPTIONS *")),
      no_target("a target that does not begin with a slash is refused", "GET x/y"),
      no_target("an asterisk is no target of GET", "GET *"),
      no_target("a host and port is no target of GET", "GET a.example:80"),
      no_target("a target of two asterisks is refused", "OPTIONS **"),
      ours("a target with a fragment is refused",
           sends(get("/a#b")).refused().untouched().closed())};
}

}  // namespace spillway::wire
