// Faults in automatic top-ups that were agreed to in advance, and in how a shop looks to its travellers.
import { type Fault, faultsIn } from './fault.ts';

const STORE = 'test/purchases/mandates.store.test.ts';
const HTTP = 'test/esims/mandates.http.test.ts';
const E2E = 'test/purchases/auto-top-ups.e2e.test.ts';
const BRAND = 'test/accounts/brand.http.test.ts';

export const MANDATE_FAULTS: readonly Fault[] = [
  ...faultsIn('migrations/world/baseline/mandates.ts', STORE, {
    'a top-up is opened beyond the limit of its mandate': [
      '          and spent_minor + terms.price_minor <= limit_minor\n',
      '',
    ],
    'a mandate pays for more top-ups than were agreed to': [
      '          and (max_top_ups is null or top_ups < max_top_ups)\n',
      '',
    ],
    'a mandate that has ended opens a top-up': [
      "where id = terms.mandate_id and state = 'ACTIVE' and",
      'where id = terms.mandate_id and',
    ],
    'an older try of a mandate opens a top-up': [
      'and sequence = terms.mandate_sequence and open_transaction_id is null',
      'and open_transaction_id is null',
    ],
    'a mandate pays for another eSIM': ['and esim_id = terms.esim_id and currency', 'and currency'],
    'a top-up that fails keeps its share': [
      "spent_minor = spent_minor - case when new.status = 'FAILED' then new.price_minor else 0 end",
      'spent_minor = spent_minor',
    ],
    'a mandate that was replaced has a top-up open beside the next one': [
      'where esim_id = terms.esim_id and open_transaction_id is not null);',
      'where false);',
    ],
    'a mandate stays active for an eSIM that was replaced': [
      'or new.replaced_by is distinct from old.replaced_by)',
      'or false)',
    ],
    'a mandate stays active for an eSIM that has ended': ['new.status <> old.status and', 'false and'],
    'a mandate ends by itself and nobody is told': [
      "when (old.state = 'ACTIVE' and new.end_reason",
      'when (false and new.end_reason',
    ],
    'a try begins beside a low figure that it does not see': [
      "where esim_id = new.id and state = 'ACTIVE'\n         and new.total",
      "where esim_id = new.id and state = 'ACTIVE' and (due_at is null or due_at > now())\n         and new.total",
    ],
    'a delivery and a figure of its eSIM wait for each other': ['deferrable initially deferred for', 'for'],
    'a top-up that fails leaves no reason': [
      "refusal = case when new.status = 'FAILED' then new.reason end",
      'refusal = null',
    ],
  }),
  ...faultsIn('src/esims/store/mandates.ts', STORE, {
    'a low figure that comes during a try is lost': [
      'case when due_at >= ${leased.due_at} and due_at > now()',
      'case when true',
    ],
    'a mandate whose data never runs low never expires': [
      "least(now() + ${afterMs}::bigint * interval '1 ms', expires_at)",
      "now() + ${afterMs}::bigint * interval '1 ms'",
    ],
    'the figure that a try has read begins another': [
      'set due_at = now() + ${LEASE} where ${isNewest(leased)}',
      'set due_at = due_at where ${isNewest(leased)}',
    ],
    'a merchant is told of each refusal of a day': [
      '`${leased.id}:${refusal}:${day}`',
      '`${leased.id}:${refusal}:${day}:${leased.sequence}`',
    ],
    'an older try says why it bought nothing': [
      'id = ${id} and sequence = ${sequence} and',
      'id = ${id} and ${sequence}::integer is not null and',
    ],
  }),
  ...faultsIn('migrations/world/baseline/opening-functions.ts', STORE, {
    'a top-up is opened whatever its mandate says': [
      'is_beyond_mandate := terms.mandate_id is not null and not mandate_allows(terms);',
      'is_beyond_mandate := false;',
    ],
  }),
  ...faultsIn('src/esims/http/install-page-routes.ts', HTTP, {
    'a form of another site agrees to top-ups': [": site === 'same-origin';", ': true;'],
  }),
  ...faultsIn('src/esims/mandates/mandates.ts', HTTP, {
    'a traveller agrees to a number of top-ups that is not offered': [
      "if (!offer?.choices.includes(topUps)) throw new DomainError('INVALID_TOPUP', 'This is not offered');\n  const",
      "if (!offer) throw new DomainError('INVALID_TOPUP', 'This is not offered');\n  const",
    ],
    'a traveller agrees to more top-ups than the shop offers by then': [
      'if ((max_top_ups ?? 0) > left)',
      'if (false)',
    ],
    'a traveller agrees as often as they like': [
      '>= MAX_TRAVELLER_AGREEMENTS_A_DAY)',
      '>= MAX_TRAVELLER_AGREEMENTS_A_DAY * 2)',
    ],
  }),
  ...faultsIn('src/esims/mandates/rules.ts', HTTP, {
    'a mandate is given for an eSIM that was replaced': [
      'isMoving(esim) && esim.replaced_by === null',
      'isMoving(esim)',
    ],
  }),
  ...faultsIn('src/purchases/auto-top-ups.ts', E2E, {
    'a shop that took its offer back pays': ['account.disabledAt || !autoTopUp)', 'account.disabledAt)'],
    'a refused top-up leaves no reason': [
      'return { afterMs: AFTER_REFUSAL_MS, refusal: FAILURE_REASONS[reason] };',
      'return { afterMs: AFTER_REFUSAL_MS };',
    ],
  }),
  ...faultsIn('src/accounts/brand.ts', BRAND, {
    'a logo may be anything': [
      "if (!picture) return refuseField('image', 'must be a PNG, JPEG or WebP picture');",
      "if (!picture) return change(deps, member, environment, (world, by) => replaceLogo(world, by, { bytes, type: 'image/png', hash: '0'.repeat(64) }));",
    ],
    'a logo has any number of pixels': ['if (!isLogoSize(picture))', 'if (false)'],
  }),
];
