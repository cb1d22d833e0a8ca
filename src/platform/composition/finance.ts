/**
 * What finance's commands are made of, for one world: the rows under the world's role, and Temporal where its address is known. No vendor and
 * no secret of one: what is to be done outside is done by the workers.
 */
import { connectClient, type TemporalClient } from '../temporal/connect.ts';
import { createOperatorEngine } from '../temporal/operator-engine.ts';
import { createPurchaseEngine } from '../temporal/purchase-engine.ts';
import { createReconcileEngine } from '../temporal/reconcile-engine.ts';
import { createWorkflowStates } from '../temporal/workflow-states.ts';
import { createBooks, type Books } from '../../reconciliation/books.ts';
import { createOperatorActions, type OperatorActions } from '../../operations/actions.ts';
import type { ReplayDeps } from '../../operations/replay.ts';
import { createDifferences, type Differences } from '../../reconciliation/reconcile.ts';
import type { StuckDeps } from '../../operations/stuck.ts';
import { systemClock } from './shared.ts';
import { composeWebhookEngine } from './webhooks.ts';
import type { FinanceWorldConfig } from '../config/config.ts';
import type { Environment } from '../../domain/account.ts';
import { stuckLimits } from '../../operations/stuck-rules.ts';
import { createEvents } from '../telemetry/events.ts';
import { createLogger } from '../telemetry/logger.ts';
import type { Clock } from '../../domain/clock.ts';
import type { OperatorEngine } from '../../operations/engine.ts';
import type { PurchaseEngine } from '../../purchases/engine.ts';
import type { ReconcileEngine } from '../../reconciliation/engine.ts';
import type { WebhookEngine } from '../../webhooks/engine.ts';
import type { WorkflowStates } from '../../operations/workflow-states.ts';
import { openDatabase } from '../database/database.ts';
import type { WorldDatabase, WorldDb } from '../database/tables.ts';
import { EngineUnavailable } from '../../domain/outcome.ts';

export interface FinanceAddresses {
  readonly databaseUrl: string;
  /** Without it only what stands in the rows is known, and nothing can be moved. */
  readonly temporalAddress: string | undefined;
}

export interface FinanceWorld {
  readonly environment: Environment;
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly stuck: StuckDeps;
  readonly moves: OperatorActions;
  readonly care: ReplayDeps;
  readonly books: Books;
  readonly differences: Differences;
  /** By the workers, who know the vendors. */
  readonly reconcile: ReconcileEngine['reconcile'];
  close(): Promise<void>;
}

/** A command asks one thing after the other, a batch eight at a time. */
const CONNECTIONS = 8;
/** A person waits for it, and lists are longer than a buyer's. */
const STATEMENT_TIMEOUT_MS = 30_000;

/** Opens lazily: nothing connects before it is needed. */
export function composeFinance(addresses: FinanceAddresses, config: FinanceWorldConfig): FinanceWorld {
  const { environment, schema, namespace, timings } = config;
  const db = openDatabase<WorldDatabase>({
    url: addresses.databaseUrl,
    schema,
    role: `simway_${schema}`,
    maxConnections: CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    applicationName: `simway-finance-${environment}`,
  });
  const { temporalAddress: address } = addresses;
  const temporal = address === undefined ? undefined : connectClient({ address, namespace });
  const limits = stuckLimits(timings);
  const clock = systemClock;
  const engines = temporal ? enginesOn(temporal, db, config) : NO_ENGINES;
  const moves = createOperatorActions({ db, engine: engines.operator, clock, timings });
  return {
    environment,
    db,
    clock,
    stuck: { db, workflows: engines.workflows, clock, limits },
    moves,
    care: { db, clock, limits, engine: engines.purchases, webhookEngine: engines.webhooks, moves },
    books: createBooks({ db }),
    differences: createDifferences({ db, clock }),
    reconcile: (request) => engines.reconcile.reconcile(request),
    close: async () => {
      await Promise.allSettled([db.destroy(), temporal?.close()]);
    },
  };
}

interface Engines {
  readonly workflows: WorkflowStates;
  readonly operator: OperatorEngine;
  readonly purchases: PurchaseEngine;
  readonly webhooks: WebhookEngine;
  readonly reconcile: ReconcileEngine;
}

function enginesOn(temporal: TemporalClient, db: WorldDb, { timings }: FinanceWorldConfig): Engines {
  // A command's output is its answer; what it cannot hand over is told there.
  const nowhere = { write: () => undefined };
  const events = createEvents(createLogger({ level: 'silent', destination: nowhere }));
  return {
    workflows: createWorkflowStates(temporal),
    operator: createOperatorEngine(temporal.client, timings),
    purchases: createPurchaseEngine(temporal, timings),
    webhooks: composeWebhookEngine(db, temporal, events),
    reconcile: createReconcileEngine(temporal),
  };
}

const away = (): Promise<never> =>
  Promise.reject(new EngineUnavailable('the address of Temporal is not known: set TEMPORAL_ADDRESS'));

/** Without an address nothing can be asked, and every question says so. */
const NO_ENGINES: Engines = {
  workflows: { findUncarried: away, ofTransaction: away },
  operator: { move: away, carryOn: away, repair: away },
  purchases: { purchase: away, fundWallet: away, check: away, checkSoon: away },
  webhooks: { deliver: away },
  reconcile: { reconcile: away },
};
