/** Lists of packages and locations. No paging; overrides and withdrawals show at once. */
import { z } from 'zod';
import { baseCodeOf, TOPUP_PREFIX } from '../magic.ts';
import type { CatalogueEntry } from '../catalogue.ts';
import { effective, type Operations, type SupplierContext } from '../context.ts';
import { SupplierError, read, TEXT, WHOLE, type Params } from '../errors.ts';
import { findEsim } from './esims.ts';

const LIST = z.object({ type: TEXT, packageCode: TEXT, slug: TEXT, locationCode: TEXT, dataType: WHOLE });
type Wanted = z.output<typeof LIST>;

const itemJson = new WeakMap<CatalogueEntry, string>();
const wholeLists = new WeakMap<readonly CatalogueEntry[], string>();

function jsonOf(entry: CatalogueEntry): string {
  const known = itemJson.get(entry) ?? JSON.stringify(entry.item);
  itemJson.set(entry, known);
  return known;
}

function listJson(context: SupplierContext, entries: readonly CatalogueEntry[]): string {
  const isChanged = context.storage.overrides.count() > 0;
  const isWhole = entries === context.catalogue.base && !isChanged;
  const kept = isWhole ? wholeLists.get(entries) : undefined;
  if (kept !== undefined) return kept;
  const sold = isChanged ? entries.flatMap((entry) => effective(context, entry) ?? []) : entries;
  const json = `{"packageList":[${sold.map(jsonOf).join(',')}]}`;
  if (isWhole) wholeLists.set(entries, json);
  return json;
}

function namedBase(context: SupplierContext, { packageCode, slug }: Wanted): CatalogueEntry | undefined {
  if (packageCode !== undefined) {
    const entry = context.catalogue.findBase(baseCodeOf(packageCode));
    if (entry === undefined) throw new SupplierError('310241', `packageCode [${packageCode}] does not exist`);
    if (slug !== undefined && entry.item.slug !== slug) {
      throw new SupplierError('310243', `slug [${slug}] is another package`);
    }
    return entry;
  }
  if (slug === undefined) return undefined;
  const entry = context.catalogue.findBase(slug);
  if (entry === undefined) throw new SupplierError('310243', `slug [${slug}] does not exist`);
  return entry;
}

function baseEntries(context: SupplierContext, params: Params, named: Wanted): readonly CatalogueEntry[] {
  const entry = namedBase(context, named);
  const esim = findEsim(context, params);
  const ofEsim = esim === undefined ? undefined : context.catalogue.findBase(esim.plan.packageCode);
  if (entry !== undefined) return esim === undefined || ofEsim === entry ? [entry] : [];
  if (esim !== undefined) return ofEsim === undefined ? [] : [ofEsim];
  return context.catalogue.base;
}

function topUpEntries(context: SupplierContext, params: Params, named: Wanted): readonly CatalogueEntry[] {
  if (named.packageCode?.startsWith(TOPUP_PREFIX) === true) {
    const topUp = context.catalogue.findTopUp(named.packageCode);
    if (topUp === undefined) {
      throw new SupplierError('310241', `packageCode [${named.packageCode}] does not exist`);
    }
    return [topUp];
  }
  const esim = findEsim(context, params);
  const entry = namedBase(context, named) ?? context.catalogue.findBase(esim?.plan.packageCode ?? '');
  if (entry === undefined && esim === undefined) {
    throw new SupplierError('000105', 'TOPUP needs one of packageCode, slug, iccid and esimTranNo');
  }
  return entry === undefined ? [] : context.catalogue.topUpsFor(entry);
}

/** Narrows by `locationCode` (a code, !RG or !GL) and `dataType` (1 fixed, 2 any day-pass). */
function narrow(
  context: SupplierContext,
  { locationCode: location, dataType }: Wanted,
  entries: readonly CatalogueEntry[],
): readonly CatalogueEntry[] {
  if (dataType !== undefined && dataType !== 1 && dataType !== 2) {
    throw new SupplierError('200008', 'dataType must be 1 or 2');
  }
  const scope = location === '!RG' ? 'RG' : location === '!GL' ? 'GL' : undefined;
  if (location !== undefined && scope === undefined && !context.catalogue.hasLocation(location)) {
    throw new SupplierError('310211', `locationCode [${location}] does not exist`);
  }
  if (location === undefined && dataType === undefined) return entries;
  return entries.filter(
    (entry) =>
      (scope === undefined || entry.scope === scope) &&
      (scope !== undefined || location === undefined || entry.item.locationCode === location) &&
      (dataType === undefined || (dataType === 1) === (entry.item.dataType === 1)),
  );
}

export const catalogueOperations = {
  'package/list': (context, params) => {
    const wanted = read(LIST, params);
    const { type = 'BASE' } = wanted;
    if (type !== 'BASE' && type !== 'TOPUP') throw new SupplierError('200008', 'type must be BASE or TOPUP');
    const entries = (type === 'BASE' ? baseEntries : topUpEntries)(context, params, wanted);
    return { obj: null, objJson: listJson(context, narrow(context, wanted, entries)) };
  },
  'location/list': ({ catalogue }) => ({ obj: { locationList: catalogue.locations } }),
} satisfies Operations;
