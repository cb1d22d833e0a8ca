/** The audit log: two tables as one list, newest first, page by page, read by indexes only. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { AuditAction } from '../../src/accounts/audit-entry.ts';
import type { AuditFacts } from '../../src/accounts/audit-facts.ts';
import { writeAudit } from '../../src/accounts/store/audit.ts';
import { readAuditLog, type AuditLine, type AuditQuery } from '../../src/operations/audit-log.ts';
import type { AuditFilters } from '../../src/accounts/store/audit.ts';
import { openBooks } from '../support/world/books.ts';
import { explain } from '../support/world/explain.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
const deps = { accounts: books.accounts, db: books.world };

const TXN = `txn-${'1'.repeat(32)}`;
const KEY = `simway_test_${'Ab1'.repeat(12)}`;

async function action(given: {
  readonly at: string;
  readonly by?: string;
  readonly approvedBy?: string | null;
  readonly decisionReason?: string;
  readonly action?: string;
  readonly detail?: string | null;
}): Promise<string> {
  const id = `action-${randomBytes(16).toString('hex')}`;
  const {
    at,
    by = 'ada@x.example',
    approvedBy = null,
    action = 'credit-wallet',
    detail = 'credited',
  } = given;
  const { decisionReason = null } = given;
  await sql`
    insert into operator_actions (id, transaction_id, action, action_key, asked, by_person, reason, evidence, amount_minor, currency, status,
                                detail, approved_by, decision_reason, created_at, closed_at)
    values (${id}, ${TXN}, ${action}, ${id}, '{}', ${by}, 'a reason', 'ticket 4711', 1250, 'USD', 'DONE', ${detail}, ${approvedBy},
            ${decisionReason}, ${at}::timestamptz, ${at}::timestamptz)`.execute(books.owner);
  return id;
}

async function entry(at: string, actorAndAction: string, detail: AuditFacts = {}): Promise<void> {
  const [actor = '', name = ''] = actorAndAction.split(' ');
  await writeAudit(books.accounts, { actor, action: name as AuditAction, subject: 'acc-1', detail });
  await sql`update accounts.audit_log set at = ${at}::timestamptz where id = (select max(id) from accounts.audit_log)`.execute(
    books.owner,
  );
}

/** All entries, a page at a time. */
async function readAll(query: Omit<AuditQuery, 'limit' | 'after'>, limit: number): Promise<AuditLine[]> {
  const lines: AuditLine[] = [];
  let after: AuditQuery['after'];
  do {
    const page = await readAuditLog(deps, { ...query, limit, after });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    lines.push(...page.items);
    after = page.next;
  } while (after);
  return lines;
}

const namesOf = (lines: readonly AuditLine[]) => lines.map(({ by, action: name }) => `${by} ${name}`);

await entry('2026-01-01T10:00:00.000001Z', 'ada@x.example wallet.fund', {
  amountMinor: '500',
  currency: 'NGN',
  reference: 'r1',
  reason: 'a bonus',
});
await action({ at: '2026-01-01T10:00:00.000002Z' });
await entry('2026-01-01T10:00:00.000003Z', 'bayo@x.example ops.refuse', { role: 'SUPPORT' });
// Four at one moment, two of each table.
for (let i = 0; i < 2; i += 1) {
  await entry('2026-01-02T10:00:00Z', 'bayo@x.example session.open');
  const approval = { approvedBy: 'ada@x.example', decisionReason: 'saw the ticket' };
  await action({ at: '2026-01-02T10:00:00Z', by: 'chidi@x.example', ...approval });
}
await entry('2026-01-03T10:00:00Z', 'ada@x.example key.create', {
  ...{ machine: `given ${KEY}`, scopes: ['read', 'fund'], newDevice: true, lockedOut: false },
  after: { userMarkupBps: 2_050, merchantMarkupBps: 500 },
});

const ALL = [
  'ada@x.example key.create',
  'bayo@x.example session.open',
  'bayo@x.example session.open',
  'chidi@x.example credit-wallet',
  'chidi@x.example credit-wallet',
  'bayo@x.example ops.refuse',
  'ada@x.example credit-wallet',
  'ada@x.example wallet.fund',
];

describe('the audit log', () => {
  it.each([1, 2, 3, 4, 100])('is complete and in order in pages of %s', async (limit) => {
    const lines = await readAll({}, limit);
    expect(namesOf(lines)).toEqual(ALL);
    expect(new Set(lines.map(({ id }) => id)).size).toBe(ALL.length);
  });

  it('shows what was done, why, by whom and with which outcome, and no secret', async () => {
    const [made, , , approved, , refused, , funded] = await readAll({}, 100);
    expect(funded).toMatchObject({
      ...{ subject: 'acc-1', detail: 'reference: r1', reason: 'a bonus', outcome: 'DONE' },
      amount: { amountMinor: 500n, currency: 'NGN' },
    });
    expect(refused).toMatchObject({
      outcome: 'REFUSED',
      detail: 'role: SUPPORT',
      amount: null,
      reason: null,
    });
    expect(approved).toMatchObject({
      ...{ subject: TXN, approvedBy: 'ada@x.example', reason: 'a reason', outcome: 'DONE' },
      detail: 'credited; evidence: ticket 4711; decision: saw the ticket',
      amount: { amountMinor: 1_250n, currency: 'USD' },
    });
    expect(made?.detail).toBe(
      'after: markup for consumers 20.5 %, markup for merchants 5 %; scopes: read, fund; machine: given [redacted]; new device',
    );
  });

  it.each<[string, AuditFilters, readonly string[]]>([
    [
      'the person who did, requested or approved it',
      { actor: 'ada@x.example' },
      [ALL[0]!, ALL[3]!, ALL[4]!, ALL[6]!, ALL[7]!],
    ],
    ['an action', { action: 'session.open' }, [ALL[1]!, ALL[2]!]],
    ['an operator action', { action: 'credit-wallet' }, [ALL[3]!, ALL[4]!, ALL[6]!]],
    ['a subject', { subject: 'acc-1' }, [ALL[0]!, ALL[1]!, ALL[2]!, ALL[5]!, ALL[7]!]],
    ['a purchase', { subject: TXN }, [ALL[3]!, ALL[4]!, ALL[6]!]],
    [
      'a time, its end left out',
      { from: new Date('2026-01-01T10:00:00.000Z'), to: new Date('2026-01-02T10:00:00Z') },
      ALL.slice(5),
    ],
    ['an unknown person', { actor: 'unknown' }, []],
  ])('is filtered by %s', async (_name, filters, expected) => {
    expect(namesOf(await readAll(filters, 2))).toEqual(expected);
  });
});

it('the audit log reads neither table completely', async () => {
  await sql`
    insert into accounts.audit_log (at, actor, action, subject)
    select timestamptz '2025-01-01' + i * interval '1 second', 'p' || i % 50, 'a' || i % 20, 's' || i from generate_series(1, 20000) i`.execute(
    books.owner,
  );
  await sql`
    insert into operator_actions (id, transaction_id, action, action_key, asked, by_person, reason, status, approved_by, created_at, closed_at)
    select 'action-' || md5(i::text), 't' || i, 'm' || i % 9, i, '{}', 'p' || i % 50, 'r', 'DONE', 'q' || i % 50,
           timestamptz '2025-01-01' + i * interval '1 second', now() from generate_series(1, 20000) i`.execute(
    books.owner,
  );
  await sql`analyze accounts.audit_log`.execute(books.owner);
  await sql`analyze operator_actions`.execute(books.owner);
  for (const filters of [{}, { actor: 'p7' }, { action: 'm3' }, { subject: 't9' }]) {
    const { scans } = await explain(books, (db) => readAuditLog({ ...deps, db }, { ...filters, limit: 20 }));
    expect(
      scans.map((scan) => scan['Node Type']),
      JSON.stringify(filters),
    ).not.toContain('Seq Scan');
  }
  for (const filters of ['true', "actor = 'p7'", "action = 'a3'", "subject = 's9'"]) {
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
      explain select * from accounts.audit_log where ${sql.raw(filters)} and (at, id) < (now(), 5) order by at desc, id desc limit 20`.execute(
      books.owner,
    );
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).not.toMatch(/Seq Scan|Sort/);
  }
});
