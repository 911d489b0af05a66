// The requests and answers of a script. Each carries its mark in many places: "q0007z" is of
// request 7, "a0007z" of an answer to it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "fuzz/connection/script.hpp"

namespace spillway::fuzz {

// That of what an edit slips in; no request of a script has it.
inline constexpr unsigned kSlippedIn = 9999;

std::string mark(char kind, unsigned id);
// The ids of all marks of this kind, in the order of the text.
std::vector<unsigned> marks_in(std::string_view text, char kind);

// `step` is Verb::request.
std::string request_text(const Step& step, unsigned id);
bool asks_for_tunnel(std::string_view head);

// `nothing`: closes in place of an answer.
enum class Ending : std::uint8_t { keep, close, cut, extra, garbage, half_close, nothing };
enum class When : std::uint8_t { request, head, soon, late };

// `step` is Verb::answer.
struct AnswerPlan {
  explicit AnswerPlan(const Step& step);
  AnswerPlan() : AnswerPlan(Step{Verb::answer, {}}) {}
  // `bodiless`: to HEAD.
  std::string text(unsigned id, bool bodiless) const;
  // 101 (Switching Protocols); what follows its head goes through the tunnel.
  bool switches() const;

  Step step;
  std::size_t piece;  // bytes sent at a time
  Ending ending;
  When when;
};

// What `stray` sends.
std::string stray_text(unsigned what);

// The values' names, for arguments_of().
extern const std::span<const std::string_view> kMethods, kRequestForms, kRequestBodies, kTargets,
    kStatuses, kAnswerForms, kAnswerBodies, kEdits, kEndings, kWhens, kPieces, kPauses, kStrays;
// The length of a pause by its place.
Milliseconds pause_of(unsigned place);

}  // namespace spillway::fuzz
