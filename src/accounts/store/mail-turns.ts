/**
 * How many mails go where, and who wants none. By hashes alone, in rows that API and workers of both
 * environments share.
 */
import { hash } from 'node:crypto';
import { sql, type QueryExecutorProvider } from 'kysely';
import { DAY_MS } from '../../domain/clock.ts';

interface Turns {
  readonly most: number;
  readonly withinMs: number;
}

/** Counts one more. False: there were as many as may be. */
export async function takeTurn(
  db: QueryExecutorProvider,
  what: string,
  { most, withinMs }: Turns,
  now: Date,
): Promise<boolean> {
  const windowBegan = new Date(now.getTime() - withinMs);
  const { rows } = await sql<{ count: number }>`
    select accounts.take_mail_turn(${hash('sha256', what, 'buffer')}, ${windowBegan}, ${now}) as count`.execute(
    db,
  );
  return (rows[0]?.count ?? 0) <= most;
}

/** For a mail that was not sent. */
export const giveTurnBack = (db: QueryExecutorProvider, what: string) =>
  sql`select accounts.give_mail_turn_back(${hash('sha256', what, 'buffer')})`.execute(db);

/** Of all accounts together: enough for a batch and an invitation, and no flood. */
export const MAX_STRANGER_MAILS_A_DAY = 10;
/** Of the installation. Mail servers distrust a sender that suddenly sends much more. */
export const MAX_INSTALLATION_MAILS_A_DAY = 20_000;

const turnsOf = (address: string) =>
  [
    [`strangers ${address.toLowerCase()}`, MAX_STRANGER_MAILS_A_DAY],
    ['strangers of the installation', MAX_INSTALLATION_MAILS_A_DAY],
  ] as const;

/** Why a mail to a non-user is held back now. `stopped`: the recipient wants none, ever. */
export type MailRefusal = 'stopped' | 'limited';

/** Takes one of the recipient's and of the installation's mails of the day. undefined: send it. */
export async function admitStrangerMail(
  db: QueryExecutorProvider,
  address: string,
  now: Date,
): Promise<MailRefusal | undefined> {
  const { rows } = await sql<{ isStopped: boolean }>`
    select accounts.is_mail_stopped(${hashOfAddress(address)}) as "isStopped"`.execute(db);
  if (rows[0]?.isStopped !== false) return 'stopped';
  for (const [what, most] of turnsOf(address))
    if (!(await takeTurn(db, what, { most, withinMs: DAY_MS }, now))) return 'limited';
  return undefined;
}

/** For a mail that was admitted, and not sent. */
export async function giveStrangerMailBack(db: QueryExecutorProvider, address: string): Promise<void> {
  for (const [what] of turnsOf(address)) await giveTurnBack(db, what);
}

export const hashOfAddress = (address: string): Buffer => hash('sha256', address.toLowerCase(), 'buffer');

/** False: it was stopped before. */
export async function insertMailStop(db: QueryExecutorProvider, addressSha256: Buffer): Promise<boolean> {
  const stopped = await sql`
    insert into accounts.mail_stops (address_sha256) values (${addressSha256}) on conflict do nothing`.execute(
    db,
  );
  return stopped.numAffectedRows === 1n;
}

/** Whether the address is that of a member of the account: only they have confirmed it. */
export async function isMembersAddress(
  db: QueryExecutorProvider,
  accountId: string,
  address: string,
): Promise<boolean> {
  const { rows } = await sql<{ isTheirs: boolean }>`
    select accounts.is_members_address(${accountId}, ${address.toLowerCase()}) as "isTheirs"`.execute(db);
  return rows[0]?.isTheirs === true;
}
