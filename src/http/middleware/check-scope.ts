/** Refuses keys that lack what the route needs (decisions.md, "Key without the permission"). */
import { DomainError } from '../../domain/errors.ts';
import type { Middleware } from '../request.ts';

export function checkScope(): Middleware {
  return (ctx, next) => {
    const { match, principal } = ctx.state;
    const scope = match.kind === 'route' ? match.route.scope : undefined;
    if (scope !== undefined && principal && !principal.scopes.includes(scope)) {
      throw new DomainError('FORBIDDEN', `This key lacks the permission "${scope}"`);
    }
    return next();
  };
}
