/**
 * Decides which environment a request belongs to. A key names it. Without a key, the path may name it;
 * otherwise it is live, or test while live is switched off. People belong to no environment and name one in
 * the query. No code behind this can name the other environment.
 */
import type { UseCases, WorldUseCases } from '../composition/use-cases.ts';
import { ENVIRONMENTS, type Environment } from '../../domain/account.ts';
import { DomainError } from '../../domain/errors.ts';
import { routeOf, type Middleware, type RequestKoa } from '../../platform/http/request.ts';
import { isForPeople, isForUsers } from './authenticate.ts';
import type { EnvironmentRule } from '../../platform/http/route.ts';

export function pickEnvironment({
  worlds,
  ops,
  users,
}: Pick<UseCases, 'worlds' | 'ops' | 'users'>): Middleware {
  return (ctx, next) => {
    const { principal, session } = ctx.state;
    const named = principal?.environment ?? (session && environmentOfPerson(ctx, worlds));
    const found = worldsFor(worlds, named ?? routeOf(ctx)?.environment);
    const [first] = found;
    if (!first) {
      throw named
        ? new DomainError('ENVIRONMENT_UNAVAILABLE', 'The live environment is not available here')
        : new DomainError('NOT_FOUND', 'No such route');
    }
    const { environment, storedAnswers } = first;
    Object.assign(ctx.state, { environment, storedAnswers });
    if (isForPeople(ctx)) ctx.state.useCases = [{ ...ops, ...ops?.worlds[environment] }];
    else ctx.state.useCases = isForUsers(ctx) ? [users] : found;
    return next();
  };
}

function worldsFor(worlds: UseCases['worlds'], rule: EnvironmentRule | undefined): readonly WorldUseCases[] {
  const { live, test } = worlds;
  switch (rule) {
    case 'any':
      return live ? [live, test] : [test];
    case 'test':
      return [test];
    case 'live':
      return live ? [live] : [];
    case undefined:
      return [live ?? test];
  }
}

/**
 * Of a route that works in an environment: test while there is no other, and named once there is. Undefined
 * where it works in none.
 */
function environmentOfPerson(ctx: RequestKoa, { live }: UseCases['worlds']): Environment | undefined {
  if (!routeOf(ctx)?.queryNames.includes('environment')) return undefined;
  const { values, repeated } = ctx.state.query;
  const isAbsent = !values.has('environment') && !repeated.has('environment');
  if (isAbsent && !live) return 'test';
  const named = repeated.has('environment')
    ? undefined
    : ENVIRONMENTS.find((one) => one === values.get('environment'));
  if (named) return named;
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
    details: `environment: must be given once, and be one of ${ENVIRONMENTS.join(', ')}`,
  });
}
