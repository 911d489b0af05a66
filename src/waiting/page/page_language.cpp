#include "waiting/page/page_language.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "http/field/ascii.hpp"
#include "http/field/qvalue.hpp"
#include "waiting/page/page_assets.hpp"

namespace spillway::waiting {
namespace {

constexpr std::string_view kFallback = "en";

// Returns the part before the separator; `text` keeps the part after it.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

struct LanguageRange {
  std::string_view tag;
  int weight = 1000;
};

std::optional<LanguageRange> parse_range(std::string_view item) {
  LanguageRange range{http::trim(take_until(item, ';'))};
  if (range.tag.empty()) return std::nullopt;
  const std::string_view parameter = http::trim(item);
  if (parameter.empty()) return range;
  if (!http::istarts_with(parameter, "q=")) return std::nullopt;
  const auto weight = http::parse_qvalue(parameter.substr(2));
  if (!weight) return std::nullopt;
  range.weight = *weight;
  return range;
}

using Choice = std::vector<const PageTexts*>;

const PageTexts* find_tag(const Choice& choice, std::string_view tag) {
  const auto found = std::find_if(choice.begin(), choice.end(), [tag](const PageTexts* texts) {
    return http::iequals(texts->tag(), tag);
  });
  return found == choice.end() ? nullptr : *found;
}

// Shortens the range subtag by subtag (RFC 4647 section 3.4).
const PageTexts* look_up(const Choice& choice, std::string_view tag) {
  if (tag == "*") return choice.front();
  for (;;) {
    if (const PageTexts* const found = find_tag(choice, tag)) return found;
    const std::size_t end = tag.rfind('-');
    if (end == std::string_view::npos) return nullptr;
    tag = tag.substr(0, end);
  }
}

Choice choice_of(std::span<const std::string> allowed) {
  Choice all;
  for (const PageTexts& texts : page_languages()) all.push_back(&texts);
  Choice choice;
  for (const std::string& tag : allowed) {
    if (const PageTexts* const found = find_tag(all, tag)) choice.push_back(found);
  }
  return choice.empty() ? all : choice;
}

std::vector<PageTexts> read_languages() {
  std::vector<PageTexts> languages;
  for (const LanguageFile& file : page_assets().languages)
    languages.emplace_back(file.tag, file.text);
  std::stable_partition(languages.begin(), languages.end(),
                        [](const PageTexts& texts) { return texts.tag() == kFallback; });
  return languages;
}

}  // namespace

PageTexts::PageTexts(std::string_view tag, std::string_view lines)
    : tag_(tag), lines_(lines), for_script_(lines.substr(0, lines.find("\n\n"))) {}

std::string_view PageTexts::find(std::string_view key) const {
  std::string_view rest = lines_;
  while (!rest.empty()) {
    std::string_view line = take_until(rest, '\n');
    if (line.size() > key.size() + 2 && line.starts_with(key) && line[key.size()] == ':')
      return line.substr(key.size() + 2);
  }
  return {};
}

std::span<const PageTexts> page_languages() {
  static const std::vector<PageTexts> languages = read_languages();
  return languages;
}

const PageTexts& choose_language(std::string_view accept_language,
                                 std::span<const std::string> allowed) {
  const Choice choice = choice_of(allowed);
  const PageTexts* best = choice.front();
  int highest = 0;
  while (!accept_language.empty()) {
    const auto range = parse_range(take_until(accept_language, ','));
    if (!range || range->weight <= highest) continue;
    if (const PageTexts* const found = look_up(choice, range->tag)) {
      best = found;
      highest = range->weight;
    }
  }
  return *best;
}

}  // namespace spillway::waiting
