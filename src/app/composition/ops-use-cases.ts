import { deviceLoginUseCases } from '../../accounts/operators/device-logins.ts';
import type { RemovalDeps } from '../../accounts/operators/removals.ts';
import { peopleUseCases, type PeopleDeps } from '../../accounts/operators/people.ts';
import type { OperatorAccessCases, TemporalUi } from '../../accounts/operators/use-cases.ts';
import { sessionUseCases } from '../../accounts/operators/sessions.ts';
import type { UserDeps } from '../../accounts/users/better-auth-calls.ts';
import type { Environment } from '../../domain/account.ts';
import { billingOperatorUseCases } from '../../billing/operator-use-cases.ts';
import { pricingUseCases } from '../../catalogue/operator-pricing.ts';
import type { Metrics } from '../../platform/telemetry/metrics.ts';
import type { RateDeps } from '../../catalogue/agreed-prices.ts';
import { alertUseCases } from '../../operations/alerts/use-cases.ts';
import { operatorUseCases } from '../../operations/operator-use-cases.ts';
import { overviewUseCases, reconciliationUseCases } from '../../reconciliation/operator-use-cases.ts';
import type { Config, Secrets, WorldConfig } from '../config/config.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { Events } from '../../platform/telemetry/events.ts';
import { bindAll, guardAll } from '../../platform/bind.ts';
import { openOpsDeps, type OpsDeps, type OpsVendors } from './ops-deps.ts';

/**
 * What operators may do over HTTP. The middleware checks a route's permission before the route calls any of
 * these.
 */
export interface OpsUseCases extends OperatorAccessCases {
  /** `live` is undefined while the live environment is switched off. */
  readonly worlds: { readonly test: OpsWorld; readonly live?: OpsWorld };
}

/** Each environment has its own connections: no report delays a purchase. Connects at the first sign-in. */
export function composeOps(
  {
    config,
    secrets,
    metrics,
  }: { readonly config: Config; readonly secrets: Secrets; readonly metrics?: Metrics },
  deps: UserDeps & PeopleDeps & { readonly events: Events },
  vendorsOf: (environment: Environment) => OpsVendors,
) {
  const { db: accounts } = deps;
  const open = (world: WorldConfig) => openOpsDeps(secrets, world, deps.events, vendorsOf(world.environment));
  const test = open(config.worlds.test);
  const live = config.worlds.live && open(config.worlds.live);
  const events = { accessRemoved: metrics?.accessRemoved ?? (() => undefined) };
  const shared = { accounts, configuredRates: config.rates.fixed, events };
  const useCases: OpsUseCases = {
    sessions: bindAll(deps, sessionUseCases),
    deviceLogins: bindAll(deps, deviceLoginUseCases),
    people: bindAll({ ...deps, events }, peopleUseCases),
    temporalUi: temporalUiOf(config),
    worlds: {
      test: createOpsWorld({ ...test, ...shared }),
      live: live && createOpsWorld({ ...live, ...shared }),
    },
  };
  return {
    useCases,
    close: async () => {
      await Promise.allSettled([test.close(), live?.close()]);
    },
  };
}

interface OpsWorldDeps extends Omit<OpsDeps, 'close'>, Pick<RateDeps, 'configuredRates'>, RemovalDeps {
  readonly accounts: AccountsDb;
  /** How long a caller waits for a reconciliation. */
  readonly reconcileWithinMs?: number;
}

/** What operators may do in one environment, by noun. */
export type OpsWorld = ReturnType<typeof createOpsWorld>;

export function createOpsWorld(deps: OpsWorldDeps) {
  return {
    operations: bindAll(deps, operatorUseCases),
    pricing: bindAll(deps, pricingUseCases),
    billing: bindAll(deps, billingOperatorUseCases),
    alerts: bindAll(deps, alertUseCases),
    reconciliation: {
      ...bindAll(deps, reconciliationUseCases),
      ...guardAll(overviewUseCases(deps)),
    },
  };
}

function temporalUiOf({ temporalUiUrl: url, worlds: { test, live } }: Config): TemporalUi | null {
  if (url === undefined) return null;
  return { url, namespaces: { test: test.namespace, live: live?.namespace ?? null } };
}
