/** Finding what an id leads to. */
import { z } from 'zod';
import { text, yesNo, namedObject, dataObject } from '../../platform/http/answer-fields.ts';
import { textField } from '../../platform/http/fields.ts';
import { MAX_EMAIL_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import type { Route } from '../../platform/http/route.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { FOUND_KINDS, MAX_FOUND } from '../search.ts';
import { FOUND_BY } from '../store/search.ts';

const routes = operatorRoutes<OperatorCases>('Purchases');

const searchQuery = z.object({
  ...environmentField,
  text: textField({
    max: MAX_EMAIL_CHARACTERS,
    description: 'Id or text to search for; surrounding blanks are removed',
    example: '8944300000000000001',
  })
    .transform((text) => text.trim())
    .refine((text) => text !== '', 'must not be empty'),
});

const found = namedObject('Found', {
  kind: z.enum(FOUND_KINDS),
  id: z.string().meta({ example: 'txn-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  title: text('For people', 'Nigeria 1GB 7Days, NGN 3790.40, SUCCESS'),
  account: z
    .object({ accountId: z.string(), name: z.string() })
    .nullable()
    .describe('Whose it is; null: it belongs to no account'),
  foundBy: z
    .enum(FOUND_BY)
    .meta({ description: 'Which field of the result matched the text', example: 'iccid' }),
});

const searchSchema = dataObject('SearchResult', {
  items: z.array(found),
  isCut: yesNo(`There are more than ${MAX_FOUND}`),
});

export const operatorSearchRoutes: readonly Route<OperatorCases>[] = [
  routes.get('/ops/search', {
    permission: 'see',
    query: searchQuery,
    answer: [200, `At most ${MAX_FOUND}`, searchSchema],
    operationId: 'search',
    summary: 'Find what an id leads to',
    description:
      'Purchases and fundings by their id, a reference or id of the gateway, of a refund or of a dispute there, the supplier’s order number, the id, ' +
      'number or ICCID of an eSIM, the id of a batch, a quote, a webhook message, an event, an operator action or a request; other webhook ' +
      'messages, webhook endpoints, batches, quotes, batch repairs, gateway events without a payment, API keys, members and requests by id; ' +
      'accounts by id or a part of their name or of an e-mail address. For roles that see them: differences by id, people by id or e-mail ' +
      'address. Ids in full.',
    handle: ({ cases, session, query }) => cases.search(session, query.text),
  }),
];
