import { peopleUseCases } from '../../accounts/people.ts';
import { createPasswords } from '../../accounts/passwords.ts';
import { sessionUseCases, type SessionDeps } from '../../accounts/sessions.ts';
import type { Config, Secrets } from '../config/config.ts';
import { bindAll, type Bound } from './bind.ts';
import { composeFinance } from './finance.ts';
import { createOpsWorld, type OpsWorld } from './ops-world.ts';

/** What operators may do over HTTP. The middleware checks a route's permission before the route calls any of these. */
export interface OpsUseCases {
  readonly sessions: Bound<typeof sessionUseCases>;
  readonly people: Bound<typeof peopleUseCases>;
  /** `live` is undefined while the live world is switched off. */
  readonly worlds: { readonly test: OpsWorld; readonly live?: OpsWorld };
}

/** Each world has connections of its own, so that no report makes a purchase wait. Opens lazily: nothing connects before the first sign-in. */
export function composeOps(
  { config, secrets }: { readonly config: Config; readonly secrets: Secrets },
  given: Omit<SessionDeps, 'passwords'>,
) {
  const { db: accounts } = given;
  const deps = { ...given, passwords: createPasswords() };
  const addresses = { databaseUrl: secrets.databaseUrl, temporalAddress: config.temporal.address };
  const test = composeFinance(addresses, config.worlds.test);
  const live = config.worlds.live && composeFinance(addresses, config.worlds.live);
  const useCases: OpsUseCases = {
    sessions: bindAll(deps, sessionUseCases),
    people: bindAll(deps, peopleUseCases),
    worlds: {
      test: createOpsWorld({ ...test, accounts }),
      live: live && createOpsWorld({ ...live, accounts }),
    },
  };
  return {
    useCases,
    close: async () => {
      await Promise.allSettled([test.close(), live?.close()]);
    },
  };
}
