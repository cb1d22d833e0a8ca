/** The vendor's list of transactions, as far as they are paid: a page of a hundred for one question. */
import type { PaidCharges } from '../../payments/port.ts';
import { isOtherMode, type Context } from './context.ts';
import { pageOf, readable, windowQuery } from './lists.ts';
import { readTransaction } from './wire.ts';

const PATH = '/transaction';

export async function paidChargesOf(
  { client, mode }: Context,
  from: Date,
  to: Date,
  page: number,
): Promise<PaidCharges> {
  const query = { status: 'success', ...windowQuery(from, to) };
  const { rows, total, isLast } = await pageOf(client, { path: PATH, query, page });
  const charges = readable(PATH, () => rows.map(readTransaction));
  const ours = charges.filter(({ domain }) => !isOtherMode(domain, mode));
  return { references: ours.map(({ reference }) => reference), count: rows.length, total, isLast };
}
