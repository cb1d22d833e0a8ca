/**
 * The one place that decides which environment a request belongs to: the key says it; without a key its path may; else it is live, or
 * test while live is switched off. Below here nothing can name the other world.
 */
import type { UseCases, WorldUseCases } from '../../app/use-cases.ts';
import { DomainError } from '../../domain/errors.ts';
import { routeOf, type Middleware } from '../request.ts';
import type { WorldRule } from '../route.ts';

export function pickWorld(worlds: UseCases['worlds']): Middleware {
  return (ctx, next) => {
    const { principal } = ctx.state;
    const found = worldsFor(worlds, principal?.environment ?? routeOf(ctx)?.world);
    if (found.length === 0) {
      throw principal
        ? new DomainError('ENVIRONMENT_UNAVAILABLE', 'The live environment is not available here')
        : new DomainError('NOT_FOUND', 'There is nothing at this path');
    }
    ctx.state.worlds = found;
    ctx.state.world = found[0];
    return next();
  };
}

function worldsFor(worlds: UseCases['worlds'], rule: WorldRule | undefined): readonly WorldUseCases[] {
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
