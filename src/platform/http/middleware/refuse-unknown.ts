/** Ends requests that no route takes: 404, 405 with Allow, and OPTIONS, which only lists the methods. */
import { DomainError } from '../../../domain/errors.ts';
import type { Middleware } from '../request.ts';

export function refuseUnknown(): Middleware {
  return (ctx, next) => {
    const { match } = ctx.state;
    switch (match.kind) {
      case 'route':
        return next();
      case 'options':
        ctx.state.answer = { status: 204, body: '', headers: { Allow: match.allow } };
        return Promise.resolve();
      case 'wrong-method':
        ctx.state.headers['Allow'] = match.allow;
        throw new DomainError('METHOD_NOT_ALLOWED', `This path takes ${match.allow}`);
      case 'unknown':
        throw new DomainError('NOT_FOUND', 'There is nothing at this path');
    }
  };
}
