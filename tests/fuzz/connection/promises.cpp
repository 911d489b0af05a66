#include "fuzz/connection/promises.hpp"

#include <algorithm>
#include <initializer_list>

#include "fuzz/connection/messages.hpp"

namespace spillway::fuzz {
namespace {

using std::string_view;
using Names = std::initializer_list<string_view>;

constexpr Milliseconds kShortestTimeout{1000};  // limits.header_timeout_ms of the world

bool is_one_of(string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_right_request(const Step& step) {
  const string_view form = kRequestForms[step.values[2]];
  const string_view body = kRequestBodies[step.values[3]];
  const bool is_chunked = is_one_of(body, {"chunked", "chunks", "trailer", "many_chunks"});
  return kEdits[step.values[4]] == "no" &&
         is_one_of(form,
                   {"plain", "close", "http10", "http10_keep", "expect", "absolute", "hidden_mark",
                    "html", "empty_line", "te", "authorized", "conditional", "kind"}) &&
         (is_chunked || is_one_of(body, {"none", "short", "length", "zero"})) &&
         !(is_chunked && form.starts_with("http10"));  // RFC 9112 section 6.1
}

bool is_right_answer(const Step& step) {
  const string_view status = kStatuses[step.values[0]];
  const string_view body = kAnswerBodies[step.values[2]];
  const bool has_length = is_one_of(body, {"length", "none", "long"});
  return is_one_of(status, {"200", "404", "500", "204", "304", "206", "302", "continue", "hints",
                            "three_hints", "http10"}) &&
         is_one_of(kAnswerForms[step.values[1]],
                   {"plain", "hidden_mark", "keep_alive", "fresh", "tagged", "public", "private",
                    "no_store", "vary"}) &&
         (has_length || is_one_of(body, {"chunked", "chunks", "trailer", "until_close"})) &&
         (has_length || status != "http10") && kEdits[step.values[3]] == "no" &&
         static_cast<Ending>(step.values[6]) == Ending::keep &&
         static_cast<When>(step.values[7]) == When::request;
}

bool asks_for_tunnel(const Step& step) { return kRequestForms[step.values[2]] == "tunnel"; }

bool is_right_switch(const Step& step) {
  return AnswerPlan(step).switches() && kEdits[step.values[3]] == "no" &&
         static_cast<Ending>(step.values[6]) == Ending::keep &&
         static_cast<When>(step.values[7]) == When::request;
}

}  // namespace

bool keeps_every_promise(const Script& script) {
  Milliseconds passed{0};
  // Which answer is to which request shows while it is played.
  const bool may_switch = std::all_of(script.begin(), script.end(), [](const Step& step) {
    return step.verb != Verb::request || asks_for_tunnel(step);
  });
  for (const Step& step : script) {
    switch (step.verb) {
      case Verb::request:
        if (!is_right_request(step)) return false;
        break;
      case Verb::answer:
        if (!is_right_answer(step) && !(may_switch && is_right_switch(step))) return false;
        break;
      case Verb::reads:
        if (step.values[1] != 0) return false;
        break;
      case Verb::pause: passed += pause_of(step.values[0]); break;
      case Verb::send:
        if (step.values[2] != 0) return false;  // it leaves
        break;
      default: return false;
    }
  }
  return passed < kShortestTimeout;
}

}  // namespace spillway::fuzz
