#include "waiting/page/page_language.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "waiting/page/page_assets.hpp"

using namespace spillway::waiting;

namespace {

std::string chosen(std::string_view accept, const std::vector<std::string>& allowed = {}) {
  return std::string(choose_language(accept, allowed).tag());
}

std::set<std::string> keys_of(std::string_view file) {
  std::set<std::string> keys;
  while (!file.empty()) {
    const std::string_view line = file.substr(0, file.find('\n'));
    if (!line.empty()) {
      CHECK_MESSAGE(line.find(": ") != std::string_view::npos, line);
      CHECK_MESSAGE(keys.insert(std::string(line.substr(0, line.find(": ")))).second, line);
    }
    file.remove_prefix(std::min(line.size() + 1, file.size()));
  }
  return keys;
}

// {a}, {b} and {n}, as often as they stand in it.
std::multiset<char> placeholders(std::string_view text) {
  std::multiset<char> found;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    REQUIRE(at + 2 < text.size());
    CHECK(text[at + 2] == '}');
    found.insert(text[at + 1]);
  }
  return found;
}

}  // namespace

TEST_CASE("the language of the highest weight is chosen, the first of several") {
  CHECK(chosen("de") == "de");
  CHECK(chosen("de;q=0.5, fr;q=0.8, es;q=0.7") == "fr");
  CHECK(chosen("es, fr") == "es");
  CHECK(chosen("it, ar;q=0.3, de;q=0.2") == "ar");
  CHECK(chosen("de;q=0.501, fr;q=0.502") == "fr");
  CHECK(chosen(" de ; q=0.1 ,\tes ;q=0.2") == "es");
  CHECK(chosen("de;Q=0.2,fr;q=1.000") == "fr");
}

TEST_CASE("a language of weight 0 is refused") {
  CHECK(chosen("de;q=0") == "en");
  CHECK(chosen("de;q=0.000, fr;q=0.001") == "fr");
}

TEST_CASE("a region finds its language, whatever the case of its letters") {
  CHECK(chosen("de-AT") == "de");
  CHECK(chosen("zh-Hant-TW, FR-ca;q=0.5") == "fr");
  CHECK(chosen("den, esp") == "en");
}

TEST_CASE("without a language that there is, it is English") {
  CHECK(chosen("") == "en");
  CHECK(chosen("it, pt;q=0.5") == "en");
  CHECK(chosen("*") == "en");
  CHECK(chosen("it, *;q=0.1") == "en");
}

TEST_CASE("the configuration says from which languages to choose, the first being the default") {
  CHECK(chosen("fr, de;q=0.5", {"de", "en"}) == "de");
  CHECK(chosen("fr", {"de", "en"}) == "de");
  CHECK(chosen("*", {"ar", "en"}) == "ar");
  CHECK(chosen("fr", {"DE"}) == "de");
  CHECK(chosen("fr", {"xx"}) == "fr");
  CHECK(chosen("it", {"xx", "es"}) == "es");
}

TEST_CASE("what is malformed in Accept-Language is passed over") {
  for (const std::string_view weight : {"q=", "q=2", "q=1.001", "q=0.1234", "q=-1", "q=.9",
                                        "q=0,9x", "q=a", "x=1", "q=1x", "q= 1"}) {
    CAPTURE(weight);
    CHECK(chosen("de;" + std::string(weight) + ", fr;q=0.1") == "fr");
  }
  CHECK(chosen(",,;;,;q=1,=,-,--,de") == "de");
  CHECK(chosen(std::string(100'000, '-') + ",es") == "es");
}

TEST_CASE("each language has each text once, with the same placeholders, and no other") {
  const LanguageFile* english = nullptr;
  for (const LanguageFile& file : page_assets().languages) {
    if (file.tag == "en") english = &file;
  }
  REQUIRE(english != nullptr);
  CHECK(page_assets().languages.size() == 5);
  const std::set<std::string> keys = keys_of(english->text);
  CHECK(keys.size() > 40);
  const PageTexts english_texts(english->tag, english->text);
  for (const LanguageFile& file : page_assets().languages) {
    CAPTURE(file.tag);
    CHECK(keys_of(file.text) == keys);
    const PageTexts texts(file.tag, file.text);
    for (const std::string& key : keys) {
      CAPTURE(key);
      CHECK_FALSE(texts.find(key).empty());
      CHECK(placeholders(texts.find(key)) == placeholders(english_texts.find(key)));
      CHECK((texts.for_script().find('\n' + key + ": ") == std::string_view::npos) ==
            (english_texts.for_script().find('\n' + key + ": ") == std::string_view::npos));
    }
  }
}

TEST_CASE("a text is found by its whole key") {
  const PageTexts texts("xx", "range_h: hours\nrange: minutes\n\nlast: end");
  CHECK(texts.find("range") == "minutes");
  CHECK(texts.find("range_h") == "hours");
  CHECK(texts.find("last") == "end");
  CHECK(texts.find("ange").empty());
  CHECK(texts.find("").empty());
  CHECK(texts.for_script() == "range_h: hours\nrange: minutes");
}
