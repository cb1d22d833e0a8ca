/** The filters of the catalogue, in its address. Pure. */
import type { components } from 'simway-client/generated/api.ts';
import { amountIn, textIn, type Search } from '../ui/address.ts';

type Package = components['schemas']['Package'];

export interface PackageFilters {
  readonly region?: string | undefined;
  /** In the name, the code or the data. */
  readonly search?: string | undefined;
  /** At least this many GB in all. */
  readonly data?: number | undefined;
  /** At least this many. */
  readonly days?: number | undefined;
  /** At most, in the account's currency. */
  readonly price?: number | undefined;
}

export const packageFilters = (search: Search): PackageFilters => ({
  region: textIn(search['region']),
  search: textIn(search['search']),
  data: amountIn(search['data']),
  days: amountIn(search['days']),
  price: amountIn(search['price']),
});

const MB_PER_GB = 1024;

/** `500 MB`, and `1 GB/day` over all its days. A text without a size, such as `Unlimited`, has no limit. */
export function gigabytesOf({ data, validity }: Pick<Package, 'data' | 'validity'>): number {
  const [, size, unit, daily] = /^([\d.]+) (MB|GB)(\/day)?$/.exec(data) ?? [];
  if (size === undefined) return Infinity;
  const gigabytes = unit === 'MB' ? Number(size) / MB_PER_GB : Number(size);
  return daily === undefined ? gigabytes : gigabytes * validity;
}

export function isFit(
  one: Pick<Package, 'packageName' | 'packageCode' | 'data' | 'validity' | 'price'>,
  { search = '', data = 0, days = 0, price = Infinity }: PackageFilters,
): boolean {
  const text = `${one.packageName} ${one.packageCode} ${one.data}`.toLowerCase();
  return (
    text.includes(search.toLowerCase()) &&
    gigabytesOf(one) >= data &&
    one.validity >= days &&
    one.price <= price
  );
}
