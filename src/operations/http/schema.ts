/** Requests and answers of the stuck list, timelines and operator actions. Amounts are numbers with two decimals. */
import { z } from 'zod';
import { OPERATOR_ACTIONS, PURCHASE_SITUATIONS } from '../../accounts/operators/action-table.ts';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { PAYMENT_PURPOSES, PURCHASE_STATUSES } from '../../domain/states.ts';
import { DISPUTE_OUTCOMES } from '../../payments/rules.ts';
import { isoTime, money, dataSchema, listSchema } from '../../platform/http/answer-fields.ts';
import { amountField, choiceField, textField, wholeNumberField } from '../../platform/http/fields.ts';
import {
  MAX_ACTION_KEY_CHARACTERS,
  MAX_MOVED_MINOR,
  MAX_PACKAGE_CODE_CHARACTERS,
} from '../../platform/http/limits.ts';
import { environmentField } from '../../platform/http/ops-route.ts';
import { pageFields, paginationSchema } from '../../platform/http/page.ts';
import { ACTION_RECORD_STATUSES, ACTION_REFUSALS } from '../rules.ts';
import { STUCK_CLASSES, type StuckClass } from '../stuck-rules.ts';

export const CLASSES = STUCK_CLASSES as readonly [StuckClass, ...StuckClass[]];
export const MAX_OLDER_SECONDS = 999_999_999;

const currency = z.string().meta({ example: 'NGN' });
export const currencyCode = (description: string) =>
  z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters')
    .optional()
    .meta({ description, example: 'NGN' });
const flag = z.boolean('must be true or false');
const word = z.string().nullable();
const time = isoTime('ISO 8601');

export const stuckClassField = choiceField(CLASSES, { description: 'Only this class' });

export const stuckQuery = z.object({
  ...environmentField,
  ...pageFields,
  class: stuckClassField.optional(),
  olderThanSeconds: wholeNumberField({
    min: 0,
    max: MAX_OLDER_SECONDS,
    fallback: 0,
    description: 'Only items unchanged for at least this long',
  }),
  currency: currencyCode('Only money of this currency'),
});

const stuckItem = z
  .object({
    transactionId: z.string(),
    class: z.enum(CLASSES),
    ageSeconds: z.number().int(),
    amount: money('Null if the item has no amount').nullable(),
    currency: currency.nullable(),
    reason: z.string(),
    nextAction: z.string(),
  })
  .meta({ id: 'StuckItem' });

export const stuckPageSchema = dataSchema(
  z.object({
    items: z.array(stuckItem),
    pagination: paginationSchema,
    isCut: z.boolean().meta({ description: 'true: the list is truncated' }),
    temporalAsked: z.boolean().meta({
      description: 'false: Temporal did not answer; `workflow-gone` items are missing',
    }),
  }),
  'StuckPage',
);

const record = z
  .object({
    actionId: z.string(),
    transactionId: z.string(),
    action: z.enum(OPERATOR_ACTIONS),
    by: z.string(),
    reason: z.string(),
    evidence: word,
    amount: money('Null where no money moves').nullable(),
    currency: currency.nullable(),
    packageCode: word,
    goodwill: z.boolean(),
    status: z.enum(ACTION_RECORD_STATUSES),
    refusal: word,
    detail: word,
    approvedBy: word.meta({ description: 'Who approved or declined it' }),
    decisionReason: word.meta({ description: 'Why they did' }),
    createdAt: time,
    closedAt: time.nullable(),
    expiresAt: isoTime('While it waits for a second person').nullable(),
  })
  .meta({ id: 'ActionRecord' });

const amountOf = { amount: money('In `currency`'), currency };

const side = (of: string) => money(`${of}, in \`currency\``);

export const purchaseTimelineSchema = dataSchema(
  z.object({
    transactionId: z.string(),
    purpose: z.enum(PAYMENT_PURPOSES).nullable(),
    status: word,
    reason: word,
    accountId: word,
    batchId: word.meta({ description: 'The batch that it belongs to; also the id of its workflow' }),
    paymentMethod: word,
    amount: money('The price, or what a wallet is funded with').nullable(),
    currency: currency.nullable(),
    attention: z.object({ reason: z.string(), since: time }).nullable(),
    package: z.object({ packageCode: z.string(), name: z.string(), type: z.string() }).nullable(),
    hold: z.object({ status: z.string(), ...amountOf }).nullable(),
    payments: z.array(
      z.object({
        reference: z.string(),
        method: z.string(),
        status: z.string(),
        gatewayStatus: word,
        gatewayId: word,
        ...amountOf,
        bookedAmount: money('Amount received, in `bookedCurrency`'),
        bookedCurrency: currency.nullable(),
        checkedAt: time.nullable(),
        expiresAt: time.nullable(),
        createdAt: time,
      }),
    ),
    refunds: z.array(
      z.object({
        refundKey: z.string(),
        status: z.string(),
        gatewayStatus: word,
        ...amountOf,
        createdAt: time,
        askedAt: time.nullable(),
      }),
    ),
    entries: z
      .array(
        z.object({
          at: time,
          operation: z.string().meta({ example: 'hold' }),
          operationKey: z.string(),
          account: z.string(),
          debit: side('Debit'),
          credit: side('Credit'),
          currency,
        }),
      )
      .meta({ description: 'The ledger entries, oldest first' }),
    disputes: z
      .array(
        z.object({
          disputeId: z.string().meta({ description: 'The gateway’s id' }),
          reference: z.string(),
          ...amountOf,
          gatewayState: word,
          gatewayStatus: word,
          outcome: word.meta({ description: 'What a person stated; null while it is open' }),
          checkedAt: time.nullable(),
          openedAt: time,
          settledAt: time.nullable(),
        }),
      )
      .meta({
        description: 'The payment’s disputes, oldest first; `settle-dispute` takes the id of an open one',
      }),
    supplier: z
      .object({
        costUsd: z
          .number()
          .meta({ description: 'What the supplier charges, in US dollars, with four decimals' }),
        checkedAt: time.nullable().meta({ description: 'When the eSIM was last checked there' }),
        attempts: z.number().int(),
        orderNo: word,
        esimId: z.string(),
        esimStatus: word,
        iccid: word,
      })
      .nullable(),
    messages: z.array(
      z.object({
        messageId: z.string(),
        event: z.string(),
        status: z.string(),
        attempts: z.number().int(),
        host: z.string(),
        createdAt: time,
        closedAt: time.nullable(),
      }),
    ),
    actions: z.array(record),
    workflows: z
      .array(
        z.object({
          workflowId: z.string(),
          type: z.string(),
          status: z.string(),
          startedAt: time,
          closedAt: time.nullable(),
        }),
      )
      .nullable()
      .meta({ description: 'null: Temporal did not answer' }),
    stuck: z.array(stuckItem),
    fits: z.array(z.string()).meta({ description: 'Available actions' }),
    timeline: z.array(z.object({ at: time, source: z.string(), what: z.string(), detail: z.string() })),
  }),
  'PurchaseTimeline',
);

export const actionsSchema = dataSchema(
  z.object({
    transactionId: z.string(),
    purpose: z.enum(PAYMENT_PURPOSES),
    status: z.enum(PURCHASE_STATUSES),
    state: z.enum(PURCHASE_SITUATIONS),
    attentionReason: word,
    fits: z.array(z.enum(OPERATOR_ACTIONS)).meta({ description: 'Actions available in the present state' }),
    yours: z
      .array(z.enum(OPERATOR_ACTIONS))
      .meta({ description: 'The available actions that your role may perform' }),
    replay: z
      .array(z.enum(OPERATOR_ACTIONS))
      .meta({ description: 'Steps that `replay` would run now, in order' }),
    made: z.array(record).meta({ description: 'Past actions, oldest first, including refused ones' }),
  }),
  'Actions',
);

export const waitingActionsSchema = listSchema(record, 'WaitingActions');

export const reason = textField({
  max: MAX_REASON_CHARACTERS,
  description: 'Why: kept on record',
  example: 'The buyer sent the bank’s receipt, ticket 4711',
}).min(MIN_REASON_CHARACTERS, `must have at least ${MIN_REASON_CHARACTERS} characters`);

export const actionDecisionBody = z.object({ reason: reason.optional() }).meta({ id: 'ActionDecision' });

export const actionBody = z
  .object({
    action: choiceField(OPERATOR_ACTIONS, { description: 'What to do', example: 'check-gateway' }),
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
    goodwill: flag.optional().meta({ description: 'Refund although the eSIM was delivered' }),
    outcome: choiceField(DISPUTE_OUTCOMES, { description: 'settle-dispute: how it ended' }).optional(),
    disputeId: textField({
      max: MAX_ACTION_KEY_CHARACTERS,
      description: 'settle-dispute: which dispute, by the gateway’s id; needed where several are open',
    }).optional(),
    override: flag.optional().meta({
      description:
        'settle-dispute: enter an outcome that differs from the gateway’s. Always needs a second person.',
    }),
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
export const actionEffectSchema = dataSchema(
  z.object({
    outcome: z.enum(['would-do', 'refused', 'done', 'waits-for-approval']).meta({
      description: '`done`, `waits-for-approval`: requested before',
    }),
    what: z.string().meta({ description: 'What would be done, or why not' }),
    refusal: z.enum(ACTION_REFUSALS).nullable(),
    amount: money('Null where no money moves').nullable(),
    currency: currency.nullable(),
    needsSecondPerson: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether another person must approve it, by the limits as they are used up now' }),
    entries: z
      .array(z.object({ account: z.string(), debit: side('Debit'), credit: side('Credit'), currency }))
      .meta({ description: 'Ledger entries that would be booked' }),
    refunds: z
      .array(z.object(amountOf))
      .meta({ description: 'What the gateway would be asked to send back' }),
  }),
  'ActionEffect',
);

export const actionDoneSchema = dataSchema(
  z.object({
    outcome: z.literal('done'),
    actionId: z.string(),
    did: z.string(),
    again: z.boolean().meta({ description: 'true: already done earlier; nothing was done now' }),
  }),
  'ActionDone',
);

export const actionWaitsSchema = dataSchema(
  z.object({
    outcome: z.literal('waits-for-approval'),
    actionId: z.string(),
    expiresAt: isoTime('It cannot be approved after that'),
  }),
  'ActionWaits',
);

/** The general error body, and what a program needs in order to offer something else. */
export const actionRefusedSchema = z
  .object({
    success: z.literal(false),
    error: z.object({
      code: z.literal('ACTION_REFUSED'),
      message: z.string(),
      refusal: z.enum(ACTION_REFUSALS).meta({ description: 'docs/OPERATIONS.md says what each means' }),
      fits: z.array(z.enum(OPERATOR_ACTIONS)).meta({ description: 'Actions available now' }),
    }),
    statusCode: z.literal(409),
  })
  .meta({ id: 'ActionRefused' });

export const replayBody = z
  .object({
    reason,
    dryRun: flag.default(false).meta({
      description: 'true: changes nothing and answers what would be done',
    }),
  })
  .meta({ id: 'ReplayRequest' });

const statusWords = z
  .string()
  .nullable()
  .meta({ description: 'Status and state; null if it is not a purchase or funding' });

export const replaySchema = dataSchema(
  z.object({
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
  }),
  'Replay',
);

export const dismissBody = z.object({ reason }).meta({ id: 'DismissRequest' });
