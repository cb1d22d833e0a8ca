// Faults in the replacement of eSIMs.
import { type Fault, faultsIn } from './fault.ts';

const REPLACEMENTS = 'test/purchases/replacements.e2e.test.ts';
const REPLACEMENT_ENDS = 'test/purchases/replacements-ends.e2e.test.ts';
const REPLACEMENT_BOUNDS = 'test/purchases/replacements-bounds.e2e.test.ts';
const RULES = 'test/purchases/replacement-rules.unit.test.ts';

export const REPLACEMENT_FAULTS: readonly Fault[] = [
  ...faultsIn('src/purchases/replacements/rules.ts', RULES, {
    'an unused eSIM is replaced': [
      "NOT_INSTALLED.has(smdpStatus)) return 'UNUSED';",
      "NOT_INSTALLED.has(smdpStatus)) return 'replace';",
    ],
    'an eSIM whose data is used up is replaced': ["return 'USED_UP';", "return 'replace';"],
    'the account pays nothing, whatever was agreed': ['BigInt(shareBps), 10_000n', '0n, 10_000n'],
  }),
  ...faultsIn('migrations/world/baseline/replacements.ts', REPLACEMENTS, {
    'an eSIM that was returned is replaced': [
      "state <> 'REFUSED') then 'RETURNED'",
      "state = 'REFUSED') then 'RETURNED'",
    ],
    'an eSIM is replaced after the window': [
      "< clock_timestamp() then 'WINDOW_OVER'",
      "< '-infinity' then 'WINDOW_OVER'",
    ],
    'what came in place of an eSIM is replaced without end': ['>= max_count', '>= 1000'],
    'the share is taken of what the last replacement cost': [
      'select * into strict first from esims where id = first_esim(esim.id);',
      'select * into strict first from esims where id = esim.id;',
    ],
  }),
  ...faultsIn('migrations/world/baseline/replacements.ts', REPLACEMENT_BOUNDS, {
    'what we pay for replacements in a day has no bound': ['> most_minor then', '> 10000 * most_minor then'],
    'an eSIM whose price was given back is replaced': [
      "'revenue:' || e.currency), 0) <= 0)",
      "'revenue:' || e.currency), 0) < 0)",
    ],
    'the dispute of a payment is not looked at before the new eSIM is bought': [
      'refusal := replacement_money_refusal(one.esim_id, one.first_esim_id);',
      'refusal := null;',
    ],
    'a new eSIM is bought for a caller who may not buy any more': [
      'if refusal is null and not accounts.may_still_buy(one.account_id, one.key_id, one.requested_by) then',
      'if false then',
    ],
    'an eSIM is replaced while a top-up of it is open': [
      "when has_open_top_up(esim.id) then 'TOP_UP_OPEN'",
      "when false then 'TOP_UP_OPEN'",
    ],
    'a top-up is sold to an eSIM that is being replaced': [
      "from replacements where esim_id = esim and state <> 'REFUSED');",
      'from replacements where false);',
    ],
  }),
  ...faultsIn('migrations/accounts/baseline/worlds.ts', REPLACEMENT_BOUNDS, {
    'a key still buys what its maker may not buy any more': [
      'and coalesce(coalesce(members.role, maker_role) in (${BUYERS}), true)',
      '',
    ],
  }),
  ...faultsIn('src/purchases/store/followed-rows.ts', REPLACEMENT_BOUNDS, {
    'what hid a replacement in review hides it for ever': [
      'where transaction_id = ${transaction_id} and needs_attention_since is null',
      'where transaction_id = ${transaction_id} and needs_attention_since is null and ${first.numAffectedRows === 1n}',
    ],
  }),
  ...faultsIn('src/operations/rules.ts', REPLACEMENT_BOUNDS, {
    'a purchase that costs nothing can be ended by no one': [
      'facts.holdsMoney && money.price.amountMinor > 0n ?',
      'facts.holdsMoney ?',
    ],
  }),
  ...faultsIn('migrations/world/baseline/returns.ts', REPLACEMENT_ENDS, {
    'an eSIM that was replaced is returned': [
      "state <> 'REFUSED') then 'REPLACED'",
      "state = 'REFUSED') then 'REPLACED'",
    ],
  }),
  ...faultsIn('activities/purchases/follow-replacement.ts', REPLACEMENTS, {
    'the old eSIM is retired although the purchase of the new one failed': [
      "await refuseReplacement(db, row, 'PURCHASE_FAILED', opened.refusal.reason);",
      'await recordReplacementDelivered(db, row);',
    ],
    'a revocation without an answer counts as done': [
      "revoked.outcome !== 'done'",
      "revoked.outcome === 'refused'",
    ],
  }),
  ...faultsIn('activities/purchases/follow-replacement.ts', REPLACEMENT_ENDS, {
    'an eSIM that is on a phone is replaced without a person': [
      "return inReview(deps, row, 'the supplier does not say that it was deleted');",
      'return begin(deps, row);',
    ],
  }),
  ...faultsIn('src/purchases/replacements/replacements.ts', REPLACEMENTS, {
    'another account’s eSIM is replaced': [
      '  await requireOwnEsim(deps, principal, esimId);\n  const { account, maker, keyId } = principal;',
      '  const { account, maker, keyId } = principal;',
    ],
  }),
  ...faultsIn('src/esims/install-data.ts', REPLACEMENTS, {
    'the activation code of an eSIM that was replaced is shown': [
      '  if (row.replaced_by !== null) return withoutInstallData(row);\n',
      '',
    ],
  }),
];
