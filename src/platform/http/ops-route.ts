/** What all routes for operators have in common. Guarantee: each of them names a permission. */
import { z } from 'zod';
import { ENVIRONMENTS } from '../../domain/account.ts';
import { isId, makeId, type IdKind } from '../../domain/ids.ts';
import type { Permission } from '../../domain/operator-roles.ts';
import { choiceField, isCleanText } from './fields.ts';
import { MAX_FOUND_BY_CHARACTERS } from './limits.ts';
import { routesFor, type PathParameter, type Route, type RouteDefinition } from './route.ts';

type Defaults = 'key' | 'scope' | 'shapes' | 'keyErrors' | 'pickShape' | 'environment' | 'permission';

type OpsRouteDefinition<
  Query extends z.ZodObject | undefined,
  Body extends z.ZodObject | undefined,
  Cases,
> = Omit<RouteDefinition<'session', Query, Body, Cases>, Defaults> & {
  readonly permission: Permission | 'own';
};

/** Defines routes for signed-in operators; `permission` says what their role must allow. */
export const opsRoutesFor =
  <Cases>() =>
  <Query extends z.ZodObject | undefined = undefined, Body extends z.ZodObject | undefined = undefined>(
    definition: OpsRouteDefinition<Query, Body, Cases>,
  ): Route<Cases> =>
    routesFor<Cases>()<'session', Query, Body>({ ...definition, key: 'session', scope: undefined });

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

/** One of our ids. */
export const idParameter = (kind: IdKind, description: string, message: string): PathParameter => ({
  description,
  example: makeId(kind, '6f9619ff8b864d0191f1c2d3e4f5a6b7'),
  isPossible: (text) => isId(kind, text),
  notFound: { code: 'NOT_FOUND', message },
});

const NO_TRANSACTION = {
  code: 'TRANSACTION_NOT_FOUND',
  message: 'No such purchase or funding',
} as const;

export const transactionId: PathParameter = {
  description: 'The `transactionId` of a purchase or a funding',
  example: 'txn-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('transaction', text),
  notFound: NO_TRANSACTION,
};

/** Any id that leads to a purchase. */
export const anyId: PathParameter = {
  description:
    'The `transactionId` of a purchase or a funding, or what leads to it: a reference of the gateway, the id or ICCID of an eSIM, ' +
    'the id of a webhook message',
  example: 'txn-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => text.length <= MAX_FOUND_BY_CHARACTERS && isCleanText(text),
  notFound: NO_TRANSACTION,
};
