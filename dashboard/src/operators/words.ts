import { actionRequestActionWords } from 'simway-client/generated/ops-lists.ts';
import { formatAmount } from '../ui/format.ts';
import type {
  Action,
  AlertChannel,
  Availability,
  BatchRepair,
  BatchRepairAction,
  LedgerClass,
  LedgerKind,
  Role,
  StuckClass,
  WaitsFor,
} from './place.ts';

export const REPLAY = {
  label: 'Retry',
  does: 'Retries every step that can be retried, until one of them resolves it.',
} as const;

export interface ActionFields {
  reason: string;
  evidence: string;
  amount: string;
  packageCode: string;
  goodwill: boolean;
  outcome: '' | 'won' | 'lost';
  disputeId: string;
  override: boolean;
}

interface ActionWords {
  readonly label: string;
  readonly does: string;
  readonly fields: readonly (keyof ActionFields)[];
  readonly needsEvidence: boolean;
}

export const ACTIONS: Record<Action, ActionWords> = actionRequestActionWords;

export const BATCH_ACTIONS: Record<BatchRepairAction, Pick<ActionWords, 'label' | 'does'>> = {
  replay: REPLAY,
  'check-gateway': ACTIONS['check-gateway'],
  'check-supplier': ACTIONS['check-supplier'],
  'retry-delivery': ACTIONS['retry-delivery'],
  cancel: ACTIONS.cancel,
  'refund-to-source': ACTIONS['refund-to-source'],
  'credit-wallet': ACTIONS['credit-wallet'],
};

export const STUCK_CLASSES: Record<StuckClass, string> = {
  'workflow-gone': 'Workflow gone',
  'paid-not-delivered': 'Paid, not delivered',
  'supplier-unknown': 'Supplier does not respond',
  'delivered-not-settled': 'Delivered, not settled',
  'undo-failed': 'Hold not released',
  'charge-unknown': 'Payment unknown',
  'charge-left-open': 'Charge left open',
  'funding-stuck': 'Funding unknown',
  'late-money-unbooked': 'Late money not checked',
  'hold-too-old': 'Hold too old',
  'other-package-delivered': 'Other package delivered',
  'refund-not-done': 'Refund not done',
  'refund-needs-attention': 'Refund needs details',
  'refund-stuck': 'Refund stuck',
  'payment-disputed': 'Payment disputed',
  'payment-reversed': 'Payment reversed',
  'marked-paid-unconfirmed': 'Marked as paid, not confirmed',
  'inbox-unapplied': 'Gateway event not applied',
  'inbox-without-purchase': 'Gateway event without payment',
  'message-undelivered': 'Webhook not delivered',
  'approval-waiting': 'Awaiting approval',
  'action-unfinished': 'Action not finished',
  'return-needs-review': 'Return needs review',
  'replacement-needs-review': 'Replacement needs review',
  'needs-attention': 'Needs attention',
};

export const ROLES: Record<Role, { readonly label: string; readonly may: string }> = {
  SUPPORT: {
    label: 'Support',
    may: 'Sees purchases, accounts and what is stuck; checks the gateway and the supplier.',
  },
  OPERATIONS: { label: 'Operations', may: 'Also repairs deliveries.' },
  FINANCE: { label: 'Finance', may: 'Moves money, approves, reads the books, sets prices and rates.' },
  ADMIN: { label: 'Administrator', may: 'Manages people and reads the books. Moves no money.' },
};

export const APPROVE = 'Approve';
export const IGNORE_EVENT = 'Ignore the event';

/** The commands that `nextAction` begins with, as the pages call them. */
const COMMANDS: Readonly<Record<string, string>> = {
  replay: REPLAY.label,
  credit: ACTIONS['credit-wallet'].label,
  cancel: ACTIONS.cancel.label,
  settle: ACTIONS['settle-dispute'].label,
  return: ACTIONS['grant-return'].label,
  replace: ACTIONS['grant-replacement'].label,
  approve: APPROVE,
  dismiss: IGNORE_EVENT,
  show: 'Timeline',
};

/** Actions that `nextAction` names in its text. */
const NAMED: Readonly<Record<string, string>> = {
  replay: REPLAY.label,
  'mark-paid': ACTIONS['mark-paid'].label,
  'refuse-return': ACTIONS['refuse-return'].label,
  'refuse-replacement': ACTIONS['refuse-replacement'].label,
};

/** `replay: checks the gateway` → `Retry: checks the gateway`. Every action has the name of its button. */
export function nextStep(nextAction: string): string {
  const [, command = '', text = ''] = /^(\w+): (.*)$/.exec(nextAction) ?? [];
  const named = text.replaceAll(
    /\b(?:replay|mark-paid|refuse-return|refuse-replacement)\b/g,
    (name) => `“${NAMED[name] ?? name}”`,
  );
  return command === '' ? nextAction : `${COMMANDS[command] ?? command}: ${named}`;
}

/** What money waits for. */
export const WAITS_FOR: Record<WaitsFor, string> = {
  delivery: 'Delivery',
  refund: 'A refund',
  dispute: 'A dispute',
  reversal: 'A reversal',
  'owed-by-account': 'Owed by a merchant',
  'payout-by-gateway': 'Payout by the gateway',
  'gateway-to-confirm': 'Confirmation by the gateway',
};

/** Accounts of the ledger, each with what its balance is. */
export const LEDGER_ACCOUNTS: Record<LedgerKind, { readonly label: string; readonly is: string }> = {
  wallet: { label: 'Wallets', is: 'what merchants can spend' },
  owed: { label: 'Owed by a merchant', is: 'taken back by a bank after the wallet had spent it' },
  held: { label: 'On hold', is: 'paid for what is not delivered yet' },
  suspense: {
    label: 'Put aside',
    is: 'refunds that are not sent yet and disputed money, less what banks took back',
  },
  'gateway-clearing': { label: 'At the gateway', is: 'received there and not paid out to us yet' },
  'supplier-prepaid': { label: 'Prepaid at the supplier', is: 'used there since the first order' },
  funding: { label: 'Funded by hand', is: 'reached us outside the gateway' },
  evidence: {
    label: 'Paid on evidence',
    is: 'marked as paid by a person, until the gateway reports it; refunds sent by hand',
  },
  revenue: { label: 'Revenue', is: 'earned by what was delivered' },
  'supplier-cost': { label: 'Cost of deliveries', is: 'what the supplier took for them' },
  exchange: { label: 'Currency exchange', is: 'our position in the currency, by the locked rates' },
};

/** How the supplier counts: its own unit beside the currency. */
export const currencyName = (code: string): string =>
  code === 'USD4' ? 'USD at the supplier, to four decimals' : code;

/** Classes of ledger accounts. */
export const LEDGER_CLASSES: Record<LedgerClass, string> = {
  asset: 'Asset',
  liability: 'Liability',
  equity: 'Equity',
  income: 'Income',
  expense: 'Expense',
};

/** Planned until it is approved, then what it has moved. Empty where it moves none that is known before. */
export const amountOfRepair = ({ status, totals }: Pick<BatchRepair, 'status' | 'totals'>): string =>
  totals
    .map(({ amount, movedAmount, currency }) =>
      status === 'WAITS_FOR_APPROVAL'
        ? `${formatAmount(amount, currency)} to move`
        : `${formatAmount(movedAmount, currency)} of ${formatAmount(amount, currency)} moved`,
    )
    .join(' and ');

/** `20 items, NGN 500.00 to move, requested by …`. */
export function itemsOfRepair(repair: Pick<BatchRepair, 'status' | 'totals' | 'counts' | 'by'>): string {
  const items = Object.values(repair.counts).reduce((sum, count) => sum + count, 0);
  const count = items === 1 ? '1 item' : `${items.toLocaleString()} items`;
  return [count, amountOfRepair(repair), `requested by ${repair.by}`].filter(Boolean).join(', ');
}

export const ALERTS: Readonly<Record<AlertChannel['kinds'][number], string>> = {
  'supplier-balance-low': 'Balance at the supplier low',
  'supplier-balance-critical': 'Balance at the supplier runs out',
  'supplier-balance-unread': 'Balance at the supplier not read',
  'packages-unavailable': 'Packages refused',
  'purchases-refused': 'Purchases fail at the supplier',
  'purchases-need-attention': 'Purchases need a person',
  'refunds-need-attention': 'Refunds do not go through',
  'differences-open': 'Differences',
  'rates-quarantined': 'Rates await a person',
  'rates-old': 'Rates are old',
  'payment-monitor-late': 'Payments not read',
};

export const BALANCE_LEVELS: Readonly<Record<Availability['balances'][number]['level'], string>> = {
  ok: 'Enough',
  low: 'Low',
  critical: 'Runs out',
};

export const SHORTAGES: Readonly<Record<Availability['shortages'][number]['reason'], string>> = {
  OUT_OF_STOCK: 'Out of stock',
  BALANCE_TOO_LOW: 'Our balance was too low',
};
