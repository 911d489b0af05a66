// Reads a JSON tree into the configuration's structs, field by described field.
//
// An absent key leaves its member unchanged; a bad value is recorded as a problem. Reading does not
// stop at the first problem.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/describe/allowed.hpp"
#include "config/describe/describe.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// The names that the file may refer to, and the initial values of list elements and of sections
// that override another one.
struct ReadContext {
  std::vector<std::string> classes;
  std::vector<std::string> upstreams;
  std::vector<std::string> routes;
  Upstream new_upstream;
  Route new_route;
  Defer new_defer;
};

// "found 3" in JSON, truncated; objects and arrays by their type.
std::string found(const nlohmann::json& node);

class Reader {
 public:
  Reader(const ReadContext& context, Problems& problems) : context_(context), problems_(problems) {}

  template <Section Struct>
  bool read(const nlohmann::json& node, const std::string& path, Struct& value, ByType) {
    if (!node.is_object()) return reject_kind(path, node, "an object");
    Members members{*this, node, path, {}};
    describe(members, value);
    members.report_unknown();
    return true;
  }

  bool read(const nlohmann::json& node, const std::string& path, bool& value, ByType) {
    if (!node.is_boolean()) return reject(path, node, "true or false");
    value = node.get<bool>();
    return true;
  }

  template <Chosen Enum>
  bool read(const nlohmann::json& node, const std::string& path, Enum& value, ByType) {
    const auto* text = node.get_ptr<const std::string*>();
    for (const auto& choice : kChoices<Enum>) {
      if (text == nullptr || *text != choice.name) continue;
      value = choice.value;
      return true;
    }
    return reject(path, node, allowed_text<Enum>());
  }

  template <class Integer>
  requires(std::is_integral_v<Integer>) bool read(const nlohmann::json& node,
                                                  const std::string& path, Integer& value,
                                                  const Range& range) {
    const auto integer = integer_of(node);
    if (!integer || *integer < range.min || *integer > range.max) {
      return reject(path, node, allowed<Integer>(range));
    }
    value = static_cast<Integer>(*integer);
    return true;
  }

  bool read(const nlohmann::json& node, const std::string& path, Milliseconds& value,
            const Range& range) {
    std::int64_t count = value.count();
    const bool good = read(node, path, count, range);
    value = Milliseconds{count};
    return good;
  }

  bool read(const nlohmann::json& node, const std::string& path, double& value, const Real& real) {
    const bool good =
        node.is_number() && node.get<double>() >= real.min && node.get<double>() <= real.max;
    if (!good) return reject(path, node, allowed<double>(real));
    value = node.get<double>();
    return true;
  }

  bool read(const nlohmann::json& node, const std::string& path, Concurrency& value,
            const NumberOrAuto& either);

  // A badly formed text is kept, so that references to it by name are not reported as well.
  bool read(const nlohmann::json& node, const std::string& path, std::string& value,
            const Format& format);
  bool read(const nlohmann::json& node, const std::string& path, std::string& value,
            const OneOf& one);

  bool read(const nlohmann::json& node, const std::string& path, ClassId& value, ClassName) {
    return read_reference(node, path, "class", context_.classes, value);
  }
  bool read(const nlohmann::json& node, const std::string& path, UpstreamId& value, UpstreamName) {
    return read_reference(node, path, "upstream", context_.upstreams, value);
  }
  bool read(const nlohmann::json& node, const std::string& path, RouteId& value, RouteName) {
    return read_reference(node, path, "route", context_.routes, value);
  }

  // A constraint with a read() of its own, defined in another folder.
  template <class T, class Constraint>
  requires requires(const Constraint& constraint, const nlohmann::json& node, T& value,
                    Problems& problems) {
    constraint.read(node, std::string(), value, problems);
  }
  bool read(const nlohmann::json& node, const std::string& path, T& value,
            const Constraint& constraint) {
    return constraint.read(node, path, value, problems_);
  }

  template <class T, class Constraint>
  bool read(const nlohmann::json& node, const std::string& path, std::optional<T>& value,
            const Constraint& constraint) {
    T inner{};
    const bool good = read(node, path, inner, constraint);
    if (good) value = inner;
    return good;
  }

  template <class T, class Constraint>
  bool read(const nlohmann::json& node, const std::string& path, std::optional<T>& value,
            const OrOff<Constraint>& constraint) {
    if (node.is_null()) {
      value = std::nullopt;
    } else if (!read(node, path, value, constraint.inner)) {
      problems_.back().message += ", or null";
      return false;
    }
    return true;
  }

  template <class T, class Constraint>
  bool read(const nlohmann::json& node, const std::string& path, std::vector<T>& value,
            const ListOf<Constraint>& list) {
    if (!node.is_array()) return reject_kind(path, node, "an array");
    if (node.size() < list.min || node.size() > list.max) {
      problems_.push_back({path, "found " + std::to_string(node.size()) +
                                     " elements, allowed: " + count_text(list.min, list.max)});
      return false;
    }
    value.clear();
    for (std::size_t i = 0; i < node.size(); ++i) {
      T item = fresh<T>();
      if constexpr (std::is_same_v<T, TrafficClass>) item = fresh_class(node[i], i);
      read(node[i], element(path, i), item, list.item);
      value.push_back(std::move(item));
    }
    report_repeated(node, path);
    return true;
  }

  bool read(const nlohmann::json& node, const std::string& path, UserRoutes& value,
            const ListOf<ByType>& list) {
    Route last = std::move(value.all.back());
    value.all.clear();
    const bool good = read(node, path, value.all, list);
    value.all.push_back(std::move(last));
    return good;
  }

  bool read(const nlohmann::json& node, const std::string& path, std::vector<Rule>& rules, ByClass);
  bool read(const nlohmann::json& node, const std::string& path, std::vector<RuleOverride>& rules,
            ByClass);

  bool read(const nlohmann::json& node, const std::string& path, std::vector<HeaderField>& fields,
            const FieldValues& allowed_fields);
  bool read(const nlohmann::json& node, const std::string& path, std::vector<WaitingSize>& sizes,
            const NumbersByName& allowed_numbers);

  template <class Struct>
  bool read(const nlohmann::json& node, const std::string& path, Struct& value, Overrides) {
    return read(node, path, value, ByType{});
  }
  template <class Struct>
  bool read(const nlohmann::json& node, const std::string& path, std::optional<Struct>& value,
            Overrides) {
    value = fresh<Struct>();
    return read(node, path, *value, ByType{});
  }

 private:
  // The members of an object, named by class; rule_of(class) returns where each goes, or null.
  template <class RuleOf>
  bool read_rules(const nlohmann::json& node, const std::string& path, const RuleOf& rule_of);
  // The members of an object, by name; `plural` is their noun for messages.
  template <class Member, class Allowed>
  bool read_members(const nlohmann::json& node, const std::string& path,
                    std::vector<Member>& members, const Allowed& allowed_members,
                    const std::string& plural);

  // The visitor for one object.
  struct Members {
    Reader& reader;
    const nlohmann::json& object;
    const std::string& path;
    std::vector<std::string> known;

    template <class T, class Constraint>
    void operator()(Key key, T& value, const Constraint& constraint, std::string_view) {
      if (const auto* node = find(key)) {
        reader.read(*node, member(path, key.text), value, constraint);
      } else if (key.is_required) {
        reader.problems_.push_back({member(path, key.text), "missing: this key is required"});
      }
    }
    void annotation(Key key, std::string_view sentence);
    const nlohmann::json* find(Key key);
    void report_unknown() const;
  };

  template <class T>
  T fresh() const {
    if constexpr (std::is_same_v<T, Upstream>) {
      return context_.new_upstream;
    } else if constexpr (std::is_same_v<T, Route>) {
      return context_.new_route;
    } else if constexpr (std::is_same_v<T, Defer>) {
      return context_.new_defer;
    } else {
      return T{};
    }
  }

  template <class Enum>
  static std::string allowed_text() {
    return allowed<Enum>(ByType{});
  }

  // The initial class at this index of the list, before its keys are read.
  TrafficClass fresh_class(const nlohmann::json& node, std::size_t at) const;

  template <class Id>
  bool read_reference(const nlohmann::json& node, const std::string& path, std::string_view kind,
                      const std::vector<std::string>& names, Id& value) {
    const auto at = find_name(node, path, kind, names);
    if (at) value = static_cast<Id>(*at);
    return at.has_value();
  }

  static std::optional<std::int64_t> integer_of(const nlohmann::json& node);
  std::optional<std::size_t> find_name(const nlohmann::json& node, const std::string& path,
                                       std::string_view kind,
                                       const std::vector<std::string>& names);
  void report_repeated(const nlohmann::json& list, const std::string& path);
  bool reject(const std::string& path, const nlohmann::json& node, const std::string& allowed);
  // The same without quoting the text: it may be a misplaced secret.
  bool reject_kind(const std::string& path, const nlohmann::json& node, const std::string& allowed);

  const ReadContext& context_;
  Problems& problems_;
};

}  // namespace spillway::config
