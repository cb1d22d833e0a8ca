/** my-esims: an account's eSIMs, newest first or by their end, and how many there are. */
import { sql } from 'kysely';
import type { PageQuery } from '../../domain/page.ts';
import type { EsimStatus } from '../../domain/states.ts';
import { hasReference, rowsWithReference } from '../../jobs/store/references.ts';
import { containing, spells } from '../../platform/database/like.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { MOVING, type EsimRow } from './esims.ts';

export interface EsimQuery extends PageQuery {
  readonly accountId: string;
  readonly status?: EsimStatus;
  /** A part of the package name, ICCID or transaction id, or the reference in a batch. */
  readonly search?: string;
  /** Only eSIMs in use that end after `now` and not after `by`, the soonest first. */
  readonly expiring?: { readonly now: Date; readonly by: Date };
  /** Continues behind this eSIM of the account, in place of `page`. */
  readonly after?: string;
}

export interface EsimList {
  readonly rows: EsimRow[];
  readonly total: number;
  /** There are more than `total`: not all were counted. */
  readonly totalIsMinimum: boolean;
  /** For `after`: the last eSIM of this page; undefined at the end. */
  readonly next: string | undefined;
}

/**
 * Matches of a search that are counted: all of an account of the promised size. Without a search, all eSIMs
 * are counted.
 */
export const MAX_FOUND = 10_000;

/** One page, and how many eSIMs match in all. Undefined: `after` is no eSIM of the account. */
export async function listEsims(db: WorldDb, query: EsimQuery): Promise<EsimList | undefined> {
  const { accountId, after } = query;
  if (after !== undefined && !(await isOwn(db, accountId, after))) return undefined;
  const [found, counted] = await Promise.all([readPage(db, query), count(db, query)]);
  const rows = found.slice(0, query.limit);
  const most = query.search === undefined ? counted : Math.min(counted, MAX_FOUND);
  return {
    rows,
    total: most,
    totalIsMinimum: counted > most,
    next: found.length > query.limit ? rows.at(-1)?.id : undefined,
  };
}

async function isOwn(db: WorldDb, accountId: string, id: string): Promise<boolean> {
  const own = db.selectFrom('esims').select('id').where('id', '=', id).where('account_id', '=', accountId);
  return (await own.executeTakeFirst()) !== undefined;
}

/** One row more than the page: whether there is a next one. What is skipped is read from the index alone. */
function readPage(db: WorldDb, query: EsimQuery): Promise<EsimRow[]> {
  const { page, limit, after, expiring } = query;
  const order = expiring ? BY_END : NEWEST_FIRST;
  let ids = matching(db, query).select('id');
  if (after !== undefined) ids = ids.where(order.after(after));
  ids = ids
    .orderBy(order.by, order.way)
    .orderBy('id', order.way)
    .limit(limit + 1)
    .offset(after === undefined ? (page - 1) * limit : 0);
  return db
    .selectFrom('esims')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy(order.by, order.way)
    .orderBy('id', order.way)
    .execute();
}

const NEWEST_FIRST = {
  by: 'created_at',
  way: 'desc',
  after: (id: string) =>
    sql<boolean>`(created_at, id) < ((select created_at from esims where id = ${id}), ${id})`,
} as const;

const BY_END = {
  by: 'expired_time',
  way: 'asc',
  after: (id: string) =>
    sql<boolean>`(expired_time, id) > ((select expired_time from esims where id = ${id}), ${id})`,
} as const;

/** Of a search, one more than `MAX_FOUND` at most. */
async function count(db: WorldDb, query: EsimQuery): Promise<number> {
  const found = matching(db, query).select('account_id');
  const { total } = await db
    .selectFrom((query.search === undefined ? found : found.limit(MAX_FOUND + 1)).as('found'))
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** Reads no column that the index esims_by_account lacks, or esims_by_account_expiry for `expiring`. */
function matching(db: WorldDb, { accountId, status, expiring, search }: EsimQuery) {
  let esims = db.selectFrom('esims').where('account_id', '=', accountId);
  if (status !== undefined) esims = esims.where('status', '=', status);
  if (expiring)
    esims = esims
      .where(MOVING)
      .where('expired_time', '>', expiring.now)
      .where('expired_time', '<=', expiring.by);
  if (search === undefined) return esims;
  const pattern = containing(search);
  return esims.where((eb) =>
    eb.or([
      spells('package_name', search),
      eb('iccid', 'ilike', pattern),
      eb('transaction_id', 'ilike', pattern),
      sql<boolean>`transaction_id in (select transaction_id from purchases where account_id = ${accountId} and ${hasReference(search)})`,
      sql<boolean>`transaction_id in (select transaction_id from (${rowsWithReference(accountId, search)}) own)`,
    ]),
  );
}
