// Writes the configuration's structs as a JSON tree, in the order of their descriptions.
//
// Values that are not set (a nullopt, an upstream if there is none) are left out, except for
// thresholds, where null means off. Secrets are not written.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/choices.hpp"
#include "config/describe/describe.hpp"

namespace spillway::config {

class Dump {
 public:
  using Json = nlohmann::ordered_json;
  using Written = std::optional<Json>;

  // `config` supplies the names of ids.
  explicit Dump(const Config& config) : config_(config) {}

  template <Section Struct>
  Written write(Struct& value, ByType) {
    Members members{*this, Json::object()};
    describe(members, value);
    // A priority replaces the class.
    if (members.out.contains("priority")) members.out.erase("class");
    return std::move(members.out);
  }

  Written write(bool value, ByType) { return value; }
  template <Chosen Enum>
  Written write(Enum value, ByType) {
    return name(value);
  }
  template <class Number, class Constraint>
  requires(std::is_arithmetic_v<Number>) Written write(Number value, const Constraint&) {
    return value;
  }
  template <class Constraint>
  Written write(Milliseconds value, const Constraint&) {
    return value.count();
  }
  Written write(Concurrency& value, const NumberOrAuto&) {
    if (!value.search) return value.most;
    return is_plain(*value.search) ? Written("auto") : write(*value.search, ByType{});
  }
  Written write(const std::string& value, const Format& format) {
    return format.secret && !value.empty() ? Json(kRedacted) : Json(value);
  }
  Written write(const std::string& value, const OneOf&) { return value; }
  Written write(ClassId value, ClassName) { return config_.classes[index(value)].name; }
  Written write(UpstreamId value, UpstreamName) {
    if (index(value) >= config_.upstreams.size()) return std::nullopt;
    return config_.upstreams[index(value)].name;
  }

  template <class T, class Constraint>
  Written write(std::optional<T>& value, const Constraint& constraint) {
    return value ? write(*value, constraint) : std::nullopt;
  }
  template <class T, class Constraint>
  Written write(std::optional<T>& value, const OrOff<Constraint>& constraint) {
    return value ? write(*value, constraint.inner) : Json(nullptr);
  }

  template <class T, class Constraint>
  Written write(std::vector<T>& list, const ListOf<Constraint>& constraint) {
    Json out = Json::array();
    for (T& item : list) out.push_back(*write(item, constraint.item));
    return out;
  }
  Written write(UserRoutes& routes, const ListOf<ByType>& constraint) {
    std::vector<Route> own(routes.all.begin(), routes.all.end() - 1);
    return write(own, constraint);
  }

  Written write(std::vector<Rule>& rules, ByClass) {
    Json out = Json::object();
    for (std::size_t i = 0; i < rules.size(); ++i) {
      out[config_.classes[i].name] = *write(rules[i], ByType{});
    }
    return out;
  }
  Written write(std::vector<RuleOverride>& rules, ByClass) {
    Json out = Json::object();
    for (RuleOverride& rule : rules) {
      out[config_.classes[index(rule.traffic_class)].name] = *write(rule, ByType{});
    }
    return out;
  }
  Written write(const std::vector<HeaderField>& fields, const FieldValues&) {
    Json out = Json::object();
    for (const HeaderField& field : fields) out[field.name] = field.value;
    return out;
  }
  Written write(const std::vector<WaitingSize>& sizes, const NumbersByName&) {
    Json out = Json::object();
    for (const WaitingSize& size : sizes) out[size.name] = size.value;
    return out;
  }
  template <class Struct>
  Written write(Struct& value, Overrides) {
    return write(value, ByType{});
  }
  template <class Struct>
  Written write(std::optional<Struct>& value, Overrides) {
    return value ? write(*value, ByType{}) : std::nullopt;
  }

 private:
  // Whether "auto" alone has the same meaning.
  static bool is_plain(const AutoConcurrency& search) {
    const AutoConcurrency plain;
    return search.min == plain.min && search.max == plain.max && search.initial == plain.initial &&
           search.law == plain.law;
  }

  struct Members {
    Dump& dump;
    Json out;

    template <class T, class Constraint>
    void operator()(Key key, T& value, const Constraint& constraint, std::string_view) {
      if (Written written = dump.write(value, constraint)) {
        out[std::string(key.text)] = std::move(*written);
      }
    }
    void annotation(Key, std::string_view) {}
  };

  const Config& config_;
};

}  // namespace spillway::config
