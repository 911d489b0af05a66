#include "config/page_template.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/base64.hpp"
#include "base/sha256.hpp"
#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

std::string document(const std::string& in_head, const std::string& in_body) {
  return "<!doctype html>\n<html lang=\"{{lang}}\">\n<head>\n{{head}}\n" + in_head +
         "\n</head>\n<body>\n{{content}}\n" + in_body + "\n</body>\n</html>\n";
}

std::string source_of(const std::string& style) {
  const Sha256 digest = sha256(style);
  return "'sha256-" + base64(std::string(digest.begin(), digest.end())) + "'";
}

// Its markup, with the numbers of the parts between.
std::string as_text(const PageTemplate& page) {
  std::string text;
  for (const PagePiece& piece : page.pieces) {
    text += piece.part == PagePart::markup
                ? piece.text
                : "[" + std::to_string(static_cast<int>(piece.part)) + "]";
  }
  return text;
}

std::string number(PagePart part) { return "[" + std::to_string(static_cast<int>(part)) + "]"; }

PageTemplate good(const std::string& text) {
  const ReadPage read = read_page_template(text);
  REQUIRE_MESSAGE(read.page.has_value(), read.problem);
  CHECK(read.problem.empty());
  return *read.page;
}

void check_refused(const std::string& text, const std::string& fragment) {
  CAPTURE(text);
  const ReadPage read = read_page_template(text);
  CHECK_FALSE(read.page.has_value());
  CHECK_MESSAGE(read.problem.find(fragment) != std::string::npos, read.problem);
}

}  // namespace

TEST_CASE("a template is its own markup, and what stands between it") {
  const PageTemplate page = good(
      "<html lang='{{lang}}'><head>{{ head }}<title>Sale: {{title}}</title></head>"
      "<body>{{content}}<p>{{position}} of {{message}}</p>{ {x} }} &lt;</body></html>");
  CHECK(as_text(page) == "<html lang='" + number(PagePart::lang) + "'><head>" +
                             number(PagePart::head) + "<title>Sale: " + number(PagePart::title) +
                             "</title></head><body>" + number(PagePart::content) + "<p>" +
                             number(PagePart::position) + " of " + number(PagePart::message) +
                             "</p>{ {x} }} &lt;</body></html>");
  CHECK(page.style_sources.empty());
}

TEST_CASE("each placeholder has its part, and there is no other") {
  const std::vector<std::pair<const char*, PagePart>> parts{{"title", PagePart::title},
                                                            {"heading", PagePart::heading},
                                                            {"sentence", PagePart::sentence},
                                                            {"position", PagePart::position},
                                                            {"ahead", PagePart::ahead},
                                                            {"estimate", PagePart::estimate},
                                                            {"waited", PagePart::waited},
                                                            {"why", PagePart::why},
                                                            {"message", PagePart::message},
                                                            {"room", PagePart::room},
                                                            {"state", PagePart::state},
                                                            {"lang", PagePart::lang},
                                                            {"dir", PagePart::dir}};
  for (const auto& [name, part] : parts) {
    const PageTemplate page = good(document("", "<p>{{" + std::string(name) + "}}</p>"));
    CHECK(as_text(page).find("<p>" + number(part) + "</p>") != std::string::npos);
  }
  check_refused(document("", "{{positon}}"), "line 9: there is no placeholder \"positon\"");
  check_refused(document("", "{{positon}}"), "did you mean \"position\"?");
  check_refused(document("", "{{}}"), "there is no placeholder");
  check_refused(document("", "{{Title}}"), "did you mean \"title\"?");
  check_refused(document("", "{{title"), "{{ without }}");
}

TEST_CASE("the place is shown once, with what it needs in the head") {
  check_refused("<p>Please wait</p>", "{{content}} is missing");
  check_refused("<!-- {{content}} --><title>{{title}}</title>", "{{content}} is missing");
  check_refused("<body>{{content}}</body>", "{{head}} is missing");
  check_refused(document("{{head}}", ""), "{{head}} for the second time");
  check_refused(document("", "{{content}}"), "{{content}} for the second time");
  check_refused("<body>{{head}}{{content}}", "{{head}} outside of <head>");
  check_refused("{{content}}{{head}}", "{{head}} outside of <head>");
  check_refused("<noscript>{{head}}</noscript>{{content}}", "{{head}} outside of <head>");
  good("{{head}}{{content}}");
}

TEST_CASE("the markup of the place does not stand where it would not be markup, or not work") {
  check_refused("<title>{{head}}</title>{{content}}", "{{head}} is markup");
  check_refused("<head>{{head}}</head><p title=\"{{content}}\">", "{{content}} is markup");
  check_refused("<head>{{head}}</head><textarea>{{content}}</textarea>", "{{content}} is markup");
  for (const std::string around :
       {"form", "button", "a", "select", "template", "svg", "noscript"}) {
    const std::string begin = "<head>{{head}}</head><" + around + "><p>";
    check_refused(begin + "{{content}}</p></" + around + ">",
                  "{{content}} within <" + around + ">");
    good(begin + "</p></" + around + ">{{content}}");
  }
}

TEST_CASE("a value stands where it is read as text: between tags, or in quotes") {
  good(document("<title>{{title}}</title>", "<p title=\"{{message}}\" class='{{state}}'>{{room}}"));
  for (const char* text :
       {"<p title={{message}}>", "<p title=x{{message}}>", "<p title= {{room}}>"})
    check_refused(document("", text), "without quotes");
  check_refused(document("", "<p {{message}}>"), "the name of an attribute");
  check_refused(document("", "<p data-{{room}}=\"\">"), "the name of an attribute");
  check_refused(document("", "<x{{room}}>"), "the name of an element");
  check_refused(document("", "<{{room}}>"), "the name of an element");
  check_refused(document("<title>a</ti{{room}}</title>", ""), "</ in a <title>");
  check_refused(document("<style>p { color: {{room}} }</style>", ""), "a placeholder in <style>");
}

TEST_CASE("where a tag, a comment or a style ends is where a browser ends it") {
  const std::string kept = "{{nothing}}";
  good(document("", "<!-- " + kept + " > -- " + kept + " -->"));
  check_refused(document("", "<!--> " + kept + " -->"), "no placeholder");
  check_refused(document("", "<!---> " + kept + " -->"), "no placeholder");
  check_refused(document("", "<!-- --!> " + kept + " -->"), "no placeholder");
  check_refused(document("", "<!-- " + kept), "a comment that does not end");
  good(document("", "<? " + kept + " ><!x " + kept + "></ " + kept + ">"));
  good(document("", "a < b <3 <"));
  good(document("", "<p title='>' data-a=\"'>\" hidden>{{title}}"));
  good(document("<style>a::after { content: '<p' '</stylex>' }</STYLE >", ""));
  check_refused(document("<style>p {}", ""), "a <style> that does not end");
  check_refused(document("", "<p title=\"x>"), "does not end");
  check_refused("{{head}}{{content}}<p class", "a tag that does not end");
}

TEST_CASE("what the page's policy would keep from working is named") {
  check_refused(document("<script>1</script>", ""), "line 5: <script>");
  check_refused(document("<SCRIPT src=\"data:x\"></SCRIPT>", ""), "<script>");
  for (const std::string element : {"iframe", "object", "embed", "base", "video", "audio", "frame"})
    check_refused(document("", "<" + element + ">"), "<" + element + ">");
  check_refused(document("", "<p style=\"color: red\">"), "style attribute");
  check_refused(document("", "<p onclick=\"x()\">"), "\"onclick\"");
  check_refused(document("", "<p ONLOAD=x>"), "\"onload\"");
  check_refused(document("<meta http-equiv=\"refresh\" content=\"5\">", ""), "http-equiv");
  check_refused(document("", "<img src=\"/logo.png\">"), "src of \"img\"");
  check_refused(document("", "<img alt=\"\" srcset=logo.png>"), "srcset of \"img\"");
  check_refused(document("<link rel=\"stylesheet\" href=\"/a.css\">", ""),
                "a style sheet as a link");
  check_refused(document("", "<img src=\"{{room}}\">"), "src of \"img\"");
  good(document("<link rel=icon href=\"data:,\">",
                "<img src=\"data:image/png;base64,AA==\" alt=\"\"><a href=\"https://example.com/\">"
                "<svg viewBox='0 0 1 1'><use href='#a'/></svg><p on>"));
}

TEST_CASE("the hash of each style is of what a browser sees") {
  const std::string first = "\np { color: red }\n/* </styl */\n";
  const std::string second = "a{}";
  const PageTemplate page =
      good(document("<style>" + first + "</style><Style media=\"all\">" + second + "</style>", ""));
  CHECK(page.style_sources == " " + source_of(first) + " " + source_of(second));
  CHECK(csp_source(first) == source_of(first));
  const PageTemplate other = good(
      "\xEF\xBB\xBF" + document("<style>\r\np { color: red }\r/* </styl */\n</style>", "\r\nx\ry"));
  CHECK(other.style_sources == " " + source_of(first));
  CHECK(as_text(other).find('\r') == std::string::npos);
  CHECK(as_text(other).starts_with("<!doctype html>"));
  CHECK(
      as_text(good("\xEF\xBB\xBF\xEF\xBB\xBF" + document("", ""))).starts_with("<!doctype html>"));
  std::string many;
  for (int n = 0; n < 16; ++n) many += "<style></style>";
  good(document(many, ""));
  check_refused(document(many + "<style></style>", ""), "more than 16");
}

TEST_CASE("a template is a text") {
  good(document("", "<p>W\xC3\xA4hrend\tSie\fwarten</p>"));
  check_refused(document("", "\xFF"), "line 9: it is not UTF-8");
  check_refused(document("", "\xC3"), "not UTF-8");
  check_refused(document("", std::string(1, '\0')), "line 9: a control character");
  check_refused(document("", "\x1b[31m"), "a control character");
  check_refused("", "{{content}} is missing");
}

TEST_CASE("the template that the manual shows is one") {
  const std::string manual = read_source("docs/waiting-room-reference.md");
  const std::size_t begin = manual.find("```html\n");
  REQUIRE(begin != std::string::npos);
  const PageTemplate page =
      good(manual.substr(begin + 8, manual.find("```", begin + 8) - begin - 8));
  CHECK(page.style_sources.starts_with(" 'sha256-"));
}

TEST_CASE("styles that load something, and referrer policies, are refused with the reason") {
  for (const std::string rule :
       {"@import 'a.css';", "p { background: url(/a.png) }", "p { background: URL( \"a.png\" ) }",
        "@font-face { src: url('https://a.example/f') }"})
    check_refused(document("<style>" + rule + "</style>", ""), "an address in <style>");
  check_refused(document("<link rel=\"StyleSheet\" href=\"data:text/css,p{}\">", ""),
                "a style sheet as a link");
  check_refused(document("<meta name=\"Referrer\" content=\"no-referrer\">", ""),
                "a referrer policy");
  check_refused(document("", "<a referrerpolicy=\"no-referrer\" href=\"/\">x</a>"),
                "a referrer policy");
  good(
      document("<style>p { background: url(data:image/png;base64,AA) } a { mask: url(#m) }</style>"
               "<meta name=\"theme-color\" content=\"#003\"><link rel=\"icon\" href=\"data:,\">",
               ""));
}

}  // namespace spillway::config
