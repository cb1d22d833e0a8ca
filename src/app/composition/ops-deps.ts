/** What operators need of one environment: its rows, Temporal, and its vendors' word for previews. */
import type { Clock } from '../../domain/clock.ts';
import { createOperatorActions } from '../../operations/actions.ts';
import type { AlertDeps } from '../../operations/alerts/use-cases.ts';
import type { PreviewVendors } from '../../operations/preview-vendors.ts';
import { stuckLimits } from '../../operations/stuck-rules.ts';
import type { ReconcileEngine } from '../../reconciliation/engine.ts';
import { keepRequest } from '../../reconciliation/store/reconciliation.ts';
import type { WorldConfig } from '../config/config.ts';
import { openDatabase } from '../../platform/database/database.ts';
import type { WorldDatabase, WorldDb } from '../../platform/database/tables.ts';
import type { Events } from '../../platform/telemetry/events.ts';
import { createJobEngine } from '../temporal/job-engine.ts';
import { connectClient, type TemporalClient, type TemporalServer } from '../../platform/temporal/connect.ts';
import { createOperatorEngine, createPurchaseEngine } from '../temporal/purchase-engine.ts';
import { createReconcileEngine } from '../temporal/reconcile-engine.ts';
import { createWorkflowStates } from '../temporal/workflow-states.ts';
import { systemClock } from './context.ts';
import { enqueueCatalogueEvents } from '../../webhooks/catalogue-events.ts';

/** What operators ask outside, in one environment. */
export interface OpsVendors extends PreviewVendors {
  readonly alerting: AlertDeps['alerting'];
}

type ReconcileRequest = Parameters<ReconcileEngine['reconcile']>[0];

export type OpsDeps = ReturnType<typeof openOpsDeps>;

/** A command acts on eight items at a time. */
const CONNECTIONS = 8;
/** A person waits, and lists are longer than a buyer's. */
const STATEMENT_TIMEOUT_MS = 30_000;

/** Nothing connects before it is needed. */
export function openOpsDeps(
  servers: { readonly databaseUrl: string; readonly temporal: TemporalServer },
  config: WorldConfig,
  events: Events,
  vendors: OpsVendors,
) {
  const { environment, schema, namespace, timings, approvalLimits, priceLimits, balanceLimits } = config;
  const db = openDatabase<WorldDatabase>({
    url: servers.databaseUrl,
    schema,
    role: `simway_${schema}`,
    maxConnections: CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    applicationName: `simway-finance-${environment}`,
  });
  const temporal = connectClient({ ...servers.temporal, namespace });
  const engines = enginesOn(temporal, db, config, events);
  return {
    ...createOpsDeps({
      ...{ environment, db, clock: systemClock, timings, approvalLimits, priceLimits, balanceLimits },
      ...{ engines, vendors },
    }),
    close: async () => {
      await Promise.allSettled([db.destroy(), temporal.close()]);
    },
  };
}

/** The same on any connection and any engines. */
export function createOpsDeps({
  environment,
  db,
  clock,
  timings,
  approvalLimits,
  priceLimits,
  balanceLimits,
  engines,
  vendors,
}: Pick<WorldConfig, 'environment' | 'timings' | 'approvalLimits' | 'priceLimits' | 'balanceLimits'> & {
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly engines: ReturnType<typeof enginesOn>;
  readonly vendors?: OpsVendors;
}) {
  const limits = stuckLimits(timings);
  const actions = createOperatorActions({
    ...{ db, clock, timings },
    engine: engines.operator,
    limits: approvalLimits,
    vendors,
  });
  const stuck = { db, workflows: engines.workflows, clock, limits };
  const replayDeps = {
    ...{ db, clock, limits, actions },
    engine: engines.purchases,
  };
  return {
    environment,
    db,
    clock,
    priceLimits,
    balanceLimits,
    alerting: vendors?.alerting,
    announce: enqueueCatalogueEvents,
    stuck,
    actions,
    replayDeps,
    jobEngine: engines.jobs,
    /** Done by the workers. */
    reconcile: (request: ReconcileRequest) => engines.reconcile.reconcile(request),
  };
}

function enginesOn(
  temporal: TemporalClient,
  db: WorldDb,
  { timings }: Pick<WorldConfig, 'timings'>,
  events: Events,
) {
  return {
    workflows: createWorkflowStates(temporal),
    operator: createOperatorEngine(temporal.client, timings),
    purchases: createPurchaseEngine(temporal, timings),
    reconcile: createReconcileEngine(temporal, (asked) => keepRequest(db, asked)),
    jobs: createJobEngine(temporal, events.jobNotBegun),
  };
}
