/** What operators list of all accounts, as pages and as files. */
import { readAccountNames } from '../accounts/store/find-accounts.ts';
import { writeWorldAudit } from '../accounts/store/audit.ts';
import type { Session } from '../domain/callers.ts';
import { DomainError } from '../domain/errors.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import { isListed, MAX_LOOKED, readLines, type Lines, type ListName, type ListQuery } from './store/lists.ts';

export interface ListDeps {
  readonly accounts: AccountsDb;
  readonly db: WorldDb;
}

/** In one file: some 3 MB. */
export const MAX_FILE_LINES = 10_000;

/** Of a file, at once: its names of accounts are one lookup. */
const FILE_PAGE = 1_000;

/** A file looks at a million rows at most: some five seconds. */
export const MAX_FILE_PAGES = 100;

export type Named<Line> = Line & { readonly accountName: string };

/** One page, newest first. VALIDATION_ERROR for days the wrong way round, and a cursor of no row. */
export async function listLines<Name extends ListName>(
  { accounts, db }: ListDeps,
  name: Name,
  query: ListQuery,
): Promise<{ readonly items: readonly Named<Lines[Name]>[]; readonly next: string | undefined }> {
  const { from, to, after } = query;
  if (from !== undefined && to !== undefined && from >= to) throw wrong('to: must be after from');
  if (after !== undefined && !(await isListed(db, name, after)))
    throw wrong('after: must be the nextCursor of a page');
  const { items, next } = await readLines(db, name, query);
  const names = await readAccountNames(accounts, [...new Set(items.map(({ accountId }) => accountId))]);
  return { items: items.map((item) => ({ ...item, accountName: names.get(item.accountId) ?? '' })), next };
}

const wrong = (details: string): DomainError =>
  new DomainError('VALIDATION_ERROR', 'Invalid request', { details });

/**
 * The same as lines of a file, MAX_FILE_LINES at most; on record under who asked. `next`: where more match,
 * the `after` of the next file. VALIDATION_ERROR where so few of so many rows match that it would look at
 * more than MAX_FILE_PAGES × MAX_LOOKED: fewer days help.
 */
export async function exportLines<Name extends ListName>(
  deps: ListDeps,
  { person }: Pick<Session, 'person'>,
  name: Name,
  query: Omit<ListQuery, 'limit'>,
): Promise<{ readonly lines: readonly Named<Lines[Name]>[]; readonly next: string | undefined }> {
  const lines: Named<Lines[Name]>[] = [];
  let { after } = query;
  for (let page = 0; page === 0 || (after !== undefined && lines.length < MAX_FILE_LINES); page += 1) {
    if (page === MAX_FILE_PAGES)
      throw wrong(
        `from: choose fewer days. This file would look at more than ${MAX_FILE_PAGES * MAX_LOOKED} rows`,
      );
    const limit = Math.min(FILE_PAGE, MAX_FILE_LINES - lines.length);
    const { items, next } = await listLines(deps, name, { ...query, after, limit });
    lines.push(...items);
    after = next;
  }
  const file = { name, lines: lines.length, isCut: after !== undefined, accountId: query.accountId };
  await recordFile(deps.db, person.email, file);
  return { lines, next: after };
}

/** Who took how much out of here. */
export const recordFile = (
  db: WorldDb,
  actor: string,
  file: {
    readonly name: string;
    readonly lines: number;
    readonly isCut: boolean;
    readonly accountId?: string | undefined;
  },
) =>
  writeWorldAudit(db, {
    ...{ actor, action: 'list.export', subject: file.name },
    detail: {
      which: `${file.lines} lines${file.isCut ? ', and more match' : ''}`,
      accountId: file.accountId,
    },
  });
