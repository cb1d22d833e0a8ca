/** Finding what an id leads to. */
import { z } from 'zod';
import { text, namedObject, dataObject } from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { soughtField } from '../../platform/http/fields.ts';
import { MAX_REQUEST_ID_CHARACTERS } from '../../platform/http/limits.ts';
import type { Route } from '../../platform/http/route.ts';
import { FOUND_BY, FOUND_KINDS, MAX_FOUND } from '../store/search.ts';
import type { PurchaseCases } from '../use-cases.ts';

const routes = merchantRoutes<PurchaseCases>('Purchases');

const searchQuery = z.object({
  text: soughtField({
    max: MAX_REQUEST_ID_CHARACTERS,
    description:
      'A complete id, reference or ICCID; blanks around it and in an ICCID, and the F at its end, are left out',
    example: '8944300000000000001',
  }),
});

const searchSchema = dataObject('FoundItems', {
  items: z.array(
    namedObject('FoundItem', {
      kind: z.enum(FOUND_KINDS),
      id: z.string().meta({ example: 'txn-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
      foundBy: z
        .enum(FOUND_BY)
        .meta({ description: 'Which field of the result matched the text', example: 'iccid' }),
      title: text('For people', 'Nigeria 1GB 7Days'),
      status: text('Empty for a batch and a quote', 'SUCCESS'),
    }),
  ),
});

export const searchRoutes: readonly Route<PurchaseCases>[] = [
  routes.get('/api/search', {
    query: searchQuery,
    answer: [200, `At most ${MAX_FOUND}, newest first; empty where there is none`, searchSchema],
    operationId: 'searchById',
    summary: 'Find what an id leads to',
    description:
      'Only what is yours. Purchases and fundings by id, by your `reference`, by the gateway’s reference of their payment, by the id of the request that opened them ' +
      '(`X-Request-Id`), of their quote, or of an event without a message; purchases of your newest 1,000 batches by the `reference` that you ' +
      'gave the row; eSIMs by id, ICCID, `orderNo` or `esimTranNo`; webhook messages by id or the id of their event; batches, webhook endpoints ' +
      'and unused quotes by id. Ids in full.',
    handle: async ({ cases, principal, query: { text } }) => ({
      items: await cases.searchOwn(principal, text),
    }),
  }),
];
