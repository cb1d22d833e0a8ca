/**
 * my-esims, as fast for an account with a million eSIMs as for one with a thousand (docs/decisions/0056-kept-figures.md). Totals come from kept
 * figures. A deep page starts at its day. A search reads the newest eSIMs first, then the indexes of package names and of grams of ids.
 */
import { sql, type RawBuilder } from 'kysely';
import type { PageQuery } from '../../domain/page.ts';
import type { EsimStatus } from '../../domain/states.ts';
import { containing } from '../../platform/database/like.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { EsimRow } from './esims.ts';

export interface EsimQuery extends PageQuery {
  readonly accountId: string;
  readonly status?: EsimStatus;
  readonly search?: string;
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

/** `after` names no eSIM of the account; `page` is deeper than page numbers reach in a search of this many eSIMs. */
export type ListRefusal = 'UNKNOWN_CURSOR' | 'TOO_DEEP';

/** An account with no more is searched row by row. */
const SMALL = 1_000;
/**
 * In a larger account, the newest 200 are read first. If 1 % of them match, the newest 1,000 are read, to fill the page; if 10 % match, the newest 20,000, to
 * know the count too. Otherwise the indexes are read.
 */
const FIRST_WINDOW = 200;
const PAGE_WINDOW = 1_000;
const LAST_WINDOW = 20_000;

function windowAfter(window: number, matching: number): number | undefined {
  if (window < LAST_WINDOW && matching >= window / 10) return LAST_WINDOW;
  return window < PAGE_WINDOW && matching >= window / 100 ? PAGE_WINDOW : undefined;
}

/** Matches by ICCID or transaction id that are counted in a larger account, and `page` × `limit` there: more than anyone reads. A cursor has no such end. */
export const MAX_FOUND = 1_000;
/** Rows that a page by number skips one by one; a deeper one starts at its day. */
const MAX_SKIPPED = 1_000;

/** One page, newest first, and how many there are in all. */
export async function listEsims(db: WorldDb, query: EsimQuery): Promise<EsimList | ListRefusal> {
  if (query.after !== undefined && !(await isOwn(db, query.accountId, query.after))) return 'UNKNOWN_CURSOR';
  if (query.search === undefined) return listAll(db, query);
  const search = termsOf(query.search);
  const counted = await countByName(db, query, search);
  if (counted.total <= SMALL) return readFound(db, query, await searchSmall(db, query, search));
  if (search.matchesAll) return listAll(db, query);
  if (offsetOf(query) + query.limit > MAX_FOUND) return 'TOO_DEEP';
  return readFound(db, query, await searchLarge(db, query, search, counted.matching));
}

async function listAll(db: WorldDb, query: EsimQuery): Promise<EsimList> {
  const [rows, { total }] = await Promise.all([readPage(db, query), countByName(db, query)]);
  return pageOf(query, rows, { total, totalIsMinimum: false });
}

/** One row more than the page was read, to see whether there is a next one. */
function pageOf(
  { limit }: EsimQuery,
  rows: readonly EsimRow[],
  counted: Pick<EsimList, 'total' | 'totalIsMinimum'>,
): EsimList {
  const shown = rows.slice(0, limit);
  return { rows: shown, next: rows.length > limit ? shown.at(-1)?.id : undefined, ...counted };
}

const offsetOf = ({ page, limit, after }: EsimQuery): number =>
  after === undefined ? (page - 1) * limit : 0;

async function isOwn(db: WorldDb, accountId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('esims')
    .select('id')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row !== undefined;
}

interface Search {
  readonly pattern: string;
  /** Every eSIM has it in its transaction id. */
  readonly matchesAll: boolean;
  /** Some ICCID or transaction id may contain it. */
  readonly fitsIds: boolean;
  /** What to look up in the index: all of them must match, or, for three characters, any one. Undefined: too short for the index. */
  readonly grams: { readonly of: 'all' | 'any'; readonly texts: readonly string[] } | undefined;
}

/** Transaction ids are `txn-` and hexadecimal digits (src/domain/ids.ts), ICCIDs digits. */
const ID_PREFIX = 'txn-';
const PART_OF_ID = /^(?:(?:(?:t?x)?n)?-)?[0-9a-f]*$/;

function termsOf(search: string): Search {
  const text = search.toLowerCase();
  const matchesAll = ID_PREFIX.includes(text);
  return {
    pattern: containing(search),
    matchesAll,
    fitsIds: PART_OF_ID.test(text),
    grams: gramsOf(text),
  };
}

/**
 * Characters of a gram in `id_grams` (migrations/world/baseline/figures.ts), and what may be the last of one:
 * a space ends an id.
 */
const GRAM = 4;
const LAST_OF_GRAM = Array.from('0123456789abcdef ');

function gramsOf(text: string): Search['grams'] {
  if (text.length < GRAM - 1) return undefined;
  if (text.length < GRAM) return { of: 'any', texts: LAST_OF_GRAM.map((last) => text + last) };
  // Every eSIM has the grams of the prefix.
  const first = Math.min(Math.max(text.indexOf('-'), 0), text.length - GRAM);
  const grams = Array.from(text, (_, start) => text.slice(start, start + GRAM)).slice(first, 1 - GRAM);
  return { of: 'all', texts: [...new Set(grams)] };
}

const ofStatus = (status: EsimStatus | undefined): RawBuilder<unknown> =>
  status === undefined ? sql`` : sql`and status = ${status}`;

const behind = ({ after }: EsimQuery): RawBuilder<unknown> =>
  after === undefined
    ? sql``
    : sql`and (created_at, id) < ((select created_at from esims where id = ${after}), ${after})`;

const NEWEST_FIRST = sql`created_at desc, id desc`;

/** Without a search. A page by number starts at the day that the kept figures say it is on, so that no more than the orders of one day are skipped. */
async function readPage(db: WorldDb, query: EsimQuery): Promise<EsimRow[]> {
  const { accountId, status, limit } = query;
  const mine = sql`account_id = ${accountId} ${ofStatus(status)}`;
  const offset = offsetOf(query);
  if (offset <= MAX_SKIPPED) {
    const { rows } = await sql<EsimRow>`
      select * from esims where ${mine} ${behind(query)}
       order by ${NEWEST_FIRST} limit ${limit + 1} offset ${offset}`.execute(db);
    return rows;
  }
  const { rows } = await sql<EsimRow>`
    with days as materialized (
      select day, sum(sum(esims)) over (order by day desc) - sum(esims) as before, sum(esims) as esims
        from esim_figures where ${mine} group by day
    ), start as materialized (
      select (day + 1)::timestamp at time zone 'UTC' as until, (${offset} - before)::bigint as skipped
        from days where before <= ${offset} and ${offset} < before + esims
    ), page as materialized (
      select id from esims where ${mine} and created_at < (select until from start)
       order by ${NEWEST_FIRST} limit ${limit + 1} offset (select skipped from start)
    )
    select esims.* from page join esims using (id) order by ${NEWEST_FIRST}`.execute(db);
  return rows;
}

/** eSIMs of one package name in one status. */
interface NamedEsims {
  readonly package_name: string;
  readonly status: EsimStatus;
  readonly esims: bigint;
}

/** How many eSIMs the account has in all, and which of their package names match. An account has few names. */
async function countByName(
  db: WorldDb,
  { accountId, status }: EsimQuery,
  search?: Search,
): Promise<{ readonly total: number; readonly matching: readonly NamedEsims[] }> {
  const { rows } = await sql<NamedEsims & { readonly matches: boolean }>`
    with named as materialized (
      select package_name, status, sum(esims)::bigint as esims
        from esim_name_figures where account_id = ${accountId} ${ofStatus(status)}
       group by package_name, status having sum(esims) > 0
    )
    select '' as package_name, '' as status, coalesce(sum(esims), 0)::bigint as esims, false as matches from named
    ${search === undefined ? sql`` : sql`union all select *, true from named where package_name ilike ${search.pattern}`}`.execute(
    db,
  );
  const total = rows.find((row) => !row.matches)?.esims ?? 0n;
  return { total: Number(total), matching: rows.filter((row) => row.matches) };
}

const matches = ({ pattern }: Search): RawBuilder<unknown> =>
  sql`(package_name ilike ${pattern} or ${matchesIds(pattern)})`;

const matchesIds = (pattern: string): RawBuilder<unknown> =>
  sql`(iccid ilike ${pattern} or transaction_id ilike ${pattern})`;

/** A small account, row by row, once for the page and the count. */
async function searchSmall(db: WorldDb, query: EsimQuery, search: Search): Promise<Found> {
  const { rows } = await sql<{ readonly id: string | null; readonly total: bigint }>`
    with found as materialized (
      select id, created_at from esims where account_id = ${query.accountId} ${ofStatus(query.status)} and ${matches(search)}
    ), page as (
      select id, created_at from found where true ${behind(query)}
       order by ${NEWEST_FIRST} limit ${query.limit + 1} offset ${offsetOf(query)}
    )
    select page.id, (select count(*) from found) as total from (values (true)) one left join page on true
     order by ${NEWEST_FIRST}`.execute(db);
  const ids = rows.flatMap(({ id }) => id ?? []);
  return { ids, total: Number(rows[0]?.total ?? 0n), totalIsMinimum: false };
}

/** Ids of one more than the page, and how many match in all. */
interface Found {
  readonly ids: readonly string[];
  readonly total: number;
  readonly totalIsMinimum: boolean;
}

/**
 * A large account: among its newest, and where these are not enough, by the indexes. Names are counted from the kept figures; to these come the eSIMs that
 * only an id finds, up to a bound.
 */
async function searchLarge(
  db: WorldDb,
  query: EsimQuery,
  search: Search,
  names: readonly NamedEsims[],
): Promise<Found> {
  const { fitsIds } = search;
  const wanted = offsetOf(query) + query.limit + 1;
  if (!fitsIds && names.length === 0) return { ids: [], total: 0, totalIsMinimum: false };
  const near = fitsIds || names.length > MANY_NAMES ? await findNear(db, query, search, wanted) : NOTHING;
  const hasPage = near.ids.length >= wanted;
  // Those in front of a cursor are counted as well.
  const isCounted = !fitsIds || near.onlyById > MAX_FOUND;
  const index = hasPage && isCounted ? NOTHING : await searchIndexes(db, query, search, names, hasPage);
  const onlyById = fitsIds ? Math.max(near.onlyById, index.onlyById) : 0;
  const byNames = Number(names.reduce((sum, row) => sum + row.esims, 0n));
  return {
    ids: hasPage ? near.ids.slice(offsetOf(query), wanted) : index.ids,
    total: byNames + Math.min(onlyById, MAX_FOUND),
    totalIsMinimum: onlyById > MAX_FOUND,
  };
}

/** Reading the newest of each name takes some 10 µs a name and status. */
const MANY_NAMES = 50;

interface Matches {
  readonly ids: readonly string[];
  /** Without those that their package name finds, too; no more than one above the bound. */
  readonly onlyById: number;
}

const NOTHING: Matches = { ids: [], onlyById: 0 };

/** Of the newest that match: `wanted` ids at most, fewer where only an index can say, and how many. */
async function findNear(db: WorldDb, query: EsimQuery, search: Search, wanted: number): Promise<Matches> {
  const enough = Math.max(wanted, MAX_FOUND + 1);
  let found = NOTHING;
  for (let window: number | undefined = FIRST_WINDOW; window !== undefined;) {
    const { rows } = await sql<Matches & { readonly matching: number }>`
      select coalesce((array_agg(id order by ${NEWEST_FIRST}))[:${wanted}::integer], '{}') as ids, count(*)::integer as matching,
             (count(*) filter (where not package_name ilike ${search.pattern}))::integer as "onlyById"
        from (
          select id, created_at, package_name from (
            select id, created_at, package_name, iccid, transaction_id from esims
             where account_id = ${query.accountId} ${ofStatus(query.status)} ${behind(query)}
             order by ${NEWEST_FIRST} limit ${window}
          ) newest where ${matches(search)} order by ${NEWEST_FIRST} limit ${enough}
        ) found`.execute(db);
    found = rows[0] ?? NOTHING;
    window = windowAfter(window, rows[0]?.matching ?? 0);
  }
  return found;
}

async function readFound(db: WorldDb, query: EsimQuery, { ids, ...total }: Found): Promise<EsimList> {
  if (ids.length === 0) return pageOf(query, [], total);
  const { rows } = await sql<EsimRow>`
    select * from esims where id = any(${ids}::text[]) order by ${NEWEST_FIRST}`.execute(db);
  return pageOf(query, rows, total);
}

/** The page, where it is not known yet, and the count, in one reading of the index of grams. */
async function searchIndexes(
  db: WorldDb,
  query: EsimQuery,
  search: Search,
  names: readonly NamedEsims[],
  hasPage: boolean,
): Promise<Matches> {
  const offset = offsetOf(query);
  const wanted = offset + query.limit + 1;
  const ids = search.fitsIds ? idMatches(query, search, names.length > 0, wanted) : undefined;
  const found = [...(names.length > 0 ? [byName(query, names, wanted)] : []), ...(ids?.newest ?? [])];
  const page = sql`
    select id from (${sql.join(found, sql` union `)}) found order by ${NEWEST_FIRST} limit ${query.limit + 1} offset ${offset}`;
  const { rows } = await sql<Matches>`
    ${ids?.tables ?? sql``}
    select ${hasPage ? sql`'{}'::text[]` : sql`array(${page})`} as ids, (${ids?.count ?? sql`0`})::integer as "onlyById"`.execute(
    db,
  );
  return rows[0] ?? NOTHING;
}

interface IdMatches {
  /** The `with` that the others read. */
  readonly tables: RawBuilder<unknown>;
  /** Its newest, each as ids and times. */
  readonly newest: readonly RawBuilder<unknown>[];
  readonly count: RawBuilder<unknown>;
}

/**
 * eSIMs that are found by an id and, where names match as well, by no name. Those in `esim_search` come from its index of grams, which has their
 * current ids: an eSIM's own row is read for its status and name alone. The others are read one by one.
 */
function idMatches(query: EsimQuery, search: Search, hasNames: boolean, wanted: number): IdMatches {
  const { accountId, status } = query;
  const { pattern, grams } = search;
  const bound = MAX_FOUND + 1;
  const unnamed = hasNames ? sql`and not package_name ilike ${pattern}` : sql``;
  const mine = sql`account_id = ${accountId} ${ofStatus(status)} and ${matchesIds(pattern)} ${unnamed}`;
  if (grams === undefined) {
    const newest = sql`(select id, created_at from esims where ${mine} ${behind(query)} order by ${NEWEST_FIRST} limit ${wanted})`;
    return { tables: sql``, newest: [newest], count: countUpTo(bound, sql`select from esims where ${mine}`) };
  }
  const notIndexed = sql`select distinct esim_id from esim_deltas where account_id = ${accountId} and is_found_anew`;
  const contains = grams.of === 'all' ? sql`@>` : sql`&&`;
  const quarter = accountId.charCodeAt(accountId.length - 1) % 4;
  const inAccount = grams.texts.map((text) => `${quarter}${text}`);
  // `offset 0` keeps each eSIM read by its id: Postgres would else read all of the account where it expects more matches than there are.
  const row =
    status === undefined && !hasNames
      ? sql``
      : sql`, lateral (select from esims where id = folded.id ${ofStatus(status)} ${unnamed} offset 0) kept`;
  return {
    tables: sql`
      with folded as materialized (
        select esim_id as id, created_at from esim_search
         where id_grams(account_id, ids) ${contains} ${inAccount}::text[] and account_id = ${accountId} and ids ilike ${pattern}
           and esim_id not in (${notIndexed})
      ), unfolded as materialized (
        select one.id, one.created_at from (${notIndexed}) found, lateral (select * from esims where id = found.esim_id offset 0) one where ${mine}
      )`,
    newest: [
      sql`(select folded.* from (select * from folded where true ${behind(query)} order by ${NEWEST_FIRST}) folded ${row}
            order by ${NEWEST_FIRST} limit ${wanted})`,
      sql`select * from unfolded where true ${behind(query)}`,
    ],
    count: countUpTo(bound, sql`(select from folded ${row} limit ${bound}) union all (select from unfolded)`),
  };
}

const countUpTo = (bound: number, rows: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select count(*) from (select from (${rows}) found limit ${bound}) counted`;

/** The newest of each name and status, which is what their index is ordered by. */
function byName(query: EsimQuery, names: readonly NamedEsims[], wanted: number): RawBuilder<unknown> {
  const [name, status] = [names.map((row) => row.package_name), names.map((row) => row.status)];
  return sql`
    select one.id, one.created_at from unnest(${name}::text[], ${status}::text[]) as named (package_name, status),
      lateral (
        select id, created_at from esims
         where account_id = ${query.accountId} and esims.package_name = named.package_name and esims.status = named.status ${behind(query)}
         order by ${NEWEST_FIRST} limit ${wanted}
      ) one`;
}
