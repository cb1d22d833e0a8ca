/** What all routes for operators have in common. Guarantee: each of them names a permission. */
import { z } from 'zod';
import { ENVIRONMENTS } from '../../domain/account.ts';
import { routesWith } from './define-routes.ts';
import { choiceField, idParameter, isCleanText } from './fields.ts';
import { MAX_FOUND_BY_CHARACTERS } from './limits.ts';
import type { PathParameter } from './route.ts';

/**
 * Part of the query of every route that is about one environment. The middleware reads it before the route
 * does (pick-environment.ts).
 */
export const environmentField = {
  environment: choiceField(ENVIRONMENTS, {
    description: 'Which environment is meant: test while live is switched off, and needed once it is on',
  }).optional(),
};

export const environmentQuery = z.object(environmentField);

/** Defines routes for signed-in operators that are about one environment. */
export const operatorRoutes = <Cases>(tag: string, params?: Readonly<Record<string, PathParameter>>) =>
  routesWith<Cases, 'session'>('session', tag, { params, query: environmentQuery });

const NO_TRANSACTION = {
  code: 'TRANSACTION_NOT_FOUND',
  message: 'No such purchase or funding',
} as const;

export const transactionId = idParameter(
  'transaction',
  'The `transactionId` of a purchase or a funding',
  NO_TRANSACTION.message,
  NO_TRANSACTION.code,
);

/** Any id that leads to a purchase. */
export const anyId: PathParameter = {
  description:
    'The `transactionId` of a purchase or a funding, or what leads to it: a reference of the gateway, the id or ICCID of an eSIM, ' +
    'the id of a webhook message',
  example: 'txn-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => text.length <= MAX_FOUND_BY_CHARACTERS && isCleanText(text),
  notFound: NO_TRANSACTION,
};
