/** A database that is away for a moment is told to callers as 503 with Retry-After, never as a bug of ours. */
import { DomainError } from '../../domain/errors.ts';
import { isPassing } from './errors.ts';

const RETRY_AFTER_SECONDS = 2;

type Verb = (...args: unknown[]) => unknown;

/** Wraps every verb of a set: errors that pass by themselves become SERVICE_UNAVAILABLE, all others stay what they are. */
export function unavailableWhenAway<T extends object>(verbs: T): T {
  return Object.fromEntries(
    Object.entries(verbs).map(([name, verb]: [string, unknown]) => [
      name,
      typeof verb === 'function' ? wrap(verb as Verb) : verb,
    ]),
  ) as T;
}

function wrap(verb: Verb): Verb {
  return (...args) => {
    const answer = verb(...args);
    return answer instanceof Promise ? answer.catch(translate) : answer;
  };
}

function translate(error: unknown): never {
  if (!isPassing(error)) throw error;
  const unavailable = new DomainError(
    'SERVICE_UNAVAILABLE',
    'The service is not available right now, try again in a moment',
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
  unavailable.cause = error;
  throw unavailable;
}
