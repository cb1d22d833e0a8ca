// Faults in wallets that people fund, credit and debit by hand, in replays and lists of operators, and in
// their notes.
import { type Fault, faultsIn } from './fault.ts';

const BY_HAND = 'test/operations/wallet-adjustments.store.test.ts';
const LISTS = 'test/operations/lists.store.test.ts';
const OVER_HTTP = 'test/operations/operator-lists.http.test.ts';

export const BY_HAND_FAULTS: readonly Fault[] = [
  ...faultsIn('src/operations/wallet-adjustments.ts', BY_HAND, {
    'one person funds a wallet by hand': [
      'if (!(await areTwoPeople(trx, asked.asked_by, person.email, deps.stuck.clock.now())))',
      'if (asked.asked_by === "")',
    ],
    'a wallet is changed for a person who is not of finance any more': [
      "await requireAsker(deps.accounts, asked.asked_by, (role) => may(role, 'wallets'));",
      "await requireAsker(deps.accounts, asked.asked_by, (role) => may(role, 'see'));",
    ],
    'a reference that was booked for one account is answered to another': [
      'if (kept?.account_id !== accountId || kept.amount_minor !== amountMinor)',
      'if (!kept)',
    ],
    'a change by hand is declined after its time': [
      'const status = statusAt(asked, deps.stuck.clock.now());',
      'const { status } = asked;',
    ],
    'a correction by hand tells nobody that the wallet is low': ['if (low) {', 'if (low && !low) {'],
  }),
  ...faultsIn('migrations/world/baseline/wallet-adjustments.ts', BY_HAND, {
    'a change by hand is booked each time it is confirmed': [
      "if asked.status <> 'WAITS' then outcome := asked.status; return; end if;",
      '',
    ],
    'a change by hand is booked however late': [
      "if asked.expires_at <= clock_timestamp() then outcome := 'EXPIRED'; return; end if;",
      '',
    ],
    'a transfer is funded by hand and by the command line': [
      "values (case asked.kind when 'FUNDING' then 'fund:' || asked.reference",
      "values (case asked.kind when 'FUNDING' then 'hand:' || asked.reference",
    ],
    'money by hand does not pay what is owed': [
      'if pays_in then pays_owed := least(wallet.owed_minor, asked.amount_minor); end if;',
      '',
    ],
    'a credit by hand is booked as a funding': [
      "case when asked.kind in ('FUNDING', 'FUNDING_CORRECTION') then 'funding:' else 'revenue:' end",
      "'funding:'",
    ],
  }),
  ...faultsIn('src/billing/store/invoices.ts', BY_HAND, {
    'an invoice leaves out a credit by hand': [
      'coalesce(p.account_id, f.account_id, w.account_id)',
      'coalesce(p.account_id, f.account_id)',
    ],
  }),
  ...faultsIn('src/operations/store/lists.ts', LISTS, {
    'a list ends where few rows match': [
      'return { items, next: last.rows[0]?.id };',
      'return { items, next: undefined };',
    ],
    'a list looks at all rows': [
      'order by created_at desc, ${id} desc limit ${MAX_LOOKED}`;',
      'order by created_at desc, ${id} desc limit ${100 * MAX_LOOKED}`;',
    ],
    'a list of one account has the rows of others': ['[sql`account_id = ${accountId}`]', '[sql`true`]'],
  }),
  ...faultsIn('src/operations/lists.ts', OVER_HTTP, {
    'who takes a file is not on record': [
      'await recordFile(deps.db, person.email, file);',
      'await Promise.resolve(file);',
    ],
  }),
  ...faultsIn('src/operations/lists.ts', LISTS, {
    'a file that is cut does not say so': [
      'return { lines, next: after };',
      'return { lines, next: undefined };',
    ],
    'the audit log does not say that a file is cut': ['isCut: after !== undefined', 'isCut: false'],
  }),
  ...faultsIn('src/operations/notes.ts', OVER_HTTP, {
    'a note that is sent twice is two': ['if (same) return same;', ''],
  }),
  ...faultsIn('src/operations/actions.ts', 'test/operations/asked-actions.store.test.ts', {
    'a step that was made meanwhile counts as refused': [
      "made?.outcome === 'refused' && !replaySteps",
      "made?.outcome === 'unknown' && !replaySteps",
    ],
  }),
];
