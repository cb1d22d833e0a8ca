import { peopleUseCases } from '../../accounts/people.ts';
import { sessionUseCases, type SessionDeps } from '../../accounts/sessions.ts';
import { unavailableWhenAway } from '../database/availability.ts';
import { bindAll, type Bound } from './bind.ts';
import type { OpsWorld } from './ops-world.ts';

/** What operators may do over HTTP. The middleware checks a route's permission before the route calls any of these. */
export interface OpsUseCases {
  readonly sessions: Bound<typeof sessionUseCases>;
  readonly people: Bound<typeof peopleUseCases>;
  /** `live` is absent while the live world is switched off. */
  readonly worlds: { readonly test: OpsWorld; readonly live?: OpsWorld };
}

export function createOpsUseCases(deps: SessionDeps, { test, live }: OpsUseCases['worlds']): OpsUseCases {
  return {
    sessions: unavailableWhenAway(bindAll(deps, sessionUseCases)),
    people: unavailableWhenAway(bindAll(deps, peopleUseCases)),
    worlds: {
      test: unavailableWhenAway(test),
      ...(live ? { live: unavailableWhenAway(live) } : {}),
    },
  };
}
