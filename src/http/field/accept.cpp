#include "http/field/accept.hpp"

#include <algorithm>
#include <optional>

#include "http/field/ascii.hpp"
#include "http/field/qvalue.hpp"

namespace spillway::http {
namespace {

struct Range {
  std::string_view type;
  std::optional<int> q = 1000;  // nullopt: malformed
};

Range parse_range(std::string_view element) {
  Range range{trim(element.substr(0, element.find(';'))), 1000};
  std::size_t at = element.find(';');
  while (at != std::string_view::npos) {
    element.remove_prefix(at + 1);
    at = element.find(';');
    const std::string_view parameter = trim(element.substr(0, at));
    if (istarts_with(parameter, "q=")) range.q = parse_qvalue(parameter.substr(2));
  }
  return range;
}

// The weight of one media type: the weight of the most specific range that covers it.
struct Weight {
  std::string_view type;
  std::string_view group;  // e.g. "text/*"
  int specificity = 0;
  int q = 0;

  void consider(const Range& range) {
    int specific = 0;
    if (range.type == "*/*") specific = 1;
    if (iequals(range.type, group)) specific = 2;
    if (iequals(range.type, type)) specific = 3;
    if (specific == 0 || !range.q || specific < specificity) return;
    q = specific > specificity ? *range.q : std::max(q, *range.q);
    specificity = specific;
  }
};

}  // namespace

bool prefers_html(const FieldList& fields) {
  if (!fields.contains(FieldId::accept)) return false;
  Weight html{"text/html", "text/*"};
  Weight json{"application/json", "application/*"};
  Weight problem{"application/problem+json", "application/*"};
  for (const Field& field : fields) {
    if (field.id != FieldId::accept) continue;
    for_each_element(field.value, [&](std::string_view element) {
      const Range range = parse_range(element);
      for (Weight* weight : {&html, &json, &problem}) weight->consider(range);
    });
  }
  return html.q > std::max(json.q, problem.q);
}

}  // namespace spillway::http
