// How a route's cache and fallback would answer one request.
#include <string>

#include "cache/rules/personal.hpp"
#include "cache/rules/storable.hpp"
#include "cli/explain/explain_sections.hpp"
#include "config/choices.hpp"
#include "http/caching/cache_control.hpp"
#include "http/message/upgrade.hpp"
#include "http/outgoing/local_response.hpp"
#include "overload/admission/decide.hpp"
#include "overload/admission/degraded_answer.hpp"

namespace spillway {
namespace {

using config::DegradeMode;
using config::Miss;
using overload::DegradedAnswer;
using overload::Verdict;

bool may_use_cache(const RuledRequest& request) {
  const auto& cache = request.route().cache;
  return cache && !request.classification.has_ambiguous_path &&
         http::offered_upgrade(request.head, request.route().upgrades).empty() &&
         cache::request_may_use_cache(request.head, *cache);
}

bool is_personal(const RuledRequest& request) {
  const bool by_field = request.classification.tenant.source == config::TenantKey::trusted_header;
  const cache::TenantInKey in_key{
      request.classification.tenant.source == config::TenantKey::api_key,
      by_field ? std::string_view(request.config.trusted_headers.tenant) : std::string_view{}};
  return cache::is_personal(request.head.fields, *request.route().cache, in_key,
                            std::string_view{});
}

bool has_fallback(const RuledRequest& request) {
  const auto& fallback = request.route().fallback;
  return fallback && http::fallback_answers(fallback->status, request.head.method);
}

// The degraded answers available once a response is stored.
overload::AtHand at_hand(const RuledRequest& request) {
  return {.stored = may_use_cache(request), .fallback = has_fallback(request)};
}

std::string text_of(const config::Fallback& fallback) {
  const char* forms = fallback.json && fallback.html ? "JSON or HTML, as the client prefers"
                      : fallback.json                ? "JSON"
                                                     : "HTML";
  return std::to_string(fallback.status) + ", " + forms;
}

void tell_stored(ExplainedLines& lines, const RuledRequest& request) {
  const config::Cache& cache = *request.route().cache;
  lines.add("why") << "What is stored is given at once, fresh or up to " << cache.stale.count()
                   << " ms stale (unless the answer itself says otherwise).";
  if (request.rule.mode == DegradeMode::cache_only) {
    lines.add("") << "The upstream is not asked, not even to refresh what is stale.";
  } else {
    lines.add("") << "What is stale is refreshed in the background, as the lowest class and only "
                  << "if a slot is free at once.";
  }
}

std::string why_miss(const RuledRequest& request) {
  const std::string mode(config::name(request.rule.mode));
  if (request.rule.mode == DegradeMode::skip_downstream)
    return "It is not to be announced to the backend, and route " + request.route().name +
           " has no fallback for it";
  if (!request.route().cache)
    return "The rule degrades by " + mode + ", but route " + request.route().name + " has no cache";
  return "The rule degrades by " + mode + ", but no cached response is given to such a request";
}

// Prints what happens without a degraded answer. With an empty `label` this is the verdict.
void tell_miss(ExplainedLines& lines, const RuledRequest& request, std::string_view label) {
  const bool is_verdict = label.empty();
  const Verdict degraded = overload::judge(request.rule, request.state, Reason::error_burst, 0);
  const Refusals refusals{overload::on_miss(degraded),
                          overload::on_miss(overload::judge(request.rule, request.state,
                                                            Reason::inflight_saturation, 0))};
  const auto begin = [&](Verdict::Kind kind) -> std::ostream& {
    if (!is_verdict) return lines.add(label);
    lines.add("verdict") << name(kind);
    lines.add("why") << why_miss(request) << ", so its miss counts:";
    return lines.add("");
  };
  if (degraded.miss == Miss::fallback && has_fallback(request)) {
    begin(Verdict::Kind::degrade) << "the fallback (" << text_of(*request.route().fallback)
                                  << "). The upstream is not asked.";
  } else if (refusals.untrusted.kind == Verdict::Kind::allow) {
    begin(Verdict::Kind::allow) << "forwarded as in NORMAL.";
    tell_hard_limits(lines, request);
  } else if (refusals.full.kind == Verdict::Kind::deny) {
    begin(Verdict::Kind::deny) << "refused (" << refusal_text(request.rule, refusals.full)
                               << "), even if a slot is free: the upstream is not asked.";
  } else if (is_verdict) {
    tell_refusals(lines, request, refusals);
    lines.add("why") << why_miss(request) << ", so its miss counts: refused.";
    tell_work_conserving(lines, request, refusals);
  } else {
    lines.add(label) << "refused (" << refusal_text(request.rule, refusals.full) << ").";
    tell_work_conserving(lines, request, refusals);
  }
}

}  // namespace

void tell_cache(ExplainedLines& lines, const RuledRequest& request) {
  if (!request.route().cache) return;
  const config::Cache& cache = *request.route().cache;
  if (!may_use_cache(request)) {
    lines.add("cache") << "not for this request: only for GET or HEAD, as configured, without a "
                       << "body, not for a part and not by an ambiguous path";
    return;
  }
  lines.add("cache") << (cache.serve == config::Serve::fresh
                             ? "a fresh answer is given in any state, without a slot"
                             : "answers are given while overloaded, where a rule says so")
                     << (cache.stale_if_error ? "; in place of the upstream's failure, too" : "");
  if (is_personal(request)) {
    lines.add("") << "It may be one person's (Authorization, or a field of cache.personal): only "
                  << "what says public or s-maxage is given to it.";
  }
  if (http::cache_control(request.head.fields).only_if_cached)
    lines.add("") << "It says only-if-cached: 504 when nothing is stored.";
}

void tell_instead_of_refusal(ExplainedLines& lines, const RuledRequest& request,
                             const config::Rule* degrading) {
  if (degrading == nullptr) return;
  const overload::AtHand has = at_hand(request);
  const bool may_be_stored = has.stored && overload::gives_stored(degrading->mode);
  const bool gives_fallback =
      costs_nothing(overload::answer_for_refusal(*degrading, {.fallback = has.fallback}));
  if (!may_be_stored && !gives_fallback) return;
  auto& line = lines.add("refusals") << "Before it is refused, whatever the reason, ";
  if (may_be_stored) line << "what is stored is given" << (gives_fallback ? ", or else " : "");
  if (gives_fallback) line << "the fallback (" << text_of(*request.route().fallback) << ")";
  line << ".";
}

void tell_degraded(ExplainedLines& lines, const RuledRequest& request) {
  const DegradedAnswer answer =
      overload::answer_of_mode(request.rule.mode, request.rule.annotate, at_hand(request));
  if (answer == DegradedAnswer::none) return tell_miss(lines, request, {});
  lines.add("verdict") << name(Verdict::Kind::degrade);
  if (answer == DegradedAnswer::cheaper) {
    lines.add("why") << "It is forwarded with Spillway-Degrade: skip-downstream, for the backend "
                     << "to leave out its expensive part.";
    tell_hard_limits(lines, request);
  } else if (answer == DegradedAnswer::fallback) {
    lines.add("why") << "The route's fallback is given (" << text_of(*request.route().fallback)
                     << "). The upstream is not asked.";
  } else {
    tell_stored(lines, request);
    tell_miss(lines, request, "miss");
  }
}

}  // namespace spillway
