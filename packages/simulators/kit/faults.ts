/**
 * A simulator's faults: what the control interface may set, and the dice that decide whether a call is hit.
 * Kept over a restart.
 */
import { z } from 'zod';
import { checked, type Chance, type Routes } from './control.ts';
import type { Database } from './storage.ts';
import { createRandom, hash32 } from './seeded.ts';

type Changes<Faults> = { [Name in keyof Faults]?: Faults[Name] | undefined };

/** The faults that are chances. */
type ChanceName<Faults> = {
  [Name in keyof Faults]: Faults[Name] extends Chance ? (Chance extends Faults[Name] ? Name : never) : never;
}[keyof Faults] &
  string;

export type FaultBoard<Faults extends object> = ReturnType<typeof createFaultBoard<Faults>>;

/** Whether a chance can never hit any more. */
export function isOff(chance: Chance): boolean {
  return chance === 0 || (typeof chance === 'object' && chance.next === 0);
}

/** The faults, loaded from and saved to the simulator's storage. */
export function createFaultBoard<Faults extends object>(options: {
  defaults: Faults;
  seed: number;
  meta: Database['meta'];
  /** Called when the control interface set these; a reset sets everything to its default. */
  onSet: (changes: Changes<Faults>) => void;
}) {
  const { defaults, meta } = options;
  let changed = JSON.parse(meta.read('faults') ?? '{}') as Changes<Faults>;
  let current = { ...defaults, ...changed };
  const dice = new Map<string, () => number>();
  const apply = (next: Changes<Faults>) => {
    changed = next;
    current = { ...defaults, ...next };
    meta.write('faults', JSON.stringify(changed));
  };
  const set = (next: Changes<Faults>, changes: Changes<Faults>) => {
    apply(next);
    options.onSet(changes);
    return current;
  };
  const roll = (name: string, share: number) => {
    const known = dice.get(name) ?? createRandom(options.seed ^ hash32(name));
    dice.set(name, known);
    return share === 1 || known() < share;
  };
  return {
    get current(): Readonly<Faults> {
      return current;
    },
    /** Adds these to what is set and answers the result. */
    set: (changes: Changes<Faults>) => set({ ...changed, ...changes }, changes),
    reset: () => set({}, defaults),
    /** Decides about one call and uses up a `{next}`. Seeded: two runs with the same calls decide alike. */
    hits: (name: ChanceName<Faults>): boolean => {
      const chance = current[name] as Chance;
      if (isOff(chance)) return false;
      if (typeof chance === 'number') return roll(name, chance);
      apply({ ...changed, [name]: { next: chance.next - 1 } });
      return true;
    },
    /** Decides by a share, with the dice of this name. */
    roll,
  };
}

/** The control routes of the faults in `schema`, whose fields have their defaults. */
export function faultRoutes<Shape extends Record<string, z.ZodDefault>>(
  schema: z.ZodObject<Shape>,
  board: FaultBoard<z.output<z.ZodObject<Shape>>>,
  onChange: () => unknown = () => undefined,
): Routes {
  const fields = Object.entries<z.ZodDefault>(schema.shape);
  const settable = z.strictObject(
    Object.fromEntries(fields.map(([name, field]) => [name, field.unwrap() as z.ZodType])),
  );
  const partial = settable.partial();
  return {
    'GET /faults': () => board.current,
    'PUT /faults': async ({ body }) => {
      const faults = board.set(checked(partial, await body(), 'fault') as Changes<typeof board.current>);
      await onChange();
      return faults;
    },
    'DELETE /faults': async () => {
      const faults = board.reset();
      await onChange();
      return faults;
    },
  };
}
