/** What a worker needs for one environment. */
import { notifyExpiring } from '../../../activities/esims/refresh-esims.ts';
import { createActivities } from '../../../activities/index.ts';
import { issueMissingInvoices } from '../../billing/invoices.ts';
import type { Environment } from '../../domain/account.ts';
import { nameOfBrand } from '../../accounts/sender-name.ts';
import { supplierEventsPath } from '../../esims/http/supplier-events.ts';
import { READS_ALL } from '../../domain/account.ts';
import { installUrl } from '../../esims/install-links.ts';
import { completeBody } from '../../esims/message-bodies.ts';
import type { EsimSupplier, SupplierEventSource } from '../../esims/port.ts';
import { applySupplierEvents, createRegistration } from '../../esims/supplier-events.ts';
import { createOperatorActions } from '../../operations/actions.ts';
import type { ReplayDeps } from '../../operations/replay.ts';
import type { ApprovalLimits } from '../../operations/rules.ts';
import { stuckLimits } from '../../operations/stuck-rules.ts';
import { findStuck } from '../../operations/stuck.ts';
import { applyInbox } from '../../payments/gateway-events.ts';
import { monitorPaceOf } from '../../payments/monitor-rules.ts';
import { createPaymentMonitor } from '../../payments/payment-monitor.ts';
import { createReconciliation } from '../../reconciliation/reconcile.ts';
import { startDispatcher } from '../../webhooks/dispatcher.ts';
import { createEndpointLimiter } from '../../webhooks/endpoint-limiter.ts';
import type { WorldConfig } from '../config/config.ts';
import type { Events } from '../../platform/telemetry/events.ts';
import { createJobEngine } from '../temporal/job-engine.ts';
import type { TemporalClient } from '../../platform/temporal/connect.ts';
import { BEHIND_OTHERS, createOperatorEngine, createPurchaseEngine } from '../temporal/purchase-engine.ts';
import { createReturnEngine } from '../temporal/return-engine.ts';
import { createWebhookEngine } from '../temporal/webhook-engine.ts';
import { createWorkflowStates } from '../temporal/workflow-states.ts';
import { composeTerms, openConnections } from './connections.ts';
import { systemClock, type ProcessContext } from './context.ts';
import type { RedisServices } from './redis-services.ts';
import { composeRateSources, isMagic, scenarioOf } from './vendors.ts';
import { composeMailer, composeMailStops, composeWebhooks } from './webhooks.ts';

export type WorkerWorld = ReturnType<typeof composeWorkerWorld>;

export function composeWorkerWorld(context: ProcessContext, world: WorldConfig, redis: RedisServices) {
  const { environment, timings, approvalLimits } = world;
  const { temporal, checks, close, ...connected } = openConnections(context, world, redis);
  const { db, gateway, statementGateway, events, installTokens, returnKeys } = connected;
  const { forOrders: supplier, inBackground: backgroundSupplier, forChecks } = connected.supplier;
  const engine = createPurchaseEngine(temporal, timings, BEHIND_OTHERS);
  const ports = { ...connected, clock: systemClock };
  const webhookEngine = createWebhookEngine(temporal, events.webhooksNotHandedOver);
  const sending = composeSending(context, environment, connected);
  const esims = { ...ports, supplier: backgroundSupplier, engine };
  const reconciliation = createReconciliation({
    ...ports,
    supplier: backgroundSupplier,
    gateway: statementGateway,
    settings: world.reconcile,
  });
  return {
    world,
    db,
    temporal,
    events,
    activities: createActivities({
      ...ports,
      supplier,
      backgroundSupplier,
      checksSupplier: forChecks,
      returnUrl: (reference) => `${context.config.publicUrl}/pay/return?key=${returnKeys.keyOf(reference)}`,
      ...(environment === 'test' && { scenarioOf, forgetsShortageOf: isMagic }),
      refundTimings: timings,
      returnReviewAfterMs: timings.attentionAfterMs,
      replacementLimits: approvalLimits.perAccountDay,
      unpaidLimits: context.config.unpaidLimits,
      priceLimits: world.priceLimits,
      applyInbox: () => applyInbox({ db, gateway, engine, events }),
      reconcile: reconciliation.runForWorkflow,
      rateSources: composeRateSources(context.config),
      ...sending,
      alertLimits: { balance: world.balanceLimits, differenceMinor: approvalLimits.perAction },
      engine,
      repairs: composeRepairs({ db, engine, timings, temporal, limits: approvalLimits }),
      jobEngine: createJobEngine(temporal, events.jobNotBegun),
      returnEngine: createReturnEngine(temporal, 'return', events.returnNotBegun),
      replacementEngine: createReturnEngine(temporal, 'replacement', events.returnNotBegun),
      purchaseTimings: timings,
      batchPacer: redis.batchPacer(world),
      installUrl: (esimId) => installUrl({ db, installTokens }, esimId, READS_ALL),
      terms: composeTerms(context, environment),
    }),
    vendors: { supplier: supplier.name, gateway: gateway.name },
    /** Sends messages from their rows, from now on. */
    startDispatcher: () => startDispatcher({ ...sending.webhooks, engine: webhookEngine }),
    /** What must work for the worker to do its work; one entry each. */
    checks,
    /** Finds money that no event reported; undefined without a gateway. */
    monitorPayments:
      world.gateway &&
      createPaymentMonitor({
        ...ports,
        engine,
        pace: monitorPaceOf(timings),
        pacer: redis.monitorPacerFor(gateway.name, environment),
      }),
    /** Asks the supplier about what its events name; notifies of eSIMs that expire soon. */
    followEsims: {
      events: () => applySupplierEvents(esims),
      expiry: () => notifyExpiring(esims),
    },
    /** Writes the invoices of months that were closed. */
    issueInvoices: () => issueMissingInvoices({ db }),
    /** Has the supplier send its events to our API; undefined where no address is set. */
    registerForEvents: composeRegistration(world, connected.supplier.inBackground, events),
    /** Stuck purchases and payments. */
    stuck: () =>
      findStuck({ ...ports, workflows: createWorkflowStates(temporal), limits: stuckLimits(timings) }),
    close,
  };
}

/** What operators may do, for the workers: they carry out batch repairs. */
function composeRepairs({
  temporal,
  timings,
  limits: approvalLimits,
  ...deps
}: Pick<ReplayDeps, 'db' | 'engine'> & {
  readonly temporal: TemporalClient;
  readonly timings: WorldConfig['timings'];
  readonly limits: ApprovalLimits;
}) {
  const { db } = deps;
  const clock = systemClock;
  const engine = createOperatorEngine(temporal.client, timings);
  const actions = createOperatorActions({ db, engine, clock, timings, limits: approvalLimits });
  return { actions, replayDeps: { ...deps, clock, actions, limits: stuckLimits(timings) } };
}

/** What is sent to merchants and their travellers. */
function composeSending(
  context: ProcessContext,
  environment: Environment,
  { db, events, installData }: Pick<ReturnType<typeof openConnections>, 'db' | 'events' | 'installData'>,
) {
  const { poster, sender, secretBox } = composeWebhooks(context, environment, systemClock);
  const mailer = composeMailer(context.secrets);
  const { publicUrl } = context.config;
  return {
    alerts: { environment, publicUrl, mailer, poster, secretBox },
    webhooks: {
      ...context.config.webhooks[environment],
      ...{ db, events, sender, secretBox, clock: systemClock, random: Math.random },
      completeBody: (body: string) => completeBody({ db, installData }, body),
      limits: context.config.webhookLimits,
      limiter: createEndpointLimiter(context.config.webhookLimits),
      onError: events.dispatchFailed,
    },
    notices: {
      environment,
      mailer,
      us: nameOfBrand(context.config.brand),
      mailStops: composeMailStops(context),
    },
  };
}

function composeRegistration(
  { environment, supplierEvents: { url: base } }: WorldConfig,
  source: SupplierEventSource & Pick<EsimSupplier, 'name'>,
  events: Events,
): (() => Promise<void>) | undefined {
  if (base === undefined) return undefined;
  const url = `${base}${supplierEventsPath(source.name, environment)}`;
  return createRegistration({ source, url, events, clock: systemClock });
}
