// Idempotency-Keys on PostgreSQL: KnowsKey and LetGo.
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "store/postgres/postgres_batch.hpp"

namespace spillway::store {
namespace {

PostgresColumn scopes_of(std::span<KnowsKey* const> group) {
  PostgresColumn scopes(PostgresType::uuid);
  for (const KnowsKey* asked : group) scopes.add(asked->scope);
  return scopes;
}

// The asker holds these keys from now on, except those that turn out to be known.
void take(PostgresBatch& batch, const std::vector<KnowsKey*>& takers, Epoch asker) {
  PostgresParameters parameters;
  parameters.add(scopes_of(takers)).add(asker);
  batch.add(PostgresStatement::take_keys, std::move(parameters),
            [takers](const PostgresRows& rows) {
              std::set<PostgresUuid> taken;
              for (int row = 0; row < rows.size(); ++row) taken.insert(rows.uuid(row, 0));
              for (KnowsKey* asked : takers) asked->is_in_hand = !taken.contains(asked->scope);
            });
}

}  // namespace

// Takes the keys first: the look-up then sees any job stored by a proxy that held the key before.
void add_knows_keys(PostgresBatch& batch, std::span<KnowsKey* const> group) {
  if (group.empty()) return;
  std::vector<KnowsKey*> takers;
  for (KnowsKey* asked : group) {
    asked->is_known = asked->is_in_hand = false;
    if (asked->takes && asked->asker != 0) takers.push_back(asked);
  }
  if (!takers.empty()) take(batch, takers, takers[0]->asker);
  PostgresParameters parameters;
  parameters.add(scopes_of(group)).add(PostgresColumn(PostgresType::uuid)).add(group[0]->asker);
  batch.add(PostgresStatement::look_up_scopes, std::move(parameters),
            [all = std::vector(group.begin(), group.end())](const PostgresRows& rows) {
              std::set<PostgresUuid> known;
              for (int row = 0; row < rows.size(); ++row)
                if (!rows.is_null(row, 1)) known.insert(rows.uuid(row, 0));
              for (KnowsKey* asked : all) {
                asked->is_known = known.contains(asked->scope);
                if (asked->is_known) asked->is_in_hand = false;
              }
            });
}

void add_let_go(PostgresBatch& batch, const LetGo& let_go) {
  PostgresColumn scopes(PostgresType::uuid);
  for (const jobs::Digest& scope : let_go.scopes) scopes.add(scope);
  PostgresParameters parameters;
  parameters.add(std::move(scopes)).add(let_go.epoch);
  batch.add(PostgresStatement::let_go_keys, std::move(parameters));
}

}  // namespace spillway::store
