/**
 * Every operator action, in one table: who may take it, at which stage, what it needs, where its step runs,
 * its fields and its words. API, workflow, dashboard, command line and documentation derive their lists from
 * it. Its effect on rows and books: src/operations/store/effects.ts. Whether it fits the money of one
 * purchase: src/operations/rules.ts. Both must name every action to compile.
 */
import { ROLES, type Role } from '../../domain/operator-roles.ts';

/** Where a purchase or a funding is, as far as actions differ by it. */
export const PURCHASE_SITUATIONS = [
  'awaiting-money',
  'delivering',
  'settling',
  'delivered',
  'ended',
] as const;
export type PurchaseSituation = (typeof PURCHASE_SITUATIONS)[number];

/** What an action takes beside the person, the reason and the evidence. */
export type ActionField = 'amount' | 'goodwill' | 'packageCode' | 'outcome' | 'disputeId' | 'override';

/** The worker that performs an action: our database alone, or a vendor's queue. */
export type ActionQueue = 'orders' | 'supplier' | 'gateway';

interface ActionSpec {
  readonly roles: readonly Role[];
  readonly situations: readonly PurchaseSituation[];
  /** Moves no money: each request is a new action. */
  readonly isCheck: boolean;
  /** Rests on facts that this system cannot check, so the person says where they can be seen. */
  readonly needsEvidence: boolean;
  /** Ends or replaces the order of a purchase in delivery, which is withdrawn at the supplier first. */
  readonly takesBack: boolean;
  readonly runsOn: ActionQueue;
  readonly fields: readonly ActionField[];
  /** The command of `npm run finance`; null where `replay` takes it. */
  readonly command: string | null;
  /** Its button on the dashboard. */
  readonly label: string;
  readonly summary: string;
  readonly help?: string;
  /** For docs/OPERATIONS.md: what it does, and what it needs beside a person and a reason. */
  readonly details: string;
  readonly needs: string;
}

const EVERYWHERE = PURCHASE_SITUATIONS;
const OPEN = ['delivering', 'settling', 'delivered'] as const;
const CHECK = {
  isCheck: true,
  needsEvidence: false,
  takesBack: false,
  fields: [],
  command: null,
} as const;
const TAKES_BACK = { isCheck: false, needsEvidence: false, takesBack: true, runsOn: 'orders' } as const;

export const ACTION_TABLE = {
  'check-gateway': {
    ...CHECK,
    roles: ROLES,
    situations: EVERYWHERE,
    runsOn: 'gateway',
    label: 'Check the gateway',
    summary: 'Checks the payment at the gateway and books its answer',
    details: 'asks the gateway and books its answer; continues refunds',
    needs: 'paid through the gateway',
  },
  'check-supplier': {
    ...CHECK,
    roles: ROLES,
    situations: [...OPEN, 'ended'],
    runsOn: 'supplier',
    label: 'Check the supplier',
    summary:
      'Checks what the supplier has of the orders; orders nothing, and cancels what it has of those that were given up',
    details:
      "asks the supplier and orders nothing: delivers what the supplier has, and cancels what was given up by a refund or another package; after a delivery, copies the eSIM's state",
    needs: '',
  },
  'retry-delivery': {
    ...CHECK,
    roles: ['OPERATIONS', 'FINANCE'],
    situations: OPEN,
    runsOn: 'supplier',
    label: 'Retry the delivery',
    summary: 'Asks the supplier again now, and settles what it has delivered',
    details: 'tries now what the workflow would try later, under the same id at the supplier',
    needs: 'not delivered yet',
  },
  'deliver-other': {
    ...TAKES_BACK,
    roles: ['OPERATIONS'],
    situations: ['delivering'],
    fields: ['packageCode'],
    command: 'deliver-other',
    label: 'Deliver another package',
    summary: 'Delivers an equal package in place of the one that does not come',
    details:
      'delivers another package at the same price; its order is `<transactionId>-2`, the next one `-3`, and so on',
    needs:
      'nothing of the first order is left; the cost is not above what was paid; you name a package, or an equal one exists',
  },
  'mark-paid': {
    roles: ['FINANCE'],
    situations: ['awaiting-money', 'ended'],
    isCheck: false,
    needsEvidence: true,
    takesBack: false,
    runsOn: 'orders',
    fields: [],
    command: 'mark-paid',
    label: 'Mark as paid',
    summary: 'Records a payment that the gateway does not report',
    details:
      'books the money from `evidence:<currency>`; a waiting purchase is delivered, a closed one is credited to the wallet',
    needs: 'evidence; none of the money has arrived',
    help: 'Records a payment on the evidence of a bank statement or a ticket, and continues the purchase.',
  },
  'refund-to-source': {
    ...TAKES_BACK,
    roles: ['FINANCE'],
    situations: ['delivering', 'delivered', 'ended'],
    fields: ['amount', 'goodwill'],
    command: 'refund',
    label: 'Refund through the gateway',
    summary: 'Sends money back the way it was paid',
    details: 'refunds through the gateway what was paid and not yet refunded',
    needs: 'paid through the gateway; delivered: goodwill',
    help: 'Sends money back over the gateway to where it came from: at most what was paid and is not yet refunded.',
  },
  'credit-wallet': {
    ...TAKES_BACK,
    roles: ['FINANCE'],
    situations: ['delivering', 'delivered', 'ended'],
    fields: ['amount', 'goodwill'],
    command: 'credit',
    label: 'Credit the wallet',
    summary: "Gives money back into the account's wallet",
    details: "refunds to the account's wallet",
    needs: 'delivered: goodwill',
    help: "Gives money back into the account's wallet. --evidence says how we know that the gateway will not refund it.",
  },
  cancel: {
    ...TAKES_BACK,
    roles: ['OPERATIONS', 'FINANCE'],
    situations: ['awaiting-money', 'delivering', 'ended'],
    fields: [],
    command: 'cancel',
    label: 'Cancel',
    summary: 'Ends an open purchase, funding or charge; money that was paid goes back',
    details: 'ends it and refunds what was paid; a closed one stops waiting for money',
    needs: 'nothing of the order is left',
  },
  'grant-return': {
    roles: ['FINANCE'],
    situations: ['delivered'],
    isCheck: false,
    needsEvidence: true,
    takesBack: false,
    runsOn: 'orders',
    fields: [],
    command: 'return',
    label: 'Accept the return',
    summary: 'Gives the money of a return back, on the supplier’s word that the eSIM is cancelled',
    details:
      'ends a return that needs review: the eSIM is cancelled here, and its price less the fee goes back as in every return',
    needs: 'a return in review; evidence that the supplier has cancelled it unused',
    help: 'Gives the money of a return in review back. --evidence says where the supplier says that the eSIM is cancelled.',
  },
  'refuse-return': {
    roles: ['OPERATIONS', 'FINANCE'],
    situations: ['delivered'],
    isCheck: false,
    needsEvidence: false,
    takesBack: false,
    runsOn: 'orders',
    fields: [],
    command: 'refuse-return',
    label: 'Refuse the return',
    summary: 'Refuses a return that needs review; nothing is given back',
    details: 'ends a return that needs review; the eSIM and the money stay as they are',
    needs: 'a return in review; no cancellation that was sent may still arrive',
  },
  'grant-replacement': {
    roles: ['OPERATIONS', 'FINANCE'],
    situations: ['delivered'],
    isCheck: false,
    needsEvidence: true,
    takesBack: false,
    runsOn: 'orders',
    fields: [],
    command: 'replace',
    label: 'Grant the replacement',
    summary: 'Grants a replacement that needs review: the new eSIM is bought, and the old one revoked',
    details:
      'grants a replacement that needs review: the new eSIM is bought at the agreed price; if it is already delivered, records that the old one is revoked',
    needs: 'a replacement in review; evidence that the eSIM does not work, or is revoked at the supplier',
    help: 'Grants a replacement in review. --evidence says where it can be seen that the eSIM does not work, or is revoked.',
  },
  'refuse-replacement': {
    roles: ['OPERATIONS', 'FINANCE'],
    situations: ['delivered'],
    isCheck: false,
    needsEvidence: false,
    takesBack: false,
    runsOn: 'orders',
    fields: [],
    command: 'refuse-replacement',
    label: 'Refuse the replacement',
    summary: 'Refuses a replacement that needs review; nothing is changed',
    details: 'ends a replacement that needs review; the eSIM stays as it is',
    needs: 'a replacement in review; its new eSIM is not ordered',
  },
  'settle-dispute': {
    roles: ['FINANCE'],
    situations: ['delivering', 'delivered', 'ended'],
    isCheck: false,
    needsEvidence: true,
    takesBack: false,
    runsOn: 'gateway',
    fields: ['outcome', 'disputeId', 'override'],
    command: 'settle',
    label: 'Settle the dispute',
    summary: 'Records how a dispute ended, checked against the gateway',
    details:
      'ends one dispute or reversal as `won` or `lost`, in agreement with the gateway: its money in suspense becomes revenue, or a loss',
    needs: 'evidence, an outcome',
    help: `Records how a dispute ended, or that money which was taken back is lost, checked against the gateway. --dispute is
required where several are open. --override records another outcome than the gateway's: a second person must approve it.`,
  },
} as const satisfies Record<string, ActionSpec>;

export type OperatorAction = keyof typeof ACTION_TABLE;
export const OPERATOR_ACTIONS = Object.keys(ACTION_TABLE) as [OperatorAction, ...OperatorAction[]];

export const actionSpec = (action: OperatorAction): ActionSpec => ACTION_TABLE[action];

/** For the dashboard, which reads nothing but the documents of the API. */
export const ACTION_WORDS = Object.fromEntries(
  Object.entries<ActionSpec>(ACTION_TABLE).map(
    ([action, { label, summary, fields, needsEvidence, takesBack }]) => {
      const evidence = needsEvidence || takesBack ? ['evidence'] : [];
      return [action, { label, does: `${summary}.`, fields: [...fields, ...evidence], needsEvidence }];
    },
  ),
);

/** Actions for which a column of the table is true. */
export const actionsThat = (column: 'isCheck' | 'needsEvidence' | 'takesBack'): OperatorAction[] =>
  OPERATOR_ACTIONS.filter((action) => ACTION_TABLE[action][column]);

export const actionsInSituation = (situation: PurchaseSituation): OperatorAction[] =>
  OPERATOR_ACTIONS.filter((action) => actionSpec(action).situations.includes(situation));

export const rolesFor = (action: OperatorAction): readonly Role[] => ACTION_TABLE[action].roles;
export const mayPerform = (role: Role, action: OperatorAction): boolean => rolesFor(action).includes(role);
