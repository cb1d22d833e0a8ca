import type { SelectQueryBuilder } from 'kysely';
import type { Page, PageQuery } from '../../domain/page.ts';

/** One page of ordered rows, and how many there are. */
export async function readPage<Tables, Name extends keyof Tables, Row>(
  rows: SelectQueryBuilder<Tables, Name, Row>,
  { page, limit }: PageQuery,
): Promise<Page<Row>> {
  const [items, { total }] = await Promise.all([
    rows
      .limit(limit)
      .offset((page - 1) * limit)
      .execute(),
    rows
      .clearSelect()
      .clearOrderBy()
      .select((eb) => eb.fn.countAll<bigint>().as('total'))
      .$castTo<{ total: bigint }>()
      .executeTakeFirstOrThrow(),
  ]);
  return { items, total: Number(total), page, limit };
}
