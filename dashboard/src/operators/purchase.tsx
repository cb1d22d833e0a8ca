import { Alert, Badge, Button, Group, MultiSelect, SimpleGrid, Stack, Text, Timeline } from '@mantine/core';
import { usePrefetchQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { formatAge, formatAmount } from '../ui/format.ts';
import {
  Amount,
  QueryView,
  Empty,
  Id,
  metadataFacts,
  Moment,
  Section,
  Status,
  ShortCode,
  ShortId,
  Facts,
  Page,
} from '../ui/parts.tsx';
import { amount, RowsSection, type Columns } from '../ui/rows.tsx';
import {
  ATTENTION,
  EVENTS,
  FAILURES,
  LEDGER_HOLDS,
  OPERATIONS,
  PAYMENT_METHODS,
  wordOf,
} from '../ui/words.ts';
import { Notes } from './notes.tsx';
import { ActionsSection } from './actions-section.tsx';
import {
  operatorQuery,
  type PurchaseTimeline,
  type ActionRecord,
  useEnvironment,
  useOps,
  opsQuery,
} from './place.ts';
import { SubjectLink, WorkflowLink } from './links.tsx';
import { nextStep, STUCK_CLASSES, ACTIONS } from './words.ts';

export function PurchasePage() {
  const environment = useEnvironment();
  const { id } = useParams({ from: '/operators/$environment/purchases/$id' });
  const timeline = useOps('/ops/purchases/{transactionId}', { path: { transactionId: id } });
  // Asked for by parts of the page that wait for the purchase; read beside it.
  usePrefetchQuery(
    opsQuery(environment, '/ops/purchases/{transactionId}/actions', { path: { transactionId: id } }),
  );
  usePrefetchQuery(operatorQuery);
  return (
    <Page
      title={timeline.data?.purpose === 'funding' ? 'Funding' : 'Purchase'}
      extra={<Status>{timeline.data?.status ?? null}</Status>}
    >
      <QueryView query={timeline} rows={12}>
        {(of) => <FullTimeline of={of} />}
      </QueryView>
    </Page>
  );
}

function FullTimeline({ of }: { readonly of: PurchaseTimeline }) {
  return (
    <>
      <Id>{of.transactionId}</Id>
      {of.stuck.map((item) => (
        <Alert key={item.class} color="orange" title={`Stuck: ${STUCK_CLASSES[item.class]}`}>
          For {formatAge(item.ageSeconds)}. Next: {nextStep(item.nextAction)}
        </Alert>
      ))}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Overview of={of} />
        {of.purpose === null ? null : <ActionsSection transactionId={of.transactionId} timeline={of} />}
        <GatewaySide of={of} />
        <SupplierSide of={of} />
      </SimpleGrid>
      {of.purpose !== null && <Notes transactionId={of.transactionId} />}
      {of.disputes.length > 0 && <RowsSection title="Disputes" rows={of.disputes} columns={DISPUTES} />}
      <RowsSection title="Ledger entries" empty="No entries." rows={of.entries} columns={ENTRIES} />
      <RowsSection title="Webhook messages" empty="No messages." rows={of.messages} columns={MESSAGES} />
      <RowsSection title="Operator actions" empty="No actions yet." rows={of.actions} columns={ACTION_LOG} />
      {of.workflows === null ? (
        <Section title="Workflows in Temporal">
          <Alert color="yellow">Temporal does not respond.</Alert>
        </Section>
      ) : (
        <RowsSection
          title="Workflows in Temporal"
          label="Workflows"
          empty="No workflows."
          rows={of.workflows}
          columns={WORKFLOWS}
        />
      )}
      <EverythingThatHappened of={of} />
    </>
  );
}

function Overview({ of }: { readonly of: PurchaseTimeline }) {
  return (
    <Section title="Overview">
      <Facts
        of={{
          Status: <Status>{of.status}</Status>,
          Reason: of.reason === null ? null : FAILURES[of.reason],
          'Needs attention': of.attention && (
            <>
              {ATTENTION[of.attention.reason]}, since <Moment at={of.attention.since} />
            </>
          ),
          Amount: <Amount of={of.amount} currency={of.currency} />,
          'Paid by': of.paymentMethod === null ? null : PAYMENT_METHODS[of.paymentMethod],
          'Own reference': of.reference,
          ...metadataFacts(of.metadata),
          Package: of.package && `${of.package.name} (${of.package.packageCode}, ${of.package.type})`,
          Hold:
            of.hold && `${formatAmount(of.hold.amount, of.hold.currency)}, ${LEDGER_HOLDS[of.hold.status]}`,
          Merchant: of.accountId !== null && (
            <SubjectLink id={of.accountId}>{of.accountName ?? of.accountId}</SubjectLink>
          ),
          'In place of': of.replaces !== null && <SubjectLink id={of.replaces} />,
          'Replaced by': of.replacedBy !== null && <SubjectLink id={of.replacedBy} />,
          Batch: of.batchId !== null && <WorkflowLink workflowId={of.batchId} />,
        }}
      />
    </Section>
  );
}

function GatewaySide({ of }: { readonly of: PurchaseTimeline }) {
  return (
    <Section title="At the payment gateway">
      {of.payments.length === 0 && of.refunds.length === 0 && <Empty>Nothing: paid from the wallet.</Empty>}
      <Stack>
        {of.payments.map((payment) => (
          <Facts
            key={payment.reference}
            of={{
              Reference: <Id>{payment.reference}</Id>,
              'Payment method': PAYMENT_METHODS[payment.method],
              'Amount due': <Amount of={payment.amount} currency={payment.currency} />,
              'Our status': <Status>{payment.bookedAmount ? 'PAID' : payment.status}</Status>,
              'Booked here': <Amount of={payment.bookedAmount} currency={payment.bookedCurrency} />,
              'On a person’s word': payment.markedPaidAmount > 0 && (
                <Amount of={payment.markedPaidAmount} currency={payment.currency} />
              ),
              'Gateway’s status': payment.gatewayStatus ?? (payment.checkedAt ? 'none' : 'not asked yet'),
              'Gateway’s id': payment.gatewayId,
              'Last checked': payment.checkedAt && <Moment at={payment.checkedAt} />,
              'Pay until': payment.expiresAt && <Moment at={payment.expiresAt} />,
            }}
          />
        ))}
        {of.refunds.map((refund) => (
          <Facts
            key={refund.refundKey}
            of={{
              Refund: <Id>{refund.refundKey}</Id>,
              Amount: <Amount of={refund.amount} currency={refund.currency} />,
              'Our status': <Status>{refund.status}</Status>,
              'Gateway’s status': refund.gatewayStatus ?? (refund.askedAt ? 'unknown' : 'not sent yet'),
              'Sent to the gateway': refund.askedAt && <Moment at={refund.askedAt} />,
            }}
          />
        ))}
      </Stack>
    </Section>
  );
}

function SupplierSide({ of: { status, supplier, package: item } }: { readonly of: PurchaseTimeline }) {
  return (
    <Section title="At the supplier">
      {supplier ? (
        <Facts
          of={{
            Package: item && `${item.name} (${item.packageCode})`,
            'Agreed cost': <Amount of={supplier.costUsd} currency="USD4" />,
            Order:
              supplier.orderNo === null ? noOrder(status, supplier.attempts) : <Id>{supplier.orderNo}</Id>,
            'Orders given up before': supplier.earlierOrderNos.join(', ') || null,
            Attempts: String(supplier.attempts),
            eSIM: <Id>{supplier.esimId}</Id>,
            'eSIM’s status': supplier.esimStatus && <Status>{supplier.esimStatus}</Status>,
            ICCID: supplier.iccid && <Id>{supplier.iccid}</Id>,
            'Last checked': supplier.checkedAt && <Moment at={supplier.checkedAt} />,
          }}
        />
      ) : (
        <Empty>No eSIM is ordered.</Empty>
      )}
    </Section>
  );
}

function noOrder(status: PurchaseTimeline['status'], attempts: number): string {
  if (attempts === 0) return status === 'FAILED' ? 'nothing was ordered' : 'not ordered yet';
  return status === 'PROCESSING' ? 'no answer yet' : 'none: the supplier delivers nothing';
}

const DISPUTES: Columns<PurchaseTimeline['disputes'][number]> = {
  Dispute: ({ disputeId }) => <Id>{disputeId}</Id>,
  Payment: ({ reference }) => <Id>{reference}</Id>,
  Amount: amount('amount'),
  'Gateway’s status': ({ gatewayStatus }) => gatewayStatus ?? 'unknown',
  Outcome: ({ outcome, settledAt }) => outcome ?? (settledAt ? 'settled' : 'open'),
  Opened: ({ openedAt }) => <Moment at={openedAt} />,
  'Last checked': ({ checkedAt }) => <Moment at={checkedAt} />,
};

/** Nothing in place of zero, so that the eye finds the side. */
const side = (amount: number, currency: string) => (amount === 0 ? '' : formatAmount(amount, currency));

const ENTRIES: Columns<PurchaseTimeline['entries'][number]> = {
  When: ({ at }) => <Moment at={at} />,
  Operation: ({ operation }) => OPERATIONS[operation],
  Account: ({ account }) => <ShortId>{account}</ShortId>,
  Debit: { amount: ({ debit, currency }) => side(debit, currency) },
  Credit: { amount: ({ credit, currency }) => side(credit, currency) },
  Currency: ({ currency }) => currency,
};

const MESSAGES: Columns<PurchaseTimeline['messages'][number]> = {
  Event: ({ event }) => event,
  To: ({ host }) => host,
  Status: ({ status }) => <Status>{status}</Status>,
  Attempts: { number: ({ attempts }) => attempts },
  Created: ({ createdAt }) => <Moment at={createdAt} />,
  Message: ({ messageId }) => <Id>{messageId}</Id>,
};

const WORKFLOWS: Columns<NonNullable<PurchaseTimeline['workflows']>[number]> = {
  Workflow: ({ workflowId }) => <WorkflowLink workflowId={workflowId} />,
  Type: ({ type }) => <ShortCode>{type}</ShortCode>,
  Status: ({ status }) => <Status>{status}</Status>,
  Started: ({ startedAt }) => <Moment at={startedAt} />,
  Ended: ({ closedAt }) => <Moment at={closedAt} />,
};

type TimelineLine = PurchaseTimeline['timeline'][number];

interface Source {
  readonly label: string;
  readonly color: string;
  /** What a line names: a code of ours. Without it, the words of the vendor, of the event or of Temporal. */
  readonly words: Readonly<Record<string, string>>;
}

const SOURCES: Record<TimelineLine['source'], Source> = {
  purchase: { label: 'Purchase', color: 'blue', words: EVENTS },
  payment: { label: 'Payment', color: 'teal', words: {} },
  gateway: { label: 'Gateway', color: 'teal', words: {} },
  ledger: { label: 'Ledger', color: 'grape', words: OPERATIONS },
  webhook: { label: 'Webhook', color: 'cyan', words: {} },
  action: {
    label: 'Operator',
    color: 'red',
    words: Object.fromEntries(Object.entries(ACTIONS).map(([action, { label }]) => [action, label])),
  },
  workflow: { label: 'Workflow', color: 'gray', words: {} },
};

function EverythingThatHappened({ of: { timeline } }: { readonly of: PurchaseTimeline }) {
  const [sources, setSources] = useState<string[]>([]);
  const [isNewestFirst, setNewestFirst] = useState(false);
  const shown = timeline.filter(({ source }) => sources.length === 0 || sources.includes(source));
  const ordered = isNewestFirst ? shown.toReversed() : shown;
  return (
    <Section
      title="Timeline"
      extra={
        <Button size="compact-sm" variant="default" onClick={() => setNewestFirst((was) => !was)}>
          {isNewestFirst ? 'Show oldest first' : 'Show newest first'}
        </Button>
      }
    >
      <MultiSelect
        label="Show"
        placeholder={sources.length === 0 ? 'Everything' : undefined}
        data={Object.entries(SOURCES)
          .filter(([value]) => timeline.some(({ source }) => source === value))
          .map(([value, { label }]) => ({ value, label }))}
        value={sources}
        onChange={setSources}
        clearable
        mb="md"
      />
      <Timeline bulletSize={14} lineWidth={2}>
        {ordered.map(({ at, source, what, detail }, index) => (
          <Timeline.Item
            key={`${at} ${source} ${what} ${String(index)}`}
            color={SOURCES[source].color}
            title={
              <Group gap="xs">
                <Badge size="sm" variant="light" color={SOURCES[source].color} className="status">
                  {SOURCES[source].label}
                </Badge>
                <Text component="span">{wordOf(SOURCES[source].words, what)}</Text>
              </Group>
            }
          >
            <Text size="sm" className="timeline-detail">
              {source === 'workflow' ? <ShortCode>{detail}</ShortCode> : detail}
            </Text>
            <Text size="xs" c="dimmed">
              <Moment at={at} />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
    </Section>
  );
}

/** Refused ones too. */
const ACTION_LOG: Columns<ActionRecord> = {
  When: ({ createdAt }) => <Moment at={createdAt} />,
  Action: ({ action }) => ACTIONS[action].label,
  By: ({ by, approvedBy, status }) =>
    approvedBy === null ? by : `${by}, ${status === 'DECLINED' ? 'declined' : 'approved'} by ${approvedBy}`,
  Amount: amount('amount'),
  Reason: (record) => <Why record={record} />,
  Result: (record) => <ActionResult record={record} />,
};

function Why({ record: { reason, evidence, decisionReason } }: { readonly record: ActionRecord }) {
  return (
    <Stack gap={2}>
      <Text size="sm">{reason}</Text>
      {evidence !== null && <Text size="sm">Evidence: {evidence}</Text>}
      {decisionReason !== null && <Text size="sm">Decision: {decisionReason}</Text>}
    </Stack>
  );
}

function ActionResult({ record: { status, refusal, detail } }: { readonly record: ActionRecord }) {
  return (
    <Stack gap={2} align="flex-start">
      <Status>{status}</Status>
      {(detail ?? refusal) !== null && <Text size="sm">{detail ?? refusal}</Text>}
    </Stack>
  );
}
