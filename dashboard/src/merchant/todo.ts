/** What a merchant should do next, from what the service knows of the account. */
import type { LinkProps } from '@tanstack/react-router';
import type { ApiSchemas } from '../api/client.ts';
import { formatAmount, formatMoment } from '../ui/format.ts';

const AT = '/m/$accountId/$environment';

/** What is sold in these days says how fast the wallet empties. */
const RATE_DAYS = 7;
/** A wallet that lasts longer is not on the list. */
const MIN_DAYS_LEFT = 7;

/** eSIMs that end within so many days are worth a look. */
const ENDING_SOON = '3';
export const ENDING_SOON_DAYS = Number(ENDING_SOON);

export interface Todo {
  readonly key: string;
  readonly color: 'red' | 'yellow' | 'blue';
  readonly title: string;
  readonly about: string;
  /** Where it is done, and what the button says. */
  readonly to: Pick<LinkProps, 'to' | 'params' | 'search' | 'hash'>;
  readonly label: string;
}

export interface Facts {
  readonly endpoints: readonly Pick<
    ApiSchemas['WebhookEndpoint'],
    'id' | 'url' | 'enabled' | 'failingSince'
  >[];
  readonly wallet: {
    readonly balance: number;
    readonly owed: number;
    readonly lowBelow: number | null;
    readonly currency: string;
  };
  /** Oldest first. */
  readonly spentByDay: readonly number[];
  readonly mayFund: boolean;
  readonly openPayments: number;
  readonly returnsInReview: number;
  readonly replacementsInReview: number;
  readonly scheduledBatches: readonly { readonly batchId: string; readonly startAt: string }[];
  readonly endingSoon: number;
  /** There may be more than `endingSoon`. */
  readonly endingIsMinimum: boolean;
  /** An owner without one. */
  readonly needsSecondFactor: boolean;
}

const some = (count: number, what: string): string =>
  `${count.toLocaleString()} ${what}${count === 1 ? '' : 's'}`;

/** How many days the balance lasts as it was spent in the last ones; null: nothing was spent. */
export function daysLeft(balance: number, spentByDay: readonly number[]): number | null {
  const spent = spentByDay.slice(-RATE_DAYS).reduce((sum, one) => sum + one, 0);
  return spent <= 0 ? null : Math.max(0, balance) / (spent / RATE_DAYS);
}

/** What costs money comes first. */
export function todosOf(facts: Facts): Todo[] {
  return [...failing(facts), ...money(facts), ...waiting(facts), ...ending(facts), ...safety(facts)];
}

const failing = ({ endpoints }: Facts): Todo[] =>
  endpoints
    .filter(({ enabled, failingSince }) => enabled && failingSince !== null)
    .map(({ id, url, failingSince }) => ({
      ...{ key: id, color: 'red', title: 'A webhook endpoint fails' },
      about: `${url} has taken no message since ${formatMoment(failingSince ?? '')}.`,
      ...{ to: { to: `${AT}/developers/webhooks` }, label: 'See what it answers' },
    }));

function money({ wallet, spentByDay, mayFund }: Facts): Todo[] {
  const { balance, owed, lowBelow, currency } = wallet;
  const to = { to: `${AT}/wallet`, ...(mayFund && { hash: 'fund' }) } as const;
  const way = { to, label: mayFund ? 'Fund the wallet' : 'See the wallet' };
  const ask = mayFund ? '' : ' Ask an owner or finance to fund the wallet.';
  if (owed > 0)
    return [
      {
        ...{ key: 'owed', color: 'red', title: 'The account owes money', ...way },
        about: `${formatAmount(owed, currency)}: a bank took back a payment that was spent already.${ask}`,
      },
    ];
  const days = daysLeft(balance, spentByDay);
  const lasts =
    days === null || days >= MIN_DAYS_LEFT
      ? ''
      : days < 1
        ? ' At the rate of the last 7 days it lasts less than a day.'
        : ` At the rate of the last 7 days it lasts about ${some(Math.floor(days), 'day')}.`;
  const isLow = lowBelow !== null && balance < lowBelow;
  if (!isLow && lasts === '') return [];
  return [
    {
      ...{ key: 'balance', color: 'yellow', ...way },
      title: isLow ? 'The balance is low' : 'The balance will not last',
      about: `${formatAmount(balance, currency)} is left${
        isLow ? `, less than ${formatAmount(lowBelow, currency)}` : ''
      }.${lasts}${ask}`,
    },
  ];
}

function waiting({ openPayments, scheduledBatches, ...inReview }: Facts): Todo[] {
  const found: Todo[] = [];
  if (openPayments > 0)
    found.push({
      ...{ key: 'payments', color: 'yellow', label: 'See them' },
      title: `${some(openPayments, 'payment')} not made yet`,
      about: 'Opened, and waiting for the money. Each page says how to pay.',
      to: { to: `${AT}/purchases`, search: { status: 'PENDING' } },
    });
  return [
    ...found,
    ...reviewed(inReview.returnsInReview, 'return'),
    ...reviewed(inReview.replacementsInReview, 'replacement'),
    ...scheduledBatches.map(({ batchId, startAt }): Todo => ({
      ...{ key: batchId, color: 'blue', title: 'A batch waits for its time', label: 'See the batch' },
      about: startAt === '' ? 'It is bought soon.' : `It is bought at ${formatMoment(startAt)}.`,
      to: { to: `${AT}/batches/$batchId`, params: { batchId } },
    })),
  ];
}

const reviewed = (count: number, what: 'return' | 'replacement'): Todo[] =>
  count === 0
    ? []
    : [
        {
          ...{ key: `${what}s`, color: 'blue', label: 'See them' },
          title: `We look at ${some(count, what)}`,
          about: 'The supplier gave no clear answer. You need do nothing.',
          to: { to: `${AT}/${what}s` },
        },
      ];

const ending = ({ endingSoon, endingIsMinimum }: Facts): Todo[] =>
  endingSoon === 0
    ? []
    : [
        {
          ...{ key: 'ending', color: 'yellow', label: 'See them' },
          title: `${endingIsMinimum ? 'At least ' : ''}${some(endingSoon, 'eSIM')} ${endingSoon === 1 ? 'ends' : 'end'} within ${some(ENDING_SOON_DAYS, 'day')}`,
          about: 'A top-up makes the validity longer, where the package takes one.',
          to: { to: `${AT}/esims`, search: { ends: ENDING_SOON } },
        },
      ];

const safety = ({ needsSecondFactor }: Facts): Todo[] =>
  needsSecondFactor
    ? [
        {
          ...{ key: 'second-factor', color: 'blue', label: 'Add an authenticator app' },
          title: 'Protect the account with a second factor',
          about: 'Owners can do everything here.',
          to: { to: `${AT}/login` },
        },
      ]
    : [];

interface Entry {
  readonly at: string;
  readonly amount: number;
  readonly balanceAfter: number;
}

export interface BalancePoint {
  readonly at: string;
  readonly balance: number;
}

/** The balance from `from` on, oldest first: what it was then, and after each change. */
export function balancePoints(newestFirst: readonly Entry[], balance: number, from: string): BalancePoint[] {
  const oldest = newestFirst.at(-1);
  const before = oldest === undefined ? balance : oldest.balanceAfter - oldest.amount;
  return [
    { at: from, balance: before },
    ...newestFirst.map(({ at, balanceAfter }) => ({ at, balance: balanceAfter })).toReversed(),
  ];
}
