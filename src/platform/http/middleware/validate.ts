/**
 * Turns raw input into what the handler's types promise. A path parameter that cannot be ours is not found.
 * Everything else that is wrong is one refusal that names every wrong field; where docs/API.md has its own
 * message for missing fields, it comes first.
 */
import type { z } from 'zod';
import { DomainError, problemsText } from '../../../domain/errors.ts';
import type { RawQuery, Middleware } from '../request.ts';
import type { MissingFields, Route } from '../route.ts';

export function validate(): Middleware {
  return (ctx, next) => {
    const { state } = ctx;
    if (state.match.kind === 'route') {
      const { route, params } = state.match;
      const known = checkParams(route, params);
      const problems: string[] = state.query.problem === undefined ? [] : [state.query.problem];
      const query = route.query && checkQuery(route, route.query, state.query, problems);
      const body = route.body ? check(route.body, state.rawBody, problems) : state.received;
      refuse(route.missing?.({ query: state.query.values, body: state.rawBody }), problems);
      state.input = { params: known, query, body };
    }
    return next();
  };
}

/** Throws one refusal for all that is wrong; problems are `field: what is wrong`. */
function refuse(missing: MissingFields | undefined, problems: readonly string[]): void {
  if (missing === undefined) {
    if (problems.length === 0) return;
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: problemsText(problems) });
  }
  const { code, message, fields } = missing;
  const others = problems.filter((problem) => !fields.includes(fieldOf(problem)));
  throw new DomainError(code, message, { details: problemsText([message, ...others]) });
}

function fieldOf(problem: string): string {
  return problem.split(':', 1)[0] ?? '';
}

function checkParams(
  route: Route,
  found: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const known: Record<string, string> = {};
  for (const [name, parameter] of Object.entries(route.params ?? {})) {
    const text = found[name];
    if (text === undefined || !parameter.isPossible(text)) {
      throw new DomainError(parameter.notFound.code, parameter.notFound.message);
    }
    known[name] = text;
  }
  return known;
}

function checkQuery(route: Route, schema: z.ZodObject, raw: RawQuery, problems: string[]): unknown {
  const values: Record<string, string> = {};
  for (const name of route.queryNames) {
    const value = raw.values.get(name);
    if (raw.repeated.has(name)) problems.push(`${name}: must be given once`);
    else if (value !== undefined) values[name] = value;
  }
  return check(schema, values, problems);
}

/** The schema's output; problems are added as `field: what is wrong`, one for each field. */
function check(schema: z.ZodObject, value: unknown, problems: string[]): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const named = new Set(problems.map(fieldOf));
  for (const issue of result.error.issues) {
    const field = issue.path.join('.') || 'body';
    if (named.has(field)) continue;
    named.add(field);
    problems.push(`${field}: ${issue.message}`);
  }
  return undefined;
}
