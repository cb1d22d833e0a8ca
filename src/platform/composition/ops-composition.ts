/**
 * What is under /ops, of an API process: people and sessions of the accounts' schema, and of each world the same as finance's commands have,
 * on connections of its own, so that no report makes a purchase wait.
 */
import { createOpsUseCases, type OpsUseCases } from './ops-use-cases.ts';
import { createOpsWorld } from './ops-world.ts';
import { createPasswords } from '../../accounts/passwords.ts';
import { composeFinance } from './finance.ts';
import type { Config, Secrets } from '../config/config.ts';
import type { Events } from '../telemetry/events.ts';
import type { Clock } from '../../domain/clock.ts';
import type { AccountsDb } from '../database/tables.ts';

export interface OpsComposition {
  readonly useCases: OpsUseCases;
  close(): Promise<void>;
}

/** Opens lazily: where nobody signs in, nothing connects. */
export function composeOps(deps: {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly accounts: AccountsDb;
  readonly clock: Clock;
  readonly events: Events;
}): OpsComposition {
  const { config, secrets, accounts, clock, events } = deps;
  const addresses = { databaseUrl: secrets.databaseUrl, temporalAddress: config.temporal.address };
  const test = composeFinance(addresses, config.worlds.test);
  const live = config.worlds.live && composeFinance(addresses, config.worlds.live);
  const worlds = {
    test: createOpsWorld({ ...test, accounts }),
    ...(live ? { live: createOpsWorld({ ...live, accounts }) } : {}),
  };
  return {
    useCases: createOpsUseCases({ db: accounts, clock, passwords: createPasswords(), events }, worlds),
    close: async () => {
      await Promise.allSettled([test.close(), live?.close()]);
    },
  };
}
