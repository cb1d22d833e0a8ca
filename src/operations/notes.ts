/** Notes of operators on accounts, purchases and fundings. Merchants never read them; they never change. */
import type { Generated } from 'kysely';
import { noAccount } from '../accounts/manage-accounts.ts';
import { findAccount } from '../accounts/store/accounts.ts';
import type { Session } from '../domain/callers.ts';
import { DomainError } from '../domain/errors.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import { inTransaction, lockByName } from '../platform/database/transactions.ts';
import { findTransactionId } from './store/timeline.ts';

interface NotesTable {
  id: Generated<bigint>;
  /** The id of an account, a purchase or a funding. */
  subject: string;
  text: string;
  written_by: string;
  written_at: Generated<Date>;
}

declare module '../platform/database/tables.ts' {
  interface AccountsDatabase {
    notes: NotesTable;
  }
}

export interface NoteDeps {
  readonly accounts: AccountsDb;
  readonly db: WorldDb;
}

export const NOTED_KINDS = ['account', 'purchase'] as const;

/** What a note is about. */
export interface Noted {
  readonly kind: (typeof NOTED_KINDS)[number];
  readonly id: string;
}

/** A page of text: more belongs in a ticket. */
export const MAX_NOTE_CHARACTERS = 2_000;

/** The same text again so soon is the same note: it was sent twice. */
const SAME_WITHIN_MS = 60_000;

/** NOT_FOUND, TRANSACTION_NOT_FOUND. */
async function requireNoted({ accounts, db }: NoteDeps, { kind, id }: Noted): Promise<void> {
  if (kind === 'account' && !(await findAccount(accounts, id))) throw noAccount(id);
  if (kind === 'purchase' && (await findTransactionId(db, id)) !== id)
    throw new DomainError('TRANSACTION_NOT_FOUND', 'No such purchase or funding');
}

export interface NoteQuery {
  /** Continues behind it. */
  readonly after?: bigint | undefined;
  readonly limit: number;
}

/** One page, newest first. NOT_FOUND, TRANSACTION_NOT_FOUND. */
export async function listNotes(deps: NoteDeps, noted: Noted, { after, limit }: NoteQuery) {
  await requireNoted(deps, noted);
  let query = notesAbout(deps.accounts, noted.id).limit(limit + 1);
  if (after !== undefined) query = query.where('id', '<', after);
  const found = await query.execute();
  const items = found.slice(0, limit).map(viewOf);
  return { items, next: found.length > limit ? items.at(-1)?.noteId : undefined };
}

/** NOT_FOUND, TRANSACTION_NOT_FOUND. */
export async function writeNote(
  deps: NoteDeps,
  { person }: Pick<Session, 'person'>,
  noted: Noted,
  text: string,
) {
  await requireNoted(deps, noted);
  const row = await inTransaction(deps.accounts, async (trx) => {
    await lockByName(trx, `note on ${noted.id}`);
    const since = new Date(Date.now() - SAME_WITHIN_MS);
    const same = await notesAbout(trx, noted.id)
      .where((eb) => eb.and({ text, written_by: person.email }))
      .where('written_at', '>', since)
      .executeTakeFirst();
    if (same) return same;
    return trx
      .insertInto('notes')
      .values({ subject: noted.id, text, written_by: person.email })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
  return viewOf(row);
}

const notesAbout = (db: AccountsDb, subject: string) =>
  db.selectFrom('notes').selectAll().where('subject', '=', subject).orderBy('id', 'desc');

type NoteRow = Awaited<ReturnType<ReturnType<typeof notesAbout>['executeTakeFirstOrThrow']>>;

const viewOf = ({ id, text, written_by, written_at }: NoteRow) => ({
  noteId: `note-${id}`,
  text,
  writtenBy: written_by,
  writtenAt: written_at,
});
