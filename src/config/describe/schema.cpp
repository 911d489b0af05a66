#include "config/describe/schema.hpp"

#include "config/defaults.hpp"
#include "config/describe/allowed.hpp"
#include "config/describe/dump.hpp"

namespace spillway::config {
namespace {

using Json = nlohmann::ordered_json;

// The schema of one value, from its type and constraint. Objects visit their members.
class SchemaWriter {
 public:
  SchemaWriter() : prototype_(defaults(default_classes().size())), dump_(prototype_) {}

  Json root() {
    Json out = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                {"title", "Spillway configuration"}};
    out.update(value(prototype_, ByType{}));
    return out;
  }

 private:
  template <Section Struct>
  Json value(Struct& struct_value, ByType) {
    Members members{*this, Json::object(), Json::array()};
    describe(members, struct_value);
    Json out = {{"type", "object"}, {"additionalProperties", false}};
    if (!members.required.empty()) out["required"] = std::move(members.required);
    out["properties"] = std::move(members.properties);
    return out;
  }
  Json value(bool, ByType) { return {{"type", "boolean"}}; }
  template <Chosen Enum>
  Json value(Enum, ByType) {
    return {{"enum", choice_names<Enum>()}};
  }
  template <class T>
  Json value(const T&, const Range& range) {
    return {{"type", "integer"}, {"minimum", range.min}, {"maximum", range.max}};
  }
  Json value(double, const Real& real) {
    return {{"type", "number"}, {"minimum", real.min}, {"maximum", real.max}};
  }
  Json value(Concurrency&, const NumberOrAuto& either) {
    AutoConcurrency search;
    return {
        {"anyOf",
         {value(std::uint32_t{}, either.number), {{"const", "auto"}}, value(search, ByType{})}}};
  }
  Json value(const std::string&, const Format&) { return {{"type", "string"}}; }
  Json value(const std::string&, const OneOf& one) {
    return {{"enum", std::vector(one.words.begin(), one.words.end())}};
  }
  Json value(ClassId, ClassName) { return {{"type", "string"}}; }
  Json value(UpstreamId, UpstreamName) { return {{"type", "string"}}; }
  template <class T, class Constraint>
  Json value(std::optional<T>&, const Constraint& constraint) {
    T inner{};
    return value(inner, constraint);
  }
  template <class T, class Constraint>
  Json value(std::optional<T>&, const OrOff<Constraint>& constraint) {
    T inner{};
    Json out = value(inner, constraint.inner);
    out["type"] = {out["type"], "null"};
    return out;
  }
  template <class T, class Constraint>
  Json value(std::vector<T>&, const ListOf<Constraint>& list) {
    T item{};
    return {{"type", "array"},
            {"minItems", list.min},
            {"maxItems", list.max},
            {"items", value(item, list.item)}};
  }
  Json value(UserRoutes& routes, const ListOf<ByType>& list) { return value(routes.all, list); }
  template <class AnyRule>
  Json value(std::vector<AnyRule>&, ByClass) {
    RuleOverride rule;  // its fields have no defaults of their own
    return {{"type", "object"}, {"additionalProperties", value(rule, ByType{})}};
  }
  Json value(const std::vector<HeaderField>&, const FieldValues&) {
    return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
  }
  Json value(const std::vector<WaitingSize>&, const NumbersByName& numbers) {
    return {
        {"type", "object"},
        {"maxProperties", numbers.max},
        {"additionalProperties",
         {{"type", "integer"}, {"minimum", numbers.value.min}, {"maximum", numbers.value.max}}}};
  }
  template <class Struct>
  Json value(Struct&, const Overrides& overrides) {
    return {{"allOf", {{{"$ref", "#/properties/" + std::string(overrides.section)}}}}};
  }
  template <class Struct>
  Json value(std::optional<Struct>&, const Overrides& overrides) {
    Struct inner{};
    return value(inner, overrides);
  }

  // Sections have no default besides those of their members; names of classes and upstreams have
  // none.
  template <class T, class Constraint>
  static constexpr bool has_default() {
    return !(std::is_same_v<T, Route> || std::is_same_v<Constraint, ClassName> ||
             std::is_same_v<Constraint, UpstreamName> || std::is_same_v<Constraint, Overrides> ||
             (std::is_class_v<T> && std::is_same_v<Constraint, ByType>));
  }

  struct Members {
    SchemaWriter& writer;
    Json properties;
    Json required;

    template <class T, class Constraint>
    void operator()(Key key, T& member_value, const Constraint& constraint,
                    std::string_view sentence) {
      Json out = {{"description", sentence}};
      out.update(writer.value(member_value, constraint));
      if constexpr (has_default<T, Constraint>()) {
        const auto written = writer.dump_.write(member_value, constraint);
        if (written && !key.is_required) out["default"] = *written;
      }
      if (key.is_required) required.push_back(key.text);
      properties[std::string(key.text)] = std::move(out);
    }
    void annotation(Key key, std::string_view sentence) {
      properties[std::string(key.text)] = {{"description", sentence}, {"type", "string"}};
    }
  };

  Config prototype_;
  Dump dump_;
};

}  // namespace

Json schema() { return SchemaWriter().root(); }

}  // namespace spillway::config
