/** What is stuck, what happened to one purchase, and putting it right. */
import type { z } from 'zod';
import type { RequestedAction } from '../../platform/composition/ops-world.ts';
import { isId } from '../../domain/ids.ts';
import { noteTransaction } from '../../platform/telemetry/subject.ts';
import { toJson } from '../../platform/http/json.ts';
import type { PathParameter, Route } from '../../platform/http/route.ts';
import {
  anyId,
  defineOpsRoute,
  doneSchema,
  transactionId,
  worldQuery,
} from '../../platform/http/ops-route.ts';
import {
  presentActionRecord,
  presentActions,
  presentReplay,
  presentPurchaseTimeline,
  presentStuck,
  actionAnswer,
} from './present.ts';
import {
  dismissBody,
  moveBody,
  moveDoneSchema,
  moveRefusedSchema,
  moveWaitsSchema,
  movesSchema,
  replayBody,
  replaySchema,
  purchaseTimelineSchema,
  stuckPageSchema,
  stuckQuery,
  waitingMovesSchema,
} from './schema.ts';

const TAG = 'Purchases';
const MOVES_TAG = 'Moves';
const ONE = '/ops/purchases/{transactionId}';
const EVENT_ID = /^event-\d{1,18}$/;

const moveId: PathParameter = {
  description: 'The `moveId` of a move that waits',
  example: 'move-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('move', text),
  notFound: { code: 'NOT_FOUND', message: 'There is no such move' },
};

export function purchaseRoutes(): Route[] {
  return [
    stuckRoute(),
    storyRoute(),
    movesRoute(),
    moveRoute(),
    replayRoute(),
    dismissRoute(),
    waitingRoute(),
    approveRoute(),
    declineRoute(),
  ];
}

function stuckRoute(): Route {
  return defineOpsRoute({
    method: 'GET',
    path: '/ops/stuck',
    permission: 'see',
    query: stuckQuery,
    responses: { 200: { description: 'One page, the longest stuck first', schema: stuckPageSchema } },
    docs: {
      operationId: 'listStuck',
      tag: TAG,
      summary: 'List what is stuck',
      description:
        'Everything that does not move as it should, once for each cause, with what to do next. What is in flight is not in it.',
    },
    async handle({ ops, query }) {
      const { page, limit, class: wanted, olderThanSeconds, currency } = query;
      const stuck = await ops.world.listStuck({
        page,
        limit,
        olderThanSeconds,
        ...(wanted === undefined ? {} : { classes: [wanted] }),
        ...(currency === undefined ? {} : { currency }),
      });
      return { status: 200, body: toJson(presentStuck(stuck)) };
    },
  });
}

function storyRoute(): Route {
  return defineOpsRoute({
    method: 'GET',
    path: ONE,
    permission: 'see',
    params: { transactionId: anyId },
    query: worldQuery,
    errors: ['TRANSACTION_NOT_FOUND'],
    responses: { 200: { description: 'Everything that happened', schema: purchaseTimelineSchema } },
    docs: {
      operationId: 'getStory',
      tag: TAG,
      summary: 'Read what happened to a purchase or a funding',
      description:
        'How it stands, its money, the vendors’ side, and a timeline of everything that happened, ours and theirs. No activation code, PIN ' +
        'or PUK is in it.',
    },
    async handle({ ops, params }) {
      const story = await ops.world.tellStory(params['transactionId'] ?? '');
      noteTransaction(story.transactionId);
      return { status: 200, body: toJson(presentPurchaseTimeline(story)) };
    },
  });
}

/** What all routes about the moves of one purchase have in common. */
const ABOUT_ONE = {
  params: { transactionId },
  query: worldQuery,
  errors: ['TRANSACTION_NOT_FOUND'],
} as const;

const MOVE_RESPONSES = {
  200: { description: 'Made', schema: moveDoneSchema },
  202: { description: 'It waits for a second person', schema: moveWaitsSchema },
  409: { description: '`MOVE_REFUSED`: it does not fit, and nothing was done', schema: moveRefusedSchema },
};

function movesRoute(): Route {
  return defineOpsRoute({
    ...ABOUT_ONE,
    method: 'GET',
    path: `${ONE}/moves`,
    permission: 'see',
    responses: { 200: { description: 'What fits, and what was done', schema: movesSchema } },
    docs: {
      operationId: 'listMoves',
      tag: MOVES_TAG,
      summary: 'List moves that fit and moves that were made',
      description:
        'What fits how it stands, which of it your role may make, what a replay would do, and every try so far.',
    },
    async handle({ ops, params }) {
      const id = params['transactionId'] ?? '';
      noteTransaction(id);
      const moves = await ops.world.listMoves(id);
      return { status: 200, body: toJson(presentActions(moves, ops.session.person.role)) };
    },
  });
}

function moveRoute(): Route {
  return defineOpsRoute({
    ...ABOUT_ONE,
    method: 'POST',
    path: `${ONE}/moves`,
    permission: 'move',
    body: moveBody,
    responses: MOVE_RESPONSES,
    docs: {
      operationId: 'makeMove',
      tag: MOVES_TAG,
      summary: 'Make a move',
      description:
        'By you, on record with your reason. Which moves your role may make is in `getMe`. The same move twice is made once. An amount ' +
        'above the limit waits for a second person.',
    },
    async handle({ ops, params, body, context }) {
      const id = params['transactionId'] ?? '';
      noteTransaction(id);
      const outcome = await ops.world.makeMove(
        ops.session,
        { transactionId: id, ...askedMove(body) },
        context,
      );
      return actionAnswer(outcome);
    },
  });
}

function askedMove(body: z.output<typeof moveBody>): Omit<RequestedAction, 'transactionId'> {
  const { move, reason, amount, currency, override, ...more } = body;
  const { evidence, packageCode, goodwill, outcome, disputeId, moveKey } = more;
  return {
    move,
    reason,
    ...(evidence === undefined ? {} : { evidence }),
    ...(amount === undefined || currency === undefined ? {} : { amount: { amountMinor: amount, currency } }),
    ...(packageCode === undefined ? {} : { packageCode }),
    ...(goodwill === undefined ? {} : { goodwill }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(disputeId === undefined ? {} : { disputeId }),
    ...(override === undefined ? {} : { overrides: override }),
    ...(moveKey === undefined ? {} : { moveKey }),
  };
}

function replayRoute(): Route {
  return defineOpsRoute({
    ...ABOUT_ONE,
    params: { transactionId: anyId },
    method: 'POST',
    path: `${ONE}/replay`,
    permission: 'replay',
    body: replayBody,
    responses: { 200: { description: 'What was done', schema: replaySchema } },
    docs: {
      operationId: 'replay',
      tag: MOVES_TAG,
      summary: 'Do at once what fits now',
      description:
        'Applies events that were kept, sends messages again, looks at the gateway, then at the supplier, then retries the delivery, until ' +
        'one of them has ended it. Takes whatever the stuck list names, events and messages of no transaction too.',
    },
    async handle({ ops, params, body }) {
      const report = await ops.world.replay(ops.session, params['transactionId'] ?? '', body);
      noteTransaction(report.transactionId);
      return { status: 200, body: toJson(presentReplay(report)) };
    },
  });
}

const eventId: PathParameter = {
  description: 'The `event-<number>` of an event, as the stuck list names it',
  example: 'event-42',
  isPossible: (text) => EVENT_ID.test(text),
  notFound: { code: 'NOT_FOUND', message: 'There is no such event about no payment of ours' },
};

function dismissRoute(): Route {
  return defineOpsRoute({
    method: 'POST',
    path: '/ops/events/{eventId}/dismiss',
    permission: 'reconcile',
    params: { eventId },
    query: worldQuery,
    body: dismissBody,
    errors: ['NOT_FOUND'],
    responses: { 200: { description: 'It has left the list', schema: doneSchema } },
    docs: {
      operationId: 'dismissEvent',
      tag: MOVES_TAG,
      summary: 'Dismiss an event about no payment of ours',
      description: 'Once a person knows what it is about: class `inbox-without-purchase` of the stuck list.',
    },
    async handle({ ops, params, body }) {
      await ops.world.dismissEvent(ops.session, params['eventId'] ?? '', body.reason);
      return { status: 200, body: toJson({ success: true, data: { done: true } }) };
    },
  });
}

function waitingRoute(): Route {
  return defineOpsRoute({
    method: 'GET',
    path: '/ops/moves/pending',
    permission: 'see',
    query: worldQuery,
    responses: { 200: { description: 'Oldest first', schema: waitingMovesSchema } },
    docs: {
      operationId: 'listWaitingMoves',
      tag: MOVES_TAG,
      summary: 'List moves that wait for a second person',
      description: 'Each can be approved or declined by anybody with the role, but not by who asked for it.',
    },
    async handle({ ops }) {
      const items = (await ops.world.listWaitingMoves()).map(presentActionRecord);
      return { status: 200, body: toJson({ success: true, data: { items } }) };
    },
  });
}

/** What both words of a second person have in common. */
const SECOND_WORD = {
  method: 'POST',
  permission: 'approve',
  params: { moveId },
  query: worldQuery,
  errors: ['NOT_FOUND'],
  responses: MOVE_RESPONSES,
} as const;

function approveRoute(): Route {
  return defineOpsRoute({
    ...SECOND_WORD,
    path: '/ops/moves/{moveId}/approve',
    docs: {
      operationId: 'approveMove',
      tag: MOVES_TAG,
      summary: 'Approve a move',
      description: 'It is made at once. Who asked for it is refused, and that is on record.',
    },
    handle: async ({ ops, params }) =>
      actionAnswer(await ops.world.approveMove(ops.session, params['moveId'] ?? ''), 'NOT_FOUND'),
  });
}

function declineRoute(): Route {
  return defineOpsRoute({
    ...SECOND_WORD,
    path: '/ops/moves/{moveId}/decline',
    docs: {
      operationId: 'declineMove',
      tag: MOVES_TAG,
      summary: 'Decline a move',
      description: 'It is not made, and cannot be approved any more. Whoever wants it asks anew.',
    },
    handle: async ({ ops, params }) =>
      actionAnswer(await ops.world.declineMove(ops.session, params['moveId'] ?? ''), 'NOT_FOUND'),
  });
}
