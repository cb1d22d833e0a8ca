/** Lists in the documented general envelope: the query of a page and its response. Pure. */
import { searchText } from 'simway-client/search-text.ts';
import { z } from 'zod';
import { dataSchema } from './answer-fields.ts';
import { isCleanText, wholeNumberField } from './fields.ts';
import {
  DEFAULT_FEED_LIMIT,
  DEFAULT_PAGE_LIMIT,
  MAX_PAGE,
  MAX_PAGE_LIMIT,
  MAX_SEARCH_CHARACTERS,
} from './limits.ts';
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

/** Part of the query of a list without pages by number. */
export const limitField = (description: string) =>
  wholeNumberField({ min: 1, max: MAX_PAGE_LIMIT, fallback: DEFAULT_FEED_LIMIT, description });

type IsCursor = (text: string) => boolean;
const WRONG_CURSOR = 'must be the nextCursor of a page';

/** Part of the query of a list with pages by number and by cursor; `eitherPageOrAfter` belongs to it. */
export const afterField = (isCursor: IsCursor) =>
  z
    .string()
    .refine((text) => text === '' || isCursor(text), WRONG_CURSOR)
    .optional()
    .describe('The `nextCursor` of the page before, in place of `page`; empty means the first');

/** What `refine` takes. */
export const eitherPageOrAfter: [
  (query: { readonly page: number; readonly after?: string | undefined }) => boolean,
  { path: string[]; message: string },
] = [
  ({ page, after }) => page === 1 || !after,
  { path: ['after'], message: 'must not be given together with page' },
];

/** The query of a list that has cursors alone. `what`: the items, for people. */
export const cursorFields = (isCursor: IsCursor, what: string) => ({
  after: z
    .string()
    .refine(isCursor, WRONG_CURSOR)
    .optional()
    .describe('Continues behind an earlier page: its `nextCursor`'),
  limit: limitField(`${what} at most`),
});

export const searchField = (description: string) =>
  z
    .string()
    .max(MAX_SEARCH_CHARACTERS, `must be at most ${MAX_SEARCH_CHARACTERS} characters long`)
    .refine(isCleanText, 'must not contain control characters or broken Unicode')
    .transform(searchText)
    .optional()
    .describe(description);

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
  return dataSchema(z.object({ items: z.array(item), pagination: paginationSchema }), id);
}

/** The same for a list that has cursors alone. */
export function cursorPageSchema<Item extends z.ZodType>(item: Item, id: string) {
  const nextCursor = z.string().nullable().describe('For `after`; null at the end');
  return dataSchema(z.object({ items: z.array(item), nextCursor }), id);
}

export function presentPage<Item>({ items, total, page, limit }: Page<Item>) {
  const totalPages = Math.ceil(total / limit);
  return {
    items,
    pagination: {
      currentPage: page,
      totalPages,
      totalItems: total,
      itemsPerPage: limit,
      hasNextPage: page < totalPages,
      hasPrevPage: page > 1,
    },
  };
}
