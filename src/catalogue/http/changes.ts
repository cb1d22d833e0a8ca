/** What changed in the catalogue. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { isoTime, money, text, yesNo, namedObject, dataObject } from '../../platform/http/answer-fields.ts';
import { cursorField, encodeCursor } from '../../platform/http/cursor.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { wholeNumberField } from '../../platform/http/fields.ts';
import { DEFAULT_CHANGES_LIMIT, MAX_CHANGES_LIMIT } from '../../platform/http/limits.ts';
import type { Route } from '../../platform/http/route.ts';
import { CHANGE_KINDS, CHANGED_FIELDS } from '../rules.ts';
import type { CatalogueCases } from '../use-cases.ts';

const routes = merchantRoutes<CatalogueCases>('Catalogue');

/** The list that cursors of changes belong to. */
const CHANGES_LIST = 'package-changes';

const changesQuery = z.object({
  since: cursorField(CHANGES_LIST, {
    description:
      'The `nextCursor` of the last answer; `now`: only what comes; without: from the first change kept',
  }).optional(),
  limit: wholeNumberField({
    min: 1,
    max: MAX_CHANGES_LIMIT,
    fallback: DEFAULT_CHANGES_LIMIT,
    description: 'Changes in one answer',
  }),
});

const packageChangeSchema = namedObject('PackageChange', {
  at: isoTime('When the change was found'),
  kind: z.enum(CHANGE_KINDS).describe('ADDED: on sale, for the first time or again'),
  packageCode: z.string(),
  packageName: text('After the change'),
  regionCode: text('After the change'),
  changedFields: z
    .array(z.enum(CHANGED_FIELDS))
    .describe('What is different; empty for a new package. `availability`: withdrawn, or on sale again'),
  price: money(
    'As it now stands, in `currency`; null while the package is not on sale, or without a current rate',
  ).nullable(),
  currency: z.enum(ACCOUNT_CURRENCIES).describe('Of the account'),
});

const packageChangesSchema = dataObject('PackageChanges', {
  items: z.array(packageChangeSchema).describe('Oldest first'),
  nextCursor: text('For `since` of the next request, also when there is nothing new'),
  hasMore: yesNo('More can be read at once'),
});

export const changeRoutes: readonly Route<CatalogueCases>[] = [
  routes.get('/api/esim/packages/changes', {
    query: changesQuery,
    answer: [200, 'Changes, oldest first', packageChangesSchema],
    operationId: 'listPackageChanges',
    summary: 'List what changed in the catalogue',
    description:
      'Every BASE package that was added, changed or withdrawn, in the order in which it happened. Pass `nextCursor` as `since` to go on: nothing is ' +
      'left out and nothing comes twice. Markups and exchange rates change prices without a change here: the ETag of the lists shows those.',
    async handle({ cases, principal: { account }, query }) {
      const { items, nextId, hasMore } = await cases.listPackageChanges(account, query);
      return {
        items: items.map((change) => ({ ...change, currency: account.currency })),
        nextCursor: encodeCursor(CHANGES_LIST, nextId),
        hasMore,
      };
    },
  }),
];
