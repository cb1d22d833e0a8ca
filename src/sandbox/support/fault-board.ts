/**
 * A simulator's switches for misbehaviour, and the dice that decide whether a call is hit.
 * Guarantee: seeded, so two runs with the same calls decide alike; kept over a restart. Must not know what a fault does.
 */
import { isOff, type Chance } from './checks.ts';
import { createRandom, hash32 } from './seeded.ts';

/** What happens to webhooks on their way. */
export const WEBHOOK_MODES = ['deliver', 'drop', 'duplicate', 'reorder', 'delay'] as const;
export type WebhookMode = (typeof WEBHOOK_MODES)[number];

/** The faults that are chances. */
export type ChanceName<Faults> = {
  [Name in keyof Faults]: Faults[Name] extends Chance ? (Chance extends Faults[Name] ? Name : never) : never;
}[keyof Faults] &
  string;

export interface FaultBoard<Faults> {
  readonly current: Readonly<Faults>;
  /** Lays the given faults over what is set and answers the result. */
  set(changes: Partial<Faults>): Faults;
  reset(): Faults;
  /** Decides about one call and uses up a `{next}`. */
  hits(name: ChanceName<Faults>): boolean;
  /** Decides by a share, with the dice of this name. */
  roll(name: string, share: number): boolean;
}

export interface FaultBoardOptions<Faults> {
  defaults: Faults;
  seed: number;
  load: () => string | undefined;
  save: (json: string) => void;
  /** Called when the control interface set these; a reset sets everything to its default. */
  onSet?: (changes: Partial<Faults>) => void;
}

/** The board of faults, loaded from and saved to the simulator's storage. */
export function createFaultBoard<Faults extends object>(
  options: FaultBoardOptions<Faults>,
): FaultBoard<Faults> {
  const { defaults } = options;
  const saved = options.load();
  let changed = (saved === undefined ? {} : JSON.parse(saved)) as Partial<Faults>;
  let current: Faults = { ...defaults, ...changed };
  const dice = new Map<string, () => number>();
  const apply = (next: Partial<Faults>) => {
    changed = next;
    current = { ...defaults, ...next };
    options.save(JSON.stringify(changed));
  };
  const set = (next: Partial<Faults>, changes: Partial<Faults>) => {
    apply(next);
    options.onSet?.(changes);
    return current;
  };
  const roll = (name: string, share: number) => {
    const known = dice.get(name) ?? createRandom(options.seed ^ hash32(name));
    dice.set(name, known);
    return share === 1 || known() < share;
  };
  return {
    get current() {
      return current;
    },
    set: (changes) => set({ ...changed, ...changes }, changes),
    reset: () => set({}, defaults),
    hits: (name) => {
      const chance = current[name] as Chance;
      if (isOff(chance)) return false;
      if (typeof chance === 'number') return roll(name, chance);
      apply({ ...changed, [name]: { next: chance.next - 1 } });
      return true;
    },
    roll,
  };
}
