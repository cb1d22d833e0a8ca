/**
 * The one place that decides which environment a request belongs to: the key says it; without a key it is live, or test while live
 * is switched off. Below here nothing can name the other world.
 */
import type { UseCases } from '../../app/use-cases.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Middleware } from '../request.ts';

export function pickWorld(worlds: UseCases['worlds']): Middleware {
  return (ctx, next) => {
    const environment = ctx.state.principal?.environment ?? (worlds.live ? 'live' : 'test');
    const world = worlds[environment];
    if (!world)
      throw new DomainError('ENVIRONMENT_UNAVAILABLE', 'The live environment is not available here');
    ctx.state.world = world;
    return next();
  };
}
