/**
 * Fault switches: what the control interface may set, and the dice that decide whether a call is hit.
 * Guarantee: seeded, so two runs with the same calls decide alike; a bad request changes nothing. Must not touch orders itself.
 */
import { createRandom, hash32 } from './seeded.ts';

/** A share of the calls (1 = every call), or the next n calls it could apply to. */
export type Chance = number | { next: number };

export interface Faults {
  latencyMs: number;
  allocationMs: number;
  outOfStock: Chance;
  priceChanged: Chance;
  lowBalance: Chance;
  busy: Chance;
  loseAnswer: Chance;
  neverAllocate: Chance;
  wrongSignature: Chance;
  /** The vendor's 8 requests a second. */
  rateLimit: boolean;
  /** A new eSIM gets the ICCID of a cancelled or revoked one. */
  reuseIccid: Chance;
  /** Usage reports stay behind by this much. */
  usageLagMs: number;
  /** Success with errorCode null, as some of the vendor's examples have it. */
  nullErrorCode: boolean;
  /** Top-up answers without topUpEsimTranNo. */
  omitTopUpEsimTranNo: boolean;
  /** What happens to webhooks. */
  webhooks: WebhookMode;
}

export type WebhookMode = 'deliver' | 'drop' | 'duplicate' | 'reorder' | 'delay';
export type ChanceName = {
  [Name in keyof Faults]: Faults[Name] extends Chance ? (Chance extends Faults[Name] ? Name : never) : never;
}[keyof Faults];

type FaultKind = 'chance' | 'flag' | 'durationMs' | 'webhooks';

const KINDS: Record<keyof Faults, FaultKind> = {
  latencyMs: 'durationMs',
  allocationMs: 'durationMs',
  outOfStock: 'chance',
  priceChanged: 'chance',
  lowBalance: 'chance',
  busy: 'chance',
  loseAnswer: 'chance',
  neverAllocate: 'chance',
  wrongSignature: 'chance',
  rateLimit: 'flag',
  reuseIccid: 'chance',
  usageLagMs: 'durationMs',
  nullErrorCode: 'flag',
  omitTopUpEsimTranNo: 'flag',
  webhooks: 'webhooks',
};
const WEBHOOK_MODES: readonly string[] = [
  'deliver',
  'drop',
  'duplicate',
  'reorder',
  'delay',
] satisfies WebhookMode[];
const LONGEST_MS = 86_400_000;

/** Thrown for a fault request that makes no sense; `problems` names every wrong field. */
export class FaultRequestError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(problems.join('; '));
    this.name = 'FaultRequestError';
    this.problems = problems;
  }
}

function isChance(value: unknown): value is Chance {
  if (typeof value === 'number') return value >= 0 && value <= 1;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { next, ...rest } = value as { next?: unknown };
  return Object.keys(rest).length === 0 && Number.isSafeInteger(next) && (next as number) >= 0;
}

const CHECKS: Record<FaultKind, { ok: (value: unknown) => boolean; wants: string }> = {
  chance: { ok: isChance, wants: 'a share from 0 to 1 or {"next": n} with a whole number n' },
  flag: { ok: (value) => typeof value === 'boolean', wants: 'true or false' },
  durationMs: {
    ok: (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_MS,
    wants: `whole milliseconds from 0 to ${LONGEST_MS}`,
  },
  webhooks: {
    ok: (value) => typeof value === 'string' && WEBHOOK_MODES.includes(value),
    wants: `one of ${WEBHOOK_MODES.join(', ')}`,
  },
};

/** Checks a request body against the table above; throws FaultRequestError naming every wrong field. */
export function parseFaults(body: unknown): Partial<Faults> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new FaultRequestError(['the body must be a JSON object']);
  }
  const problems: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (!Object.hasOwn(KINDS, name)) {
      problems.push(`unknown fault "${name.slice(0, 60)}", known: ${Object.keys(KINDS).join(', ')}`);
      continue;
    }
    const check = CHECKS[KINDS[name as keyof Faults]];
    if (!check.ok(value)) problems.push(`${name} must be ${check.wants}`);
  }
  if (problems.length > 0) throw new FaultRequestError(problems);
  return body;
}

/** Whether a chance can never hit any more. */
function isOff(chance: Chance): boolean {
  return chance === 0 || (typeof chance === 'object' && chance.next === 0);
}

export interface FaultBoard {
  readonly current: Readonly<Faults>;
  /** Lays the given faults over what is set and answers the result. */
  set(changes: Partial<Faults>): Faults;
  reset(): Faults;
  /** Decides about one call and uses up a `{next}`. */
  hits(name: ChanceName): boolean;
}

export interface FaultBoardOptions {
  allocationMs: number;
  seed: number;
  load: () => string | undefined;
  save: (json: string) => void;
  /** Called when neverAllocate is taken back. */
  onNeverAllocateOff: () => void;
}

/** The board of faults, loaded from and saved to the simulator's storage. */
export function createFaultBoard(options: FaultBoardOptions): FaultBoard {
  const defaults: Faults = {
    latencyMs: 0,
    allocationMs: options.allocationMs,
    outOfStock: 0,
    priceChanged: 0,
    lowBalance: 0,
    busy: 0,
    loseAnswer: 0,
    neverAllocate: 0,
    wrongSignature: 0,
    rateLimit: false,
    reuseIccid: 0,
    usageLagMs: 0,
    nullErrorCode: false,
    omitTopUpEsimTranNo: false,
    webhooks: 'deliver',
  };
  const saved = options.load();
  const stored = saved === undefined ? {} : (JSON.parse(saved) as Partial<Faults>);
  let changed: Partial<Faults> = stored;
  let current: Faults = { ...defaults, ...stored };
  const dice = new Map<ChanceName, () => number>();
  const apply = (next: Partial<Faults>) => {
    changed = next;
    current = { ...defaults, ...next };
    options.save(JSON.stringify(changed));
  };
  const diceOf = (name: ChanceName) => {
    const known = dice.get(name) ?? createRandom(options.seed ^ hash32(name));
    dice.set(name, known);
    return known;
  };
  return {
    get current() {
      return current;
    },
    set: (changes) => {
      apply({ ...changed, ...changes });
      if (changes.neverAllocate !== undefined && isOff(changes.neverAllocate)) options.onNeverAllocateOff();
      return current;
    },
    reset: () => {
      apply({});
      options.onNeverAllocateOff();
      return current;
    },
    hits: (name) => {
      const chance = current[name];
      if (isOff(chance)) return false;
      if (typeof chance === 'number') return chance === 1 || diceOf(name)() < chance;
      apply({ ...changed, [name]: { next: chance.next - 1 } });
      return true;
    },
  };
}
