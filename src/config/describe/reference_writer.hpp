// Writes described structs as the rows of a Markdown table: key, default, allowed, meaning.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/describe/allowed.hpp"
#include "config/describe/describe.hpp"
#include "config/describe/dump.hpp"

namespace spillway::config {

// Visits the members of one object and writes their lines; nested objects follow their own line.
struct ReferenceWriter {
  Dump& dump;
  std::string prefix;
  std::string& out;

  static std::string_view unit(Key key) {
    if (key.text.ends_with("_ms")) return ", milliseconds";
    if (key.text.ends_with("_bytes")) return ", bytes";
    return "";
  }

  void line(Key key, const std::string& initial, std::string_view allowed_values,
            std::string_view sentence) {
    out += "| `" + prefix + std::string(key.text) + "` | " + initial + " | " +
           std::string(allowed_values) + std::string(unit(key)) + " | " + std::string(sentence) +
           " |\n";
  }

  template <class T>
  void below(Key key, std::string_view suffix, T& value) {
    ReferenceWriter inner{dump, prefix + std::string(key.text) + std::string(suffix) + ".", out};
    describe(inner, value);
  }

  template <class T, class Constraint>
  std::string initial(Key key, T& value, const Constraint& constraint) {
    if (key.is_required) return "required";
    if constexpr (requires { dump.write(value, constraint); }) {
      const auto written = dump.write(value, constraint);
      if (written) return "`" + written->dump() + "`";
    }
    return "";
  }

  template <class T, class Constraint>
  void operator()(Key key, T& value, const Constraint& constraint, std::string_view sentence) {
    if constexpr (std::is_same_v<Constraint, ClassName> ||
                  std::is_same_v<Constraint, UpstreamName> ||
                  std::is_same_v<Constraint, RouteName>) {
      line(key, "", allowed<T>(constraint), sentence);
    } else {
      line(key, initial(key, value, constraint), allowed<T>(constraint), sentence);
    }
  }
  template <Section Struct>
  void operator()(Key key, Struct& value, ByType, std::string_view sentence) {
    line(key, key.is_required ? "required" : "", "an object", sentence);
    below(key, "", value);
  }
  template <Section Struct>
  void operator()(Key key, std::optional<Struct>&, ByType, std::string_view sentence) {
    line(key, "", "an object", sentence);
    Struct inner{};
    below(key, "", inner);
  }
  template <class T, class Constraint>
  void operator()(Key key, std::vector<T>& value, const ListOf<Constraint>& list,
                  std::string_view sentence) {
    const std::string size = "a list of " + count_text(list.min, list.max);
    if constexpr (std::is_class_v<T> && std::is_same_v<Constraint, ByType>) {
      line(key, key.is_required ? "required" : "", size, sentence);
      T item{};
      below(key, "[]", item);
    } else {
      line(key, initial(key, value, list), size + ": " + allowed<T>(list.item), sentence);
    }
  }
  void operator()(Key key, UserRoutes& value, const ListOf<ByType>& list,
                  std::string_view sentence) {
    (*this)(key, value.all, list, sentence);
  }
  template <class AnyRule>
  void operator()(Key key, std::vector<AnyRule>&, ByClass, std::string_view sentence) {
    line(key, "", "an object, keys are names of classes", sentence);
    RuleOverride rule;  // its fields have no defaults of their own
    below(key, ".CLASS", rule);
  }
  void operator()(Key key, Concurrency& value, const NumberOrAuto& either,
                  std::string_view sentence) {
    line(key, initial(key, value, either), allowed<Concurrency>(either), sentence);
    AutoConcurrency search;
    below(key, "", search);
  }
  template <class Struct>
  void operator()(Key key, Struct&, const Overrides& overrides, std::string_view sentence) {
    line(key, "", "the keys of `" + std::string(overrides.section) + "`", sentence);
  }
  template <class Struct>
  void operator()(Key key, std::optional<Struct>&, const Overrides& overrides,
                  std::string_view sentence) {
    Struct inner{};
    (*this)(key, inner, overrides, sentence);
  }
  void annotation(Key key, std::string_view sentence) { line(key, "", "any text", sentence); }
};

// The whole table. `dump` knows the names of ids.
template <class Struct>
std::string reference_of(Struct& prototype, Dump& dump) {
  std::string out = "| key | default | allowed | meaning |\n| --- | --- | --- | --- |\n";
  ReferenceWriter writer{dump, "", out};
  describe(writer, prototype);
  return out;
}

}  // namespace spillway::config
