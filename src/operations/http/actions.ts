/** Operator actions on one purchase: what fits, taking one, retrying what can be retried, and approvals. */
import { z } from 'zod';
import {
  ACTION_WORDS,
  mayPerform,
  OPERATOR_ACTIONS,
  PURCHASE_SITUATIONS,
} from '../../accounts/operators/action-table.ts';
import type { Session } from '../../domain/callers.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Role } from '../../domain/operator-roles.ts';
import { MAX_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { PAYMENT_PURPOSES, PURCHASE_STATUSES } from '../../domain/states.ts';
import { DISPUTE_OUTCOMES } from '../../payments/rules.ts';
import {
  type Data,
  dataAnswer,
  isoTime,
  listSchema,
  money,
  text,
  yesNo,
  namedObject,
  dataObject,
} from '../../platform/http/answer-fields.ts';
import { type Answer, type ErrorAnswer, STATUS_OF } from '../../platform/http/errors.ts';
import { amountField, choiceField, idParameter, textField } from '../../platform/http/fields.ts';
import { toJson } from '../../platform/http/json.ts';
import {
  MAX_ACTION_KEY_CHARACTERS,
  MAX_MOVED_MINOR,
  MAX_PACKAGE_CODE_CHARACTERS,
} from '../../platform/http/limits.ts';
import { anyId, operatorRoutes, transactionId } from '../../platform/http/ops-route.ts';
import type { Route } from '../../platform/http/route.ts';
import { noteTransaction } from '../../platform/telemetry/subject.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { ACTION_REFUSALS, type ActionOutcome } from '../rules.ts';
import type { EffectPreview } from '../store/actions.ts';
import {
  amountOf,
  currency,
  currencyCode,
  flag,
  moneyFields,
  ONE,
  presentActionRecord,
  reason,
  record,
  side,
  word,
} from './shared.ts';

const routes = operatorRoutes<OperatorCases>('Actions', { transactionId });

const actionsSchema = dataObject('Actions', {
  transactionId: z.string(),
  purpose: z.enum(PAYMENT_PURPOSES),
  status: z.enum(PURCHASE_STATUSES),
  state: z.enum(PURCHASE_SITUATIONS),
  attentionReason: word,
  fits: z.array(z.enum(OPERATOR_ACTIONS)).describe('Actions available in the present state'),
  yours: z.array(z.enum(OPERATOR_ACTIONS)).describe('The available actions that your role may perform'),
  replay: z.array(z.enum(OPERATOR_ACTIONS)).describe('Steps that `replay` would run now, in order'),
  made: z.array(record).describe('Past actions, oldest first, including refused ones'),
});

const actionBody = z
  .object({
    action: choiceField(OPERATOR_ACTIONS, { description: 'What to do', example: 'check-gateway' }).meta({
      'x-words': ACTION_WORDS,
    }),
    reason,
    evidence: textField({
      max: MAX_REASON_CHARACTERS,
      description: 'Link or reference to proof outside this system: a ticket, a line of a statement',
    }).optional(),
    amount: amountField({
      minMinor: 1n,
      maxMinor: MAX_MOVED_MINOR,
      description: 'How much; without it all that the action can move',
      example: 12.5,
    }).optional(),
    currency: currencyCode('Of the amount'),
    packageCode: textField({
      max: MAX_PACKAGE_CODE_CHARACTERS,
      description: 'deliver-other: what to deliver; without it the cheapest equal package',
    }).optional(),
    goodwill: flag.optional().describe('Refund although the eSIM was delivered'),
    outcome: choiceField(DISPUTE_OUTCOMES, { description: 'settle-dispute: how it ended' }).optional(),
    disputeId: textField({
      max: MAX_ACTION_KEY_CHARACTERS,
      description: 'settle-dispute: which dispute, by the gateway’s id; needed where several are open',
    }).optional(),
    override: flag
      .optional()
      .describe(
        'settle-dispute: enter an outcome that differs from the gateway’s. Always needs a second person.',
      ),
    actionKey: textField({
      max: MAX_ACTION_KEY_CHARACTERS,
      description:
        'The same key performs the action once. Without a key, equal requests are performed once; checks and retries each time.',
    }).optional(),
  })
  .refine(({ amount, currency: code }) => (amount === undefined) === (code === undefined), {
    path: ['currency'],
    message: 'amount and currency must be given together',
  })
  .meta({ id: 'ActionRequest' });

/** The effect that an action would have now. */
const actionEffectSchema = dataObject('ActionEffect', {
  outcome: z
    .enum(['would-do', 'refused', 'done', 'waits-for-approval'])
    .describe('`done`, `waits-for-approval`: requested before'),
  what: text('What would be done, or why not').min(1),
  refusal: z.enum(ACTION_REFUSALS).nullable(),
  amount: money('Null where no money moves').nullable(),
  currency: currency.nullable(),
  needsSecondPerson: yesNo(
    'Whether another person must approve it, by the limits as they are used up now',
  ).nullable(),
  entries: z
    .array(z.object({ account: z.string(), debit: side('Debit'), credit: side('Credit'), currency }))
    .describe('Ledger entries that would be booked'),
  refunds: z.array(z.object(amountOf)).describe('What the gateway would be asked to send back'),
});

const actionDoneSchema = dataObject('ActionDone', {
  outcome: z.literal('done'),
  actionId: z.string(),
  did: z.string(),
  again: yesNo(
    'true: an equal request was done before, and nothing was done now. A second one needs its own `actionKey`',
  ),
});

const actionWaitsSchema = dataObject('ActionWaits', {
  outcome: z.literal('waits-for-approval'),
  actionId: z.string(),
  expiresAt: isoTime('It cannot be approved after that'),
});

/** The general error body, and what a program needs in order to offer something else. */
const actionRefusedSchema = namedObject('ActionRefused', {
  success: z.literal(false),
  error: z.object({
    code: z.literal('ACTION_REFUSED'),
    message: z.string(),
    refusal: z.enum(ACTION_REFUSALS).describe('docs/OPERATIONS.md says what each means'),
    fits: z.array(z.enum(OPERATOR_ACTIONS)).describe('Actions available now'),
  }),
  statusCode: z.literal(409),
});

const ACTION_RESPONSES = {
  200: { description: 'Done', schema: actionDoneSchema },
  202: { description: 'It waits for a second person', schema: actionWaitsSchema },
  409: {
    description: '`ACTION_REFUSED`: not possible now, and nothing was done',
    schema: actionRefusedSchema,
  },
};

/** The action that is asked for. What is logged meanwhile is about its purchase or funding. */
function requestedAction(
  transactionId: string,
  { amount: amountMinor, currency, override: overrides, ...asked }: z.output<typeof actionBody>,
) {
  const amount = amountMinor === undefined || currency === undefined ? undefined : { amountMinor, currency };
  noteTransaction(transactionId);
  return { ...asked, transactionId, amount, overrides };
}

const NO_EFFECT = {
  refusal: null,
  amount: null,
  currency: null,
  needsSecondPerson: null,
  entries: [],
  refunds: [],
};

/** The effect that an action would have now. Throws TRANSACTION_NOT_FOUND. */
function presentEffect(effect: EffectPreview): Data<typeof actionEffectSchema> {
  const { outcome } = effect;
  switch (outcome) {
    case 'would-do':
      return { ...NO_EFFECT, ...effect, ...moneyFields(effect.amount), what: effect.did };
    case 'refused':
      if (effect.code === 'NOT_FOUND') throw new DomainError('TRANSACTION_NOT_FOUND', effect.detail);
      return { ...NO_EFFECT, outcome, what: effect.detail, refusal: effect.code };
    case 'done':
      return { ...NO_EFFECT, outcome, what: `done before: ${effect.did}; nothing would be done now` };
    case 'waits-for-approval':
      return { ...NO_EFFECT, outcome, what: `${effect.actionId} waits until ${effect.expiresAt}` };
  }
}

/** Throws FORBIDDEN (the same person twice), SERVICE_UNAVAILABLE (outcome unknown), and `notFound`. */
function actionAnswer(
  { person: { role } }: Session,
  outcome: ActionOutcome,
  notFound: 'TRANSACTION_NOT_FOUND' | 'NOT_FOUND' = 'TRANSACTION_NOT_FOUND',
): Answer | ErrorAnswer {
  switch (outcome.outcome) {
    case 'done': {
      const { actionId, did, again = false } = outcome;
      return dataAnswer({ outcome: 'done', actionId, did, again });
    }
    case 'waits-for-approval': {
      const { actionId, expiresAt } = outcome;
      return dataAnswer({ outcome: 'waits-for-approval', actionId, expiresAt }, 202);
    }
    case 'refused':
      return refused(role, outcome, notFound);
    case 'unknown':
      throw new DomainError(
        'SERVICE_UNAVAILABLE',
        `No result in time; the action may still run. Send the same request again to see it (${outcome.detail})`,
      );
  }
}

function refused(
  role: Role,
  { code: refusal, detail, fits }: Extract<ActionOutcome, { outcome: 'refused' }>,
  notFound: 'TRANSACTION_NOT_FOUND' | 'NOT_FOUND',
): ErrorAnswer {
  if (refusal === 'NOT_FOUND') throw new DomainError(notFound, detail);
  if (refusal === 'SAME_PERSON') throw new DomainError('FORBIDDEN', detail);
  const [code, status] = ['ACTION_REFUSED', STATUS_OF.ACTION_REFUSED] as const;
  const error = { code, message: detail, refusal, fits: fits.filter((action) => mayPerform(role, action)) };
  return { status, code, body: toJson({ success: false, error, statusCode: status }) };
}

const EVENT_ID = /^event-\d{1,18}$/;
const replayRoutes = operatorRoutes<OperatorCases>('Actions', {
  transactionId: anyId,
  eventId: {
    description: 'The `event-<number>` of an event, as the stuck list names it',
    example: 'event-42',
    isPossible: (text) => EVENT_ID.test(text),
    notFound: { code: 'NOT_FOUND', message: 'No unmatched gateway event has this id' },
  },
});

const replayBody = namedObject('ReplayRequest', {
  reason,
  dryRun: flag.default(false).describe('true: changes nothing and answers what would be done'),
});

const statusWords = text('Status and state; null if it is not a purchase or funding').nullable();

const replaySchema = dataObject('Replay', {
  transactionId: z.string(),
  before: statusWords,
  after: statusWords,
  steps: z.array(
    z.object({
      step: z.string().meta({ example: 'check-gateway' }),
      outcome: z.enum(['done', 'waits-for-approval', 'refused', 'unknown', 'would-do']),
      detail: z.string(),
    }),
  ),
});

const dismissBody = namedObject('DismissRequest', { reason });

const approvalRoutes = operatorRoutes<OperatorCases>('Actions', {
  actionId: idParameter('action', 'The `actionId` of an action that waits for approval', 'No such action'),
});

const waitingActionsSchema = listSchema(record, 'WaitingActions');
const actionDecisionBody = namedObject('ActionDecision', { reason: reason.optional() });

const decisionRoute = (verb: 'approve' | 'decline', description: string): Route<OperatorCases> =>
  approvalRoutes.post(`/ops/actions/{actionId}/${verb}`, {
    permission: 'approve',
    body: actionDecisionBody,
    answer: ACTION_RESPONSES,
    operationId: `${verb}Action`,
    summary: verb === 'approve' ? 'Approve an action' : 'Decline an action',
    description,
    handle: async ({ cases, session, params, body }) =>
      actionAnswer(session, await cases[`${verb}Action`](session, params.actionId, body.reason), 'NOT_FOUND'),
  });

export const actionRoutes: readonly Route<OperatorCases>[] = [
  routes.get(`${ONE}/actions`, {
    permission: 'see',
    answer: [200, 'Available actions and past ones', actionsSchema],
    operationId: 'listActions',
    summary: 'List available actions and past ones',
    description:
      'The actions that are possible now, those your role may take, what a replay would do, and every attempt so far.',
    async handle({ cases, session, params }) {
      noteTransaction(params.transactionId);
      const { preview, made } = await cases.listActions(params.transactionId);
      const yours = preview.fits.filter((action) => mayPerform(session.person.role, action));
      return { ...preview, yours, made: made.map(presentActionRecord) };
    },
  }),
  routes.post(`${ONE}/actions`, {
    permission: 'action',
    body: actionBody,
    answer: ACTION_RESPONSES,
    operationId: 'performAction',
    summary: 'Take an action',
    description:
      'Recorded under your name with your reason. `getMe` lists the actions your role may take. The same action sent twice is done once. ' +
      'An amount above a limit, by itself or with what was moved within 24 hours, waits for a second person.',
    async handle({ cases, session, params, body, context }) {
      const request = requestedAction(params.transactionId, body);
      return actionAnswer(session, await cases.makeAction(session, request, context));
    },
  }),
  routes.post(`${ONE}/actions/preview`, {
    confirmed: false,
    permission: 'action',
    body: actionBody,
    answer: [200, 'What it would do now', actionEffectSchema],
    operationId: 'previewAction',
    summary: 'Preview an action',
    description:
      'The same request as for the action itself. Asks the vendors as the action would, runs the effect in a transaction and rolls it ' +
      'back. The supplier cancels nothing for it: where it would have to, `what` says so.',
    async handle({ cases, session, params, body, context }) {
      const request = requestedAction(params.transactionId, body);
      return presentEffect(await cases.previewAction(session, request, context));
    },
  }),
  replayRoutes.post(`${ONE}/replay`, {
    permission: 'replay',
    body: replayBody,
    answer: [200, 'What was done', replaySchema],
    operationId: 'replay',
    summary: 'Retry every step that can be retried',
    description:
      'Applies stored events, sends messages again, checks the gateway, then the supplier, then retries the delivery, and stops when one ' +
      'of them has settled it. Takes every id of the stuck list, also events and messages without a transaction.',
    async handle({ cases, session, params, body }) {
      const report = await cases.replay(session, params.transactionId, body);
      noteTransaction(report.transactionId);
      return report;
    },
  }),
  replayRoutes.post('/ops/events/{eventId}/dismiss', {
    confirmed: false,
    permission: 'reconcile',
    body: dismissBody,
    answer: 'Removed from the list',
    operationId: 'dismissEvent',
    summary: 'Ignore an unmatched gateway event',
    description:
      'For events of class `inbox-without-purchase` in the stuck list, once you know what they are about.',
    handle: ({ cases, session, params, body }) => cases.dismissEvent(session, params.eventId, body.reason),
  }),
  approvalRoutes.get('/ops/actions/pending', {
    permission: 'see',
    answer: [200, 'Oldest first', waitingActionsSchema],
    operationId: 'listWaitingActions',
    summary: 'List actions that await a second approval',
    description:
      'Anyone with the role may decide, except the requester. An approver must be independent of the requester: within the last 24 hours ' +
      'neither gave or confirmed the other’s access, and no third person did so for both.',
    handle: async ({ cases }) => ({ items: (await cases.listWaitingActions()).map(presentActionRecord) }),
  }),
  approvalRoutes.get('/ops/actions/{actionId}/preview', {
    permission: 'approve',
    answer: [200, 'What it would do now', actionEffectSchema],
    operationId: 'previewApproval',
    summary: 'Preview the approval of an action',
    description: 'As the preview of an action, for one that waits for a second person. Nothing is changed.',
    handle: async ({ cases, params }) => presentEffect(await cases.previewApproval(params.actionId)),
  }),
  decisionRoute(
    'approve',
    'The action is then taken at once. The person who asked for it is refused, and that is on record. A `reason` is kept beside the action.',
  ),
  decisionRoute(
    'decline',
    'The action is not taken and cannot be approved later. It can be asked for again. A `reason` is kept beside the action.',
  ),
];
