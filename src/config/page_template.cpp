#include "config/page_template.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/base64.hpp"
#include "base/sha256.hpp"
#include "base/shown_text.hpp"
#include "config/problem.hpp"

namespace spillway::config {
namespace {

constexpr std::string_view kBlank = " \t\n\f";
constexpr std::string_view kAfterName = " \t\n\f/>";
constexpr std::size_t kMaxStyles = 16;  // their hashes go into one response field

// The names of PagePart, from `head` on.
const std::vector<std::string>& part_names() {
  static const std::vector<std::string> names{
      "head",   "content", "title",   "heading", "sentence", "position", "ahead", "estimate",
      "waited", "why",     "message", "room",    "state",    "lang",     "dir"};
  return names;
}

// The page's policy makes them useless, or their contents are not markup.
constexpr std::array<std::string_view, 14> kUseless{
    "base",  "iframe", "frame", "frameset",  "object", "embed",   "applet",
    "audio", "video",  "track", "plaintext", "xmp",    "noembed", "noframes"};
// A form in a form, or a button in a button, is ignored; the others change how {{content}} shows.
constexpr std::array<std::string_view, 7> kNotAround{"form",     "button", "a",       "select",
                                                     "template", "svg",    "noscript"};
constexpr std::array<std::string_view, 4> kLoading{"src", "srcset", "poster", "background"};
constexpr std::array<std::string_view, 4> kLoadingLinks{"link", "image", "use", "feimage"};

template <std::size_t size>
bool is_of(const std::array<std::string_view, size>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool is_style(std::string_view relations) {
  return in_lower_case(relations).find("stylesheet") != std::string::npos;
}

// Whether a <style> refers to something outside itself and the page.
bool loads_something(std::string_view style) {
  const std::string rules = in_lower_case(style);
  if (rules.find("@import") != rules.npos) return true;
  for (std::size_t at = rules.find("url("); at != rules.npos; at = rules.find("url(", at + 1)) {
    const std::size_t begin = rules.find_first_not_of(" \t\n\f\"'", at + 4);
    const std::string_view address = std::string_view(rules).substr(std::min(begin, rules.size()));
    if (!address.starts_with("data:") && !address.starts_with("#")) return true;
  }
  return false;
}

std::string line_of(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  return "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
}

// Empty if it is a text; otherwise why it is not.
std::string why_no_text(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_character(text.substr(at));
    if (next.bytes == 0) return line_of(text, at) + ": it is not UTF-8";
    const bool is_control = next.code < 0x20 && kBlank.find(text[at]) == kBlank.npos;
    if (is_control && text[at] != '\r') return line_of(text, at) + ": a control character";
    at += next.bytes;
  }
  return {};
}

// The text as a browser sees and hashes it: without a byte order mark, each line end a line feed
// (HTML section 13.2.3.5). If there were several marks, the next one would be sent as content.
std::string as_seen(std::string_view text) {
  while (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string seen;
  seen.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\r') {
      seen += text[at];
    } else if (at + 1 == text.size() || text[at + 1] != '\n') {
      seen += '\n';
    }
  }
  return seen;
}

// Walks over the markup as a browser does (HTML section 13.2.5), as far as needed to find texts,
// attributes and styles.
class PageReader {
 public:
  explicit PageReader(std::string_view text) : text_(text) {}

  ReadPage read() {
    while (at_ < text_.size() && problem_.empty()) step();
    if (contents_ == 0) fail("{{content}} is missing, which shows the place");
    if (heads_ == 0) fail("{{head}} is missing in <head>: without it {{content}} does not work");
    if (!problem_.empty()) return {std::nullopt, std::move(problem_)};
    keep_markup();
    return {std::move(page_), {}};
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  // Advances to the next of these characters, or to the end.
  void go_to(std::string_view characters) {
    at_ = std::min(text_.find_first_of(characters, at_), text_.size());
  }
  void go_past(std::string_view characters) {
    at_ = std::min(text_.find_first_not_of(characters, at_), text_.size());
  }

  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = line_of(text_, std::min(at_, text_.size())) + ": " + what;
  }

  void step() {
    if (starts("{{")) return placeholder(true);
    if (starts("<{{")) return fail("a placeholder in the name of an element");
    if (starts("<!--")) return comment();
    const bool is_end = starts("</");
    const std::size_t name = at_ + (is_end ? 2 : 1);
    if (text_[at_] == '<' && name < text_.size() && is_letter(text_[name])) return tag();
    if (is_end || starts("<!") || starts("<?")) return go_to(">");
    ++at_;
  }

  void comment() {
    const std::size_t begin = at_ + 4;
    const std::string_view rest = text_.substr(begin);
    const bool is_empty = rest.starts_with(">") || rest.starts_with("->");
    const std::size_t end =
        is_empty ? begin : std::min(text_.find("-->", begin), text_.find("--!>", begin));
    if (end == text_.npos) return fail("a comment that does not end");
    at_ = text_.find('>', end) + 1;
  }

  void tag() {
    const bool is_end = starts("</");
    at_ += is_end ? 2 : 1;
    const std::size_t begin = at_;
    go_to(kAfterName);
    const std::string name = in_lower_case(text_.substr(begin, at_ - begin));
    if (name.find("{{") != name.npos) fail("a placeholder in the name of an element");
    if (!is_end) check_element(name);
    while (problem_.empty() && attribute(name)) continue;
    if (!problem_.empty()) return;
    if (!is_end) return opened(name);
    if (within_ == name) within_.clear();
  }

  // Reads one attribute. False: there are no more, and the tag has ended.
  bool attribute(std::string_view element) {
    go_past(" \t\n\f/");
    if (at_ == text_.size()) fail("a tag that does not end");
    if (at_ == text_.size() || text_[at_++] == '>') return false;
    const std::size_t begin = at_ - 1;
    go_to(" \t\n\f/>=");
    const std::string name = in_lower_case(text_.substr(begin, at_ - begin));
    if (name.find("{{") != name.npos) fail("a placeholder in the name of an attribute");
    const std::size_t next = text_.find_first_not_of(kBlank, at_);
    const bool has_value = next != text_.npos && text_[next] == '=';
    if (has_value) at_ = next + 1;
    check_attribute(element, name, has_value ? value() : std::string_view{});
    return problem_.empty();
  }

  std::string_view value() {
    go_past(kBlank);
    const std::size_t begin = at_;
    if (!starts("\"") && !starts("'")) {
      go_to(" \t\n\f>");
      const std::string_view bare = text_.substr(begin, at_ - begin);
      if (bare.find("{{") != bare.npos) fail("a placeholder in an attribute without quotes");
      return bare;
    }
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote && problem_.empty()) next_of_text();
    const std::string_view quoted = text_.substr(begin + 1, at_ - begin - 1);
    if (at_ == text_.size()) fail("an attribute that does not end");
    at_ = std::min(at_ + 1, text_.size());
    return quoted;
  }

  // For contents without markup, where everything is text.
  void next_of_text() {
    if (starts("{{")) return placeholder(false);
    ++at_;
  }

  void check_element(const std::string& name) {
    if (name == "script") fail("<script>: the page runs no script but that of {{content}}");
    if (is_of(kUseless, name)) fail("<" + name + ">: the page's policy keeps it from working");
  }

  void check_attribute(std::string_view element, const std::string& name, std::string_view given) {
    if (name == "style") fail("a style attribute, which has no effect: write a rule in <style>");
    if (name.size() > 2 && name.starts_with("on"))
      fail(shown(name) + ": the page runs no script but that of {{content}}");
    if (name == "http-equiv") fail("http-equiv: {{head}} and the response's fields have it");
    // The page's forms return to the page that they were sent from, by the Referer.
    const bool is_policy =
        element == "meta" && name == "name" && in_lower_case(given) == "referrer";
    if (is_policy || name == "referrerpolicy") fail("a referrer policy: the response has one");
    if (element == "link" && name == "rel" && is_style(given))
      fail("a style sheet as a link: write its rules in <style>");
    const bool is_link = name == "href" || name == "xlink:href";
    const bool loads = is_of(kLoading, name) || (is_link && is_of(kLoadingLinks, element));
    const bool is_within = given.starts_with("data:") || (is_link && given.starts_with("#"));
    if (loads && !is_within)
      fail(name + " of " + shown(element) +
           ": the page loads nothing, so write it out as a data: URL");
  }

  void opened(const std::string& name) {
    if (name == "style") return style();
    if (name == "title" || name == "textarea") return text_alone(name);
    if (name == "body") is_in_body_ = true;
    if (within_.empty() && is_of(kNotAround, name)) within_ = name;
  }

  // For an element that contains no other elements: the position of its end tag.
  std::size_t end_of(const std::string& name) {
    for (std::size_t at = text_.find("</", at_); at != text_.npos; at = text_.find("</", at + 2)) {
      const std::string_view rest = text_.substr(at + 2);
      if (rest.size() > name.size() && in_lower_case(rest.substr(0, name.size())) == name &&
          kAfterName.find(rest[name.size()]) != kAfterName.npos)
        return at;
    }
    fail("a <" + name + "> that does not end");
    return text_.size();
  }

  void style() {
    const std::size_t end = end_of("style");
    const std::string_view rules = text_.substr(at_, end - at_);
    if (rules.find("{{") != rules.npos) fail("a placeholder in <style>");
    if (loads_something(rules))
      fail("an address in <style>: the page loads nothing, so write it out as a data: URL");
    if (++styles_ > kMaxStyles) fail("more than " + std::to_string(kMaxStyles) + " <style>");
    page_.style_sources.append(" ").append(csp_source(rules));
    at_ = end;
  }

  void text_alone(const std::string& name) {
    const std::size_t end = end_of(name);
    // With a value after it, it could become the end tag.
    if (text_.substr(at_, end - at_).find("</") != text_.npos)
      fail("</ in a <" + name + ">, in which there are no tags");
    while (at_ < end && problem_.empty()) next_of_text();
  }

  // `takes_markup`: the placeholder is between tags, where markup is allowed.
  void placeholder(bool takes_markup) {
    const std::size_t end = text_.find("}}", at_);
    if (end == text_.npos) return fail("{{ without }}");
    std::string_view name = text_.substr(at_ + 2, end - at_ - 2);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    const std::vector<std::string>& names = part_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      return fail("there is no placeholder " + shown(name) + suggestion(name, names));
    const auto part = static_cast<PagePart>(1 + (found - names.begin()));
    const bool is_markup = part == PagePart::head || part == PagePart::content;
    if (is_markup && !takes_markup)
      return fail("{{" + *found + "}} is markup, which cannot stand here");
    if (part == PagePart::head) check_head();
    if (part == PagePart::content) check_content();
    keep_markup();
    page_.pieces.push_back({part, {}});
    at_ = kept_ = end + 2;
  }

  void check_head() {
    if (heads_++ > 0) fail("{{head}} for the second time");
    if (is_in_body_ || contents_ > 0 || !within_.empty()) fail("{{head}} outside of <head>");
  }

  void check_content() {
    if (contents_++ > 0) fail("{{content}} for the second time");
    if (!within_.empty()) fail("{{content}} within <" + within_ + ">, where it does not work");
  }

  void keep_markup() {
    if (at_ > kept_)
      page_.pieces.push_back({PagePart::markup, std::string(text_.substr(kept_, at_ - kept_))});
    kept_ = at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t kept_ = 0;  // everything before it has been added to the pieces
  PageTemplate page_;
  std::string problem_;
  std::string within_;  // an element of kNotAround that is still open
  bool is_in_body_ = false;
  std::size_t styles_ = 0;
  std::size_t heads_ = 0;
  std::size_t contents_ = 0;
};

}  // namespace

ReadPage read_page_template(std::string_view text) {
  if (std::string why = why_no_text(text); !why.empty()) return {std::nullopt, std::move(why)};
  return PageReader(as_seen(text)).read();
}

std::string csp_source(std::string_view text) {
  const Sha256 digest = sha256(text);
  return "'sha256-" + base64(std::string(digest.begin(), digest.end())) + "'";
}

}  // namespace spillway::config
