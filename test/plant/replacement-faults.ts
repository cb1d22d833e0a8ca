// Faults in the replacement of eSIMs.
import { type Fault, faultsIn } from './fault.ts';

const REPLACEMENTS = 'test/purchases/replacements.e2e.test.ts';
const REPLACEMENT_ENDS = 'test/purchases/replacements-ends.e2e.test.ts';
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
  ...faultsIn('migrations/world/baseline/returns.ts', REPLACEMENT_ENDS, {
    'an eSIM that was replaced is returned': [
      "state <> 'REFUSED') then 'REPLACED'",
      "state = 'REFUSED') then 'REPLACED'",
    ],
  }),
  ...faultsIn('activities/purchases/follow-replacement.ts', REPLACEMENTS, {
    'the old eSIM is retired although the purchase of the new one failed': [
      "await refuseReplacement(db, row, 'PURCHASE_FAILED', bought.purchase.reason as FailureReason);",
      'await recordReplacementDelivered(db, row);',
    ],
    'a revocation without an answer counts as done': [
      "revoked.outcome !== 'done'",
      "revoked.outcome === 'refused'",
    ],
  }),
  ...faultsIn('activities/purchases/follow-replacement.ts', REPLACEMENT_ENDS, {
    'an eSIM that is on a phone is replaced without a person': [
      "      return row.state === 'NEEDS_REVIEW' ? inReview(deps, row) : review(deps, row);",
      "      await beginOrdering(db, row);\n      return 'next';",
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
