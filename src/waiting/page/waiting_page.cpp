#include "waiting/page/waiting_page.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "waiting/page/page_assets.hpp"
#include "waiting/page/page_language.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {
namespace {

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::array<std::string_view, 11> kStates{"arrived",   "offered", "waiting",  "processing",
                                                   "fulfilled", "full",    "closed",   "expired",
                                                   "cancelled", "ended",   "elsewhere"};

bool is_comment(std::string_view line) {
  return line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/")) ||
         (line.starts_with("<!-- ") && line.ends_with("-->"));
}

// Removes indentation, and lines that have only a comment.
std::string lightened(std::string_view text) {
  std::string light;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.empty() && !is_comment(line)) light.append(line).append("\n");
  }
  return light;
}

std::string escaped(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': html += "&amp;"; break;
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '"': html += "&quot;"; break;
      case '\'': html += "&#39;"; break;
      default:
        // no control character is allowed in HTML, except the line end
        if ((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\n') html += c;
    }
  }
  return html;
}

// `text` with each {{name}} replaced by value(name), or left as it is if that is nullopt. Inserted
// text is not searched for placeholders.
template <class Value>
std::string fill_in(std::string_view text, const Value& value) {
  std::string filled;
  for (;;) {
    const std::size_t begin = text.find("{{");
    const std::size_t end = begin == std::string_view::npos ? begin : text.find("}}", begin);
    if (end == std::string_view::npos) break;
    const std::string_view name = text.substr(begin + 2, end - begin - 2);
    filled.append(text.substr(0, begin));
    const std::optional<std::string> found = value(name);
    if (found) {
      filled += *found;
    } else {
      filled.append(text.substr(begin, end + 2 - begin));
    }
    text.remove_prefix(end + 2);
  }
  return filled.append(text);
}

// Placeholders of a text: {a}, {b}, {n}.
std::string fill_text(std::string_view text, char name, std::string_view value) {
  const std::string placeholder{'{', name, '}'};
  std::string filled(text);
  const std::size_t at = filled.find(placeholder);
  if (at != std::string::npos) filled.replace(at, placeholder.size(), value);
  return filled;
}

const std::string& script() {
  static const std::string js = lightened(page_assets().js);
  return js;
}

const std::string& work_script() {
  static const std::string js = lightened(page_assets().work);
  return js;
}

const std::string& style() {
  static const std::string css = lightened(page_assets().css);
  return css;
}

// The page's own markup in one language: it only lacks the parts that differ between visitors.
struct OwnParts {
  const PageTexts* texts;
  std::string head;
  std::string content;
};

std::vector<OwnParts> make_own_parts() {
  std::vector<OwnParts> all;
  for (const PageTexts& texts : page_languages()) {
    const auto value = [&texts](std::string_view name) -> std::optional<std::string> {
      if (name == "css") return style();
      if (name == "js") return script();
      if (name == "lang") return std::string(texts.tag());
      if (name == "texts") return escaped(texts.for_script());
      const std::string_view text = texts.find(name);
      return text.empty() || name == "title" ? std::nullopt : std::optional(escaped(text));
    };
    all.push_back({&texts, fill_in(lightened(page_assets().head), value),
                   fill_in(lightened(page_assets().content), value)});
  }
  return all;
}

const OwnParts& own_parts_of(const PageTexts& texts) {
  static const std::vector<OwnParts> all = make_own_parts();
  return *std::find_if(all.begin(), all.end(),
                       [&texts](const OwnParts& each) { return each.texts == &texts; });
}

// A unit test shows that this template can be read.
const config::PageTemplate& built_in_page() {
  static const config::PageTemplate page =
      config::read_page_template(lightened(page_assets().html)).page.value();
  return page;
}

// The page's content for one visitor. The script shows the same; see page.js.
class Filling {
 public:
  Filling(const PageContent& content, const PageTexts& texts) : content_(content), texts_(texts) {
    const bool is_known = std::find(kStates.begin(), kStates.end(), content.state) != kStates.end();
    state_ = is_known ? content.state : kStates.front();
    if (state_ == "cancelled" && !content.reason.empty() && content.reason != "cancelled")
      state_ = "expired";
    place_ = state_ == "waiting" && content.ahead ? grouped(*content.ahead + 1) : "";
  }

  std::string operator()(config::PagePart part) const {
    using Part = config::PagePart;
    const OwnParts& own = own_parts_of(texts_);
    switch (part) {
      case Part::markup: break;  // is not filled in
      case Part::head: return fill_in(own.head, *this);
      case Part::content: return fill_in(own.content, *this);
      case Part::title: return escaped(title());
      case Part::heading: return of_state("h_");
      case Part::sentence: return sentence();
      case Part::position: return escaped(place_);
      case Part::ahead: return ahead();
      case Part::estimate: return state_ == "waiting" ? escaped(expected()) : "";
      case Part::waited: return state_ == "waiting" ? escaped(waited()) : "";
      case Part::why: return escaped(why());
      case Part::message: return escaped(content_.message);
      case Part::room: return escaped(content_.room);
      case Part::state: return std::string(state_);
      case Part::lang: return std::string(texts_.tag());
      case Part::dir: return escaped(texts_.find("dir"));
    }
    return {};
  }

  std::optional<std::string> operator()(std::string_view name) const {
    if (name == "state") return std::string(state_);
    if (name == "title") return escaped(title());
    if (name == "heading") return of_state("h_");
    if (name == "sentence") return sentence();
    if (name == "path") return escaped(content_.status_path);
    if (name == "poll") return std::to_string(std::max<std::int64_t>(content_.poll.count(), 1'000));
    if (name == "room") return escaped(content_.room);
    if (name == "message") return escaped(content_.message);
    if (name == "why") return escaped(why());
    if (name == "begins_in") return begins();
    if (name == "number_label") return escaped(texts_.find(is_before_draw() ? "begins" : "place"));
    if (name == "number") return escaped(is_before_draw() ? begins_within() : place_);
    if (name == "ahead_value") return ahead();
    if (name == "expected_value") return escaped(expected());
    if (name == "waited_value") return escaped(waited());
    if (name == "no_more") return content_.extensions > 0 ? "" : " hidden";
    if (name == "refresh") return refresh();
    if (name == "reloading") return reloading();
    if (name == "offer") return offer();
    if (name == "reserve_form") return reserve();
    if (name == "keep_open") return is_reserved() ? "" : escaped(texts_.find("keep"));
    if (name == "work_bits")
      return content_.challenge ? std::to_string(content_.challenge->work_bits) : "";
    if (name == "work_prefix") return content_.challenge ? content_.challenge->prefix() : "";
    if (name == "work_script")
      return content_.challenge ? "<script>" + work_script() + "</script>" : "";
    if (name == "scripts_needed") return scripts_needed();
    return std::nullopt;
  }

 private:
  std::string of_state(std::string key) const { return escaped(texts_.find(key.append(said()))); }

  std::string sentence() const {
    const std::string_view why =
        state_ == "expired" ? texts_.find("e_" + std::string(content_.reason)) : "";
    return why.empty() ? of_state("p_") : escaped(why);
  }

  // The state as in the keys of texts: an arrival that requires work is "checking".
  std::string_view said() const {
    return state_ == "arrived" && content_.challenge ? "checking" : state_;
  }

  std::string title() const {
    if (place_.empty()) return std::string(texts_.find("h_" + std::string(said())));
    return fill_text(texts_.find("title"), 'n', place_);
  }

  std::string grouped(std::size_t number) const {
    std::string digits = std::to_string(number);
    if (number < 10'000) return digits;
    for (std::size_t at = digits.size(); at > 3; at -= 3)
      digits.insert(at - 3, texts_.find("group"));
    return digits;
  }

  std::string ahead() const { return place_.empty() ? "" : escaped(grouped(*content_.ahead)); }

  std::string expected() const {
    if (!content_.p10 || !content_.p90) return std::string(texts_.find("unknown"));
    const std::int64_t low = std::max<std::int64_t>(content_.p10->count(), 0);
    const std::int64_t high = content_.p90->count();
    if (high <= kMinute) return std::string(texts_.find("soon"));
    const bool in_hours = high >= 3 * kHour;
    const std::int64_t unit = in_hours ? kHour : kMinute;
    const std::string a = std::to_string(std::max<std::int64_t>(low / unit, 1));
    const std::string b = std::to_string((high + unit - 1) / unit);
    if (a == b) return fill_text(texts_.find(in_hours ? "hours" : "minutes"), 'a', a);
    return fill_text(fill_text(texts_.find(in_hours ? "range_h" : "range"), 'a', a), 'b', b);
  }

  std::string waited() const { return lasting(content_.waited.value_or(Milliseconds(0))); }

  std::string lasting(Milliseconds time) const {
    if (time.count() < kMinute) return std::string(texts_.find("soon"));
    const bool in_hours = time.count() >= 3 * kHour;
    return fill_text(texts_.find(in_hours ? "hours" : "minutes"), 'a',
                     std::to_string(time.count() / (in_hours ? kHour : kMinute)));
  }

  std::string why() const {
    if (content_.why.empty()) return "";
    return fill_text(texts_.find(content_.why), 'n', begins_within());
  }

  // The visitor has no place yet.
  bool is_before_draw() const { return content_.begins_in && place_.empty(); }

  std::string begins_within() const {
    return lasting(content_.begins_in.value_or(Milliseconds(0)));
  }

  std::string begins() const {
    if (!content_.begins_in) return "";
    return std::to_string(std::max<std::int64_t>(content_.begins_in->count(), 0));
  }

  // A reload must not put a visitor in line again that has left or lost its place.
  bool can_refresh() const {
    return state_ != "expired" && state_ != "cancelled" && state_ != "ended";
  }

  std::string refresh_seconds() const {
    const Milliseconds every = std::max(content_.poll, kPageReload);
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(every).count());
  }

  std::string refresh() const {
    if (!can_refresh() || !content_.refreshes) return "";
    return "<noscript><meta http-equiv=\"refresh\" content=\"" + refresh_seconds() +
           "\"></noscript>";
  }

  std::string reloading() const {
    if (!can_refresh() || is_reserved()) return "";
    const bool on = content_.refreshes;
    const std::string_view says = texts_.find(on ? "reloads" : "still");
    std::string form = "<noscript><form method=\"post\" action=\"" + escaped(content_.status_path);
    form.append(on ? "/refresh/off" : "/refresh/on").append("\"><p class=\"keep\">");
    form.append(escaped(fill_text(says, 'n', refresh_seconds()))).append("</p><button>");
    form.append(escaped(texts_.find(on ? "reloads_off" : "reloads_on")));
    return form.append("</button></form></noscript>");
  }

  std::string scripts_needed() const {
    if (!content_.challenge) return "";
    return "<noscript><p>" + escaped(texts_.find("no_scripts")) + "</p></noscript>";
  }

  // The form that takes a place, with and without scripts.
  std::string offer() const {
    if (state_ != "offered" || content_.offer.empty()) return "";
    std::string form = "<form class=\"offer\" method=\"post\" action=\"";
    form.append(escaped(content_.status_path)).append("/join\"><input type=\"hidden\" name=\"");
    form.append(kOfferField).append("\" value=\"").append(escaped(content_.offer));
    if (content_.challenge)
      form.append("\"><input type=\"hidden\" name=\"").append(kWorkField).append("\" value=\"");
    return form.append("\"><button>").append(escaped(texts_.find("take"))) + "</button></form>";
  }

  bool is_reserved() const { return content_.reservation.state == Reservation::State::made; }

  // The script shows the one of the two whose member of the status is true.
  std::string reserve() const {
    if (content_.reservation.state == Reservation::State::none) return "";
    const auto unless = [this](Reservation::State shown) {
      return content_.reservation.state == shown ? ">" : " hidden>";
    };
    const auto about = [this](std::string_view key) {
      return escaped(fill_text(texts_.find(key), 'a', lasting(content_.reservation.claim))) +
             "</p>";
    };
    std::string html = "<form class=\"away\" data-when=\"may_reserve\" method=\"post\" action=\"";
    html.append(escaped(content_.status_path)).append("/reserve\"");
    html.append(unless(Reservation::State::open)).append("<p>").append(about("reserve_about"));
    html.append("<button>").append(escaped(texts_.find("reserve"))).append("</button></form>");
    html.append("<p class=\"away note\" data-when=\"reserved\"")
        .append(unless(Reservation::State::made));
    return html.append(about("reserved"));
  }

  const PageContent& content_;
  const PageTexts& texts_;
  std::string_view state_;
  std::string place_;
};

}  // namespace

std::string waiting_page(const PageContent& content) {
  const PageTexts& texts = choose_language(content.accept_language, content.languages);
  const Filling filling(content, texts);
  const config::PageTemplate& page = content.page != nullptr ? *content.page : built_in_page();
  std::string html;
  for (const config::PagePiece& piece : page.pieces) {
    if (piece.part == config::PagePart::markup) {
      html += piece.text;
    } else {
      html += filling(piece.part);
    }
  }
  return html;
}

std::string_view waiting_page_language(const PageContent& content) {
  return choose_language(content.accept_language, content.languages).tag();
}

std::string waiting_page_csp(const config::PageTemplate* page, bool takes_work) {
  static const std::string styles = "default-src 'none'; style-src " + config::csp_source(style());
  static const std::string scripts = "; script-src " + config::csp_source(script());
  static const std::string work = " " + config::csp_source(work_script());
  static const std::string others =
      "; connect-src 'self'; img-src data:; font-src data:; base-uri 'none'; form-action 'self'; "
      "frame-ancestors 'none'";
  std::string csp = styles;
  if (page != nullptr) csp += page->style_sources;
  csp += scripts;
  if (takes_work) csp += work;
  return csp += others;
}

}  // namespace spillway::waiting
