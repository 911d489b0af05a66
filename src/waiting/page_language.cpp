#include "waiting/page_language.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "waiting/page_assets.hpp"

namespace spillway::waiting {
namespace {

constexpr std::string_view kFallback = "en";

bool is_space(char c) { return c == ' ' || c == '\t'; }

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_same_tag(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// What stands before the separator; `text` keeps what stands after it.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

// In thousandths: "0.8" is 800 (RFC 9110 section 12.4.2).
std::optional<int> parse_weight(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int weight = (text[0] - '0') * 1000;
  int unit = 100;
  for (const char digit : text.substr(std::min<std::size_t>(2, text.size()))) {
    if (digit < '0' || digit > '9') return std::nullopt;
    weight += (digit - '0') * unit;
    unit /= 10;
  }
  return weight <= 1000 ? std::optional(weight) : std::nullopt;
}

struct LanguageRange {
  std::string_view tag;
  int weight = 1000;
};

std::optional<LanguageRange> parse_range(std::string_view item) {
  LanguageRange range{without_spaces(take_until(item, ';'))};
  if (range.tag.empty()) return std::nullopt;
  const std::string_view parameter = without_spaces(item);
  if (parameter.empty()) return range;
  if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) return std::nullopt;
  const auto weight = parse_weight(parameter.substr(2));
  if (!weight) return std::nullopt;
  range.weight = *weight;
  return range;
}

using Choice = std::vector<const PageTexts*>;

const PageTexts* find_tag(const Choice& choice, std::string_view tag) {
  const auto found = std::find_if(choice.begin(), choice.end(), [tag](const PageTexts* texts) {
    return is_same_tag(texts->tag(), tag);
  });
  return found == choice.end() ? nullptr : *found;
}

// A shorter and shorter range, subtag by subtag.
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
