/** Lists in the documented general envelope: the query of a page and its response. Pure. */
import { z } from 'zod';
import { wholeNumberField } from './fields.ts';
import { DEFAULT_PAGE_LIMIT, MAX_PAGE, MAX_PAGE_LIMIT } from './limits.ts';
import type { Page } from '../../domain/page.ts';

/** Part of every list's query. */
export const pageFields = {
  page: wholeNumberField({ min: 1, max: MAX_PAGE, fallback: 1, description: 'Page number, from 1' }),
  limit: wholeNumberField({
    min: 1,
    max: MAX_PAGE_LIMIT,
    fallback: DEFAULT_PAGE_LIMIT,
    description: 'Items per page',
  }),
};

export const paginationSchema = z
  .object({
    currentPage: z.number().int(),
    totalPages: z.number().int(),
    totalItems: z.number().int(),
    itemsPerPage: z.number().int(),
    hasNextPage: z.boolean(),
    hasPrevPage: z.boolean(),
  })
  .meta({ id: 'Pagination' });

/** The envelope around items of one kind. */
export function pageSchema<Item extends z.ZodType>(item: Item, id: string) {
  return z
    .object({
      success: z.literal(true),
      data: z.object({ items: z.array(item), pagination: paginationSchema }),
    })
    .meta({ id });
}

/** A page as its envelope, each item by its own presenter. */
export function presentPage<View, Item>(
  { items, total, page, limit }: Page<View>,
  present: (view: View) => Item,
) {
  const totalPages = Math.ceil(total / limit);
  return {
    success: true,
    data: {
      items: items.map(present),
      pagination: {
        currentPage: page,
        totalPages,
        totalItems: total,
        itemsPerPage: limit,
        hasNextPage: page < totalPages,
        hasPrevPage: page > 1,
      },
    },
  } as const;
}
