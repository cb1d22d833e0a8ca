import { DomainError } from '../../domain/errors.ts';
import type { MissingFields } from './route.ts';

/** One refusal for all that is wrong with a request; problems are `field: what is wrong`. */
export function invalidRequest(missing: MissingFields | undefined, problems: readonly string[]): DomainError {
  if (missing === undefined)
    return new DomainError('VALIDATION_ERROR', 'Invalid request', { details: problems });
  const { code, message, fields } = missing;
  const others = problems.filter((problem) => !fields.includes(fieldOf(problem)));
  const required = fields.map((field) => ({ field, problem: 'is required' }));
  return new DomainError(code, message, { details: [message, ...others], fields: required });
}

/** The field that a problem names. */
export function fieldOf(problem: string): string {
  return problem.split(':', 1)[0] ?? '';
}
