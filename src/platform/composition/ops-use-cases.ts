import { peopleUseCases } from '../../accounts/operators/people.ts';
import { sessionUseCases, type Session, type SessionDeps } from '../../accounts/operators/sessions.ts';
import { pricingUseCases } from '../../catalogue/operator-pricing.ts';
import type { RateDeps } from '../../catalogue/rates.ts';
import { operatorUseCases } from '../../operations/operator-use-cases.ts';
import { differenceUseCases } from '../../reconciliation/operator-use-cases.ts';
import { createOverview } from '../../reconciliation/overview.ts';
import type { Config, Secrets } from '../config/config.ts';
import type { AccountsDb } from '../database/tables.ts';
import { bindAll, guardAll, type Bound } from './bind.ts';
import { composeFinance, type FinanceWorld } from './finance.ts';

/** Where people can see the workflows of each environment. */
export interface TemporalUi {
  /** Without a slash at its end. */
  readonly url: string;
  /** `live` is null while the live environment is switched off. */
  readonly namespaces: { readonly test: string; readonly live: string | null };
}

/** What operators may do over HTTP. The middleware checks a route's permission before the route calls any of these. */
export interface OpsUseCases {
  readonly sessions: Bound<typeof sessionUseCases>;
  readonly people: Bound<typeof peopleUseCases>;
  /** null: not configured. */
  readonly temporalUi: TemporalUi | null;
  /** `live` is undefined while the live environment is switched off. */
  readonly worlds: { readonly test: OpsWorld; readonly live?: OpsWorld };
}

/** Each environment has its own connections, so no report delays a purchase. Connects at the first sign-in. */
export function composeOps(
  { config, secrets }: { readonly config: Config; readonly secrets: Secrets },
  deps: SessionDeps,
) {
  const { db: accounts } = deps;
  const test = composeFinance(secrets, config.worlds.test);
  const live = config.worlds.live && composeFinance(secrets, config.worlds.live);
  const shared = { accounts, configuredRates: config.rates.fixed };
  const useCases: OpsUseCases = {
    sessions: bindAll(deps, sessionUseCases),
    people: bindAll(deps, peopleUseCases),
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

interface OpsWorldDeps extends Omit<FinanceWorld, 'close'>, Pick<RateDeps, 'configuredRates'> {
  readonly accounts: AccountsDb;
  /** How long a caller waits for a reconciliation. */
  readonly reconcileWithinMs?: number;
}

/** What operators may do in one environment. */
export type OpsWorld = ReturnType<typeof createOpsWorld>;

export function createOpsWorld(deps: OpsWorldDeps) {
  const { books } = deps;
  const overview = createOverview(deps);
  return {
    ...bindAll(deps, { ...operatorUseCases, ...pricingUseCases, ...differenceUseCases }),
    ...guardAll({
      readOverview: ({ person }: Session) => overview(person.role),
      readTrialBalance: books.trialBalance,
      readDaily: books.daily,
      readByMerchant: books.byMerchant,
      readWaiting: books.waiting,
    }),
    toCsv: books.toCsv,
  };
}

function temporalUiOf({ temporalUiUrl: url, worlds: { test, live } }: Config): TemporalUi | null {
  if (url === undefined) return null;
  return { url, namespaces: { test: test.namespace, live: live?.namespace ?? null } };
}
