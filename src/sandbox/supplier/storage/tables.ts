/** What the supplier simulator stores. Times are milliseconds since 1970, money USD x 10,000, volumes bytes. */
import { integer, integerOrNull, key, table, text, textOrNull, type RowOf } from '../../support/database.ts';

export const ORDERS = table(
  'orders',
  {
    orderNo: text('PRIMARY KEY'),
    transactionId: text('UNIQUE'),
    amount: integer(),
    /** JSON of OrderLine[]. */
    lines: text(),
    createdAtMs: integer(),
    /** Null while the order is held back. */
    allocatedAtMs: integerOrNull(),
    heldBy: textOrNull<'fault' | 'magic'>(),
    /** How many times this transactionId was received. */
    requests: integer(),
  },
  ['ordersHeld ON orders (heldBy) WHERE heldBy IS NOT NULL'],
);
export type OrderRow = RowOf<typeof ORDERS>;

/** One line of an order; `price` is the unit price that was charged. */
export interface OrderLine {
  packageCode: string;
  count: number;
  price: number;
  periodNum: number;
}

export const ESIMS = table(
  'esims',
  {
    esimTranNo: text('PRIMARY KEY'),
    orderNo: text('REFERENCES orders'),
    transactionId: text(),
    iccid: text(),
    /** JSON of PlanSnapshot. */
    plan: text(),
    /** What this eSIM cost, for the refund of a cancel. */
    paid: integer(),
    createdAtMs: integer(),
    allocatedAtMs: integerOrNull(),
    /** When it goes into use; null when not by itself. */
    activatesAtMs: integerOrNull(),
    /** When the profile was installed without going into use; null before, and where both happened at once. */
    installedAtMs: integerOrNull(),
    /** How far the control interface moved the eSIM's time; the times above have moved back by as much, the times of its order have not. */
    clockAheadMs: integer('DEFAULT 0'),
    totalVolume: integer(),
    totalDuration: integer(),
    orderUsage: integer('DEFAULT 0'),
    /** What a lagging usage report still says. */
    laggingUsage: integer('DEFAULT 0'),
    usageAtMs: integerOrNull(),
    forcedStatus: textOrNull(),
    forcedSmdp: textOrNull(),
  },
  ['esimsByOrder ON esims (orderNo)', 'esimsByIccid ON esims (iccid)', 'esimsByTime ON esims (createdAtMs)'],
);
export type EsimRow = RowOf<typeof ESIMS>;

export const TOPUPS = table(
  'topups',
  {
    transactionId: text('PRIMARY KEY'),
    topUpEsimTranNo: text(),
    esimTranNo: text('REFERENCES esims'),
    amount: integer(),
    /** JSON of PlanSnapshot. */
    plan: text(),
    volume: integer(),
    duration: integer(),
    createdAtMs: integer(),
    /** When the (synchronous) answer may be sent. */
    answersAtMs: integer(),
    requests: integer(),
    /** JSON of the reply, so that a repeat is answered unchanged. */
    reply: text(),
  },
  ['topupsByEsim ON topups (esimTranNo)'],
);
export type TopUpRow = RowOf<typeof TOPUPS>;

/** Refused purchases by transactionId. */
const ATTEMPTS = table('attempts', { transactionId: text('PRIMARY KEY'), tries: integer() });

/** What the control interface changed about a package; a null price means the catalogue's. */
const OVERRIDES = table('overrides', {
  packageCode: text('PRIMARY KEY'),
  price: integerOrNull(),
  withdrawn: integer(),
});
export type OverrideRow = RowOf<typeof OVERRIDES>;

/** Moments in the future at which a webhook may be sent. */
export const DUE_EVENTS = table(
  'dueEvents',
  {
    id: key(),
    atMs: integer(),
    kind: text<'ALLOCATED' | 'IN_USE' | 'VALIDITY' | 'EXPIRED'>(),
    /** orderNo for ALLOCATED, esimTranNo otherwise. */
    target: text(),
  },
  ['dueEventsByTime ON dueEvents (atMs)', 'dueEventsByTarget ON dueEvents (target)'],
);
export type DueEventRow = RowOf<typeof DUE_EVENTS>;

/** Actions of the control interface that came with an id: each is carried out once. */
const ACTIONS = table('actions', { requestId: text('PRIMARY KEY') });

export const TABLES = [ORDERS, ESIMS, TOPUPS, ATTEMPTS, OVERRIDES, DUE_EVENTS, ACTIONS];
