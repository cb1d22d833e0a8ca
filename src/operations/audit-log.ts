/**
 * One log of what people did: changes of accounts, keys and people, and the operator actions of one
 * environment. At one moment the first table's rows come first.
 */
import { AUDIT_FACTS, type AuditFacts } from '../accounts/audit-facts.ts';
import { listAuditRows, type AuditFilters } from '../accounts/store/audit.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import { redactText } from '../platform/telemetry/redact.ts';
import { listLoggedActions, type LoggedAction } from './store/audit-log.ts';

/** `subject`: an id, or the method and path of a refused request. */
export type AuditLine = Awaited<ReturnType<typeof readAuditLog>>['items'][number];

/** The row that a page ended with. `atMicros`: since 1970. */
export type AuditCursor =
  | { readonly source: 'account'; readonly atMicros: bigint; readonly id: bigint }
  | { readonly source: 'action'; readonly atMicros: bigint; readonly id: string };

export interface AuditQuery extends AuditFilters {
  readonly after?: AuditCursor | undefined;
  readonly limit: number;
}

/** Above every id of an action, and below every id of the other table. */
const ALL_ACTIONS = 'n';
const NO_ROWS = 0n;

/** The newest first. */
export async function readAuditLog(
  { accounts, db }: { readonly accounts: AccountsDb; readonly db: WorldDb },
  { after, limit, ...filters }: AuditQuery,
) {
  const atMicros = after?.atMicros ?? 0n;
  const [rows, actions] = await Promise.all([
    listAuditRows(accounts, filters, {
      before: after && { atMicros, id: after.source === 'account' ? after.id : NO_ROWS },
      limit: limit + 1,
    }),
    listLoggedActions(db, filters, {
      before: after && { atMicros, id: after.source === 'action' ? after.id : ALL_ACTIONS },
      limit: limit + 1,
    }),
  ]);
  const merged = [...rows.map(ofAccounts), ...actions.map(ofAction)].toSorted((one, other) =>
    Number(other.cursor.atMicros - one.cursor.atMicros),
  );
  const shown = merged.slice(0, limit);
  return {
    items: shown.map(({ line }) => line),
    /** undefined at the end. */
    next: merged.length > limit ? shown.at(-1)?.cursor : undefined,
  };
}

function ofAccounts(row: Awaited<ReturnType<typeof listAuditRows>>[number]) {
  const { amountMinor, currency, reason, approvedBy, ...facts } = row.detail as AuditFacts;
  const isAmount = typeof amountMinor === 'string' && /^\d+$/.test(amountMinor);
  const line = {
    id: `audit-${row.id}`,
    at: row.at,
    by: row.actor,
    action: row.action,
    subject: row.subject,
    detail: factsText(isAmount ? facts : { ...facts, amountMinor, currency }),
    amount: isAmount && typeof currency === 'string' ? { amountMinor: BigInt(amountMinor), currency } : null,
    reason: textOrNull(reason),
    approvedBy: textOrNull(approvedBy),
    outcome: row.action.endsWith('.refuse') ? 'REFUSED' : 'DONE',
  } as const;
  return { line, cursor: { source: 'account' as const, atMicros: row.atMicros, id: row.id } };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? redactText(value) : null);

/** `role: SUPPORT; from: 10.0.0.7`. Rows hold no secret; what looks like one is blanked all the same. */
function factsText(facts: AuditFacts): string | null {
  const text = listFacts(facts, ': ').join('; ');
  return text === '' ? null : redactText(text);
}

const listFacts = (facts: AuditFacts, between: string): string[] =>
  Object.entries(facts as Readonly<Record<string, unknown>>)
    .filter(([, value]) => value !== undefined && value !== null && value !== false)
    .map(([name, value]) => {
      // Rows are kept for ever, also with facts that nothing writes any more.
      const words = (AUDIT_FACTS as Readonly<Record<string, string | undefined>>)[name] ?? name;
      if (value === true) return words;
      return words + between + (name.endsWith('Bps') ? `${Number(value) / 100} %` : factText(value));
    });

function factText(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(', ');
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? listFacts(value ?? {}, ' ').join(', ') : JSON.stringify(value);
}

function ofAction(row: LoggedAction) {
  const { amount_minor: amountMinor, currency, refusal, detail, evidence, decision_reason: why } = row;
  const parts = [refusal, detail, evidence && `evidence: ${evidence}`, why && `decision: ${why}`].filter(
    (part) => part,
  );
  const line = {
    id: row.id,
    at: row.created_at,
    by: row.by_person,
    action: row.action,
    subject: row.transaction_id,
    detail: parts.length === 0 ? null : redactText(parts.join('; ')),
    amount: amountMinor === null || currency === null ? null : { amountMinor, currency },
    reason: redactText(row.reason),
    approvedBy: row.approved_by,
    outcome: row.status,
  };
  return { line, cursor: { source: 'action' as const, atMicros: row.atMicros, id: row.id } };
}
