/** The filters of the catalogue, in its address. Pure. */
import type { ApiSchemas } from '../api/client.ts';
import { amountIn, textIn, searchOf } from '../ui/address.ts';

type Package = ApiSchemas['Package'];

export const packageFilters = searchOf({
  region: textIn,
  /** In the name, the code or the data. */
  search: textIn,
  /** At least this many GB in all. */
  data: amountIn,
  /** At least this many. */
  days: amountIn,
  /** At most, in the account's currency. */
  price: amountIn,
});
export type PackageFilters = ReturnType<typeof packageFilters>;

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
