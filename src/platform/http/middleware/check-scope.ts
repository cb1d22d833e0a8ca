/**
 * Refuses keys that lack what the route needs (decisions.md, "Key without the permission"), and people whose role does not allow it. Before
 * the body is read: who may not do something learns nothing about how it is done.
 */
import type { UseCases } from '../../composition/use-cases.ts';
import { DomainError } from '../../../domain/errors.ts';
import { routeOf, type Middleware, type RequestKoa } from '../request.ts';

export function checkScope(ops: UseCases['ops']): Middleware {
  return (ctx, next) => {
    const { principal, session } = ctx.state;
    if (session) return checkRole(ctx, ops).then(next);
    const scope = routeOf(ctx)?.scope;
    if (scope !== undefined && principal && !principal.scopes.includes(scope)) {
      throw new DomainError('FORBIDDEN', `This key lacks the permission "${scope}"`);
    }
    return next();
  };
}

async function checkRole(ctx: RequestKoa, ops: UseCases['ops']): Promise<void> {
  const { session, requestId, path } = ctx.state;
  const permission = routeOf(ctx)?.permission;
  if (!ops || !session || permission === undefined) throw new Error('a route for people says no permission');
  if (permission === 'own') return;
  await ops.sessions.authorise(session, permission, { subject: `${ctx.method} ${path}`, requestId });
}
