import { rethrow } from './database/errors.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- every use case has arguments of its own
type UseCase<Deps> = (deps: Deps, ...args: any[]) => unknown;

/** The use cases as a caller sees them: without their first argument, and asynchronous. */
export type Bound<Cases> = {
  readonly [Name in keyof Cases]: Cases[Name] extends (deps: never, ...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** Gives each use case its dependencies, and guards it. */
export function bindAll<Deps, Cases extends Record<string, UseCase<Deps>>>(
  deps: Deps,
  cases: Cases,
): Bound<Cases> {
  const bound = Object.entries(cases).map(([name, useCase]) => [
    name,
    (...args: unknown[]) => useCase(deps, ...args),
  ]);
  return guardAll(Object.fromEntries(bound)) as Bound<Cases>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- every use case has arguments of its own
type BoundCase = (...args: any[]) => unknown;

/** Use cases that already have their dependencies, made asynchronous. */
export type Guarded<Cases> = {
  readonly [Name in keyof Cases]: Cases[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/**
 * For use cases that already have their dependencies. A thrown error becomes a rejection, an unreachable
 * database SERVICE_UNAVAILABLE.
 */
export function guardAll<Cases extends Record<string, BoundCase>>(cases: Cases): Guarded<Cases> {
  const guarded = Object.entries(cases).map(([name, useCase]) => [
    name,
    (...args: unknown[]) => new Promise((resolve) => resolve(useCase(...args))).catch(rethrow),
  ]);
  return Object.fromEntries(guarded) as Guarded<Cases>;
}
