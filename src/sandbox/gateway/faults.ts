/**
 * The gateway's fault switches: what the control interface may set. Guarantee: a bad request changes nothing. Must not touch money itself.
 */
import {
  AMOUNT,
  CHANCE,
  DURATION_MS,
  FLAG,
  isObject,
  isOff,
  oneOf,
  type Chance,
  type Check,
} from '../support/checks.ts';
import { checked, ControlError } from '../support/control.ts';
import { WEBHOOK_MODES, type FaultBoard, type WebhookMode } from '../support/fault-board.ts';
import { OPERATION_NAMES, type OperationName } from './operations/names.ts';
import { RETRY_SCHEDULES, type RetrySchedule } from './webhooks/schedule.ts';
import { WEBHOOK_BYTES, type WebhookBytes } from './wire.ts';

export const NETWORK_KINDS = [
  'connect-refused',
  'timeout-before',
  'timeout-after',
  'reset',
  '429',
  '500',
  'html-502',
  'bad-json',
  'failed-200',
  'duplicate-reference',
  'trickle',
] as const;
export type NetworkKind = (typeof NETWORK_KINDS)[number];

/** Trouble on the way. Without `next` and `share` it hits every call. */
export interface NetworkFault {
  kind: NetworkKind;
  /** The only operation it hits; absent: all. */
  operation?: OperationName;
  next?: number;
  share?: number;
  /** Whether the work is done although the answer is in trouble; where the kind leaves that open. */
  done?: boolean;
  /** How long a trickle takes. */
  trickleMs?: number;
}

const REFUND_MODES = ['process', 'fail', 'needs-attention', 'refuse', 'pending'] as const;
export type RefundMode = (typeof REFUND_MODES)[number];

export interface GatewayFaults {
  webhooks: WebhookMode;
  latencyMs: number;
  /** Done and kept, then the connection is cut. */
  loseAnswer: Chance;
  /** HTTP 500, nothing done. */
  error: Chance;
  /** What becomes of a transfer of a wrong amount, a late one or a second one. */
  shortTransfer: 'settle' | 'return';
  refund: RefundMode;
  /** How long each step of a refund takes. */
  refundDelayMs: number;
  unknownReference: 400 | 404;
  /** Finds no charge, as for a key of another integration. */
  otherIntegration: boolean;
  chargeFailedEvents: boolean;
  /** Values that are null here and {} or "" there, ids of 64 bits, fields nobody knows. */
  shapeDrift: boolean;
  /** Said instead of every status of a charge or refund; null: off. */
  unknownStatus: string | null;
  webhookBytes: WebhookBytes;
  retries: RetrySchedule;
  /** The unit of the amount in bank.transfer.rejected. */
  rejectedAmount: 'minor' | 'major';
  network: NetworkFault | null;
}

/** Kinds whose name says whether the work is done. */
const DONE_BY_NAME: Partial<Record<NetworkKind, boolean>> = {
  'connect-refused': false,
  'timeout-before': false,
  'timeout-after': true,
};
/** Kinds that leave it open, and have done it unless told otherwise. */
const USUALLY_DONE: readonly NetworkKind[] = ['reset', 'bad-json', 'trickle'];

/** Whether the work is done although its answer is in trouble. */
export function isDone({ kind, done }: NetworkFault): boolean {
  return DONE_BY_NAME[kind] ?? done ?? USUALLY_DONE.includes(kind);
}

const SHARE: Check = {
  ok: (value) => typeof value === 'number' && value >= 0 && value <= 1,
  wants: 'a share from 0 to 1',
};
const NETWORK_FIELDS: Record<keyof NetworkFault, Check> = {
  kind: oneOf(NETWORK_KINDS),
  operation: oneOf(OPERATION_NAMES),
  next: AMOUNT,
  share: SHARE,
  done: FLAG,
  trickleMs: DURATION_MS,
};

const CHECKS: Record<keyof GatewayFaults, Check> = {
  webhooks: oneOf(WEBHOOK_MODES),
  latencyMs: DURATION_MS,
  loseAnswer: CHANCE,
  error: CHANCE,
  shortTransfer: oneOf(['settle', 'return']),
  refund: oneOf(REFUND_MODES),
  refundDelayMs: DURATION_MS,
  unknownReference: oneOf([400, 404]),
  otherIntegration: FLAG,
  chargeFailedEvents: FLAG,
  shapeDrift: FLAG,
  unknownStatus: {
    ok: (value) => value === null || (typeof value === 'string' && /^[a-z][a-z_-]{0,39}$/.test(value)),
    wants: 'a word of small letters, or null',
  },
  webhookBytes: oneOf(WEBHOOK_BYTES),
  retries: oneOf(RETRY_SCHEDULES),
  rejectedAmount: oneOf(['minor', 'major']),
  network: { ok: (value) => value === null || isObject(value), wants: 'an object with a kind, or null' },
};

/** Fields of `network` that are wrong, or make no sense together. */
function networkProblems(fault: unknown): string[] {
  if (!isObject(fault)) return [];
  const { kind, next, share, done } = fault;
  try {
    checked(fault, NETWORK_FIELDS, 'field of network');
  } catch (error) {
    if (error instanceof ControlError) return error.problems;
    throw error;
  }
  if (kind === undefined) return [`network needs a kind, one of ${NETWORK_KINDS.join(', ')}`];
  if (next !== undefined && share !== undefined) return ['network takes next or share, not both'];
  const byName = DONE_BY_NAME[kind as NetworkKind];
  if (done !== undefined && byName !== undefined && done !== byName) {
    return [`network of kind ${kind as NetworkKind} always means done ${byName}`];
  }
  return [];
}

/** Checks a request body against the tables above; throws a ControlError naming every wrong field. */
export function parseFaults(body: unknown): Partial<GatewayFaults> {
  const inside = isObject(body) ? networkProblems(body['network']) : [];
  try {
    const faults = checked(body, CHECKS, 'fault');
    if (inside.length > 0) throw new ControlError(400, []);
    return faults;
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    throw new ControlError(error.status, [...error.problems, ...inside]);
  }
}

/** Nothing goes wrong. */
export function noFaults(options: { refundDelayMs: number; retries: RetrySchedule }): GatewayFaults {
  return {
    webhooks: 'deliver',
    latencyMs: 0,
    loseAnswer: 0,
    error: 0,
    shortTransfer: 'settle',
    refund: 'process',
    unknownReference: 404,
    otherIntegration: false,
    chargeFailedEvents: false,
    shapeDrift: false,
    unknownStatus: null,
    webhookBytes: 'compact',
    rejectedAmount: 'minor',
    network: null,
    ...options,
  };
}

/** The network fault that hits this call, if any; uses up a `next`. */
export function takeNetworkFault(
  faults: FaultBoard<GatewayFaults>,
  operation: OperationName | undefined,
): NetworkFault | null {
  const fault = faults.current.network;
  if (fault === null || (fault.operation !== undefined && fault.operation !== operation)) return null;
  if (fault.share !== undefined) return faults.roll('network', fault.share) ? fault : null;
  if (fault.next === undefined) return fault;
  if (isOff({ next: fault.next })) return null;
  faults.set({ network: { ...fault, next: fault.next - 1 } });
  return fault;
}

/** Whether nothing at all may connect. */
export function isUnreachable({ network }: GatewayFaults): boolean {
  if (network?.kind !== 'connect-refused') return false;
  const { operation, next, share } = network;
  return operation === undefined && next === undefined && (share === undefined || share === 1);
}
