/** Wallets funded, credited and corrected by hand: asked for by one person, confirmed by another. */
import { Button, NativeSelect, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { walletAdjustmentRequestKind } from 'simway-client/generated/ops-lists.ts';
import { dataOf, ops, readOps, type OpsSchemas } from '../api/client.ts';
import { formatAmount } from '../ui/format.ts';
import { NumberField } from '../ui/number-field.tsx';
import { readNumber } from '../ui/numbers.ts';
import { Amount, Facts, Moment, Section, Status } from '../ui/parts.tsx';
import { amount, CursorList, RowsSection, type Columns } from '../ui/rows.tsx';
import { useSending } from '../ui/send-form.tsx';
import {
  DecideProposal,
  FormDialog,
  ReasonDialog,
  ReasonField,
  reasonError,
  type Dialog,
} from './form-dialog.tsx';
import { SubjectLink } from './links.tsx';
import { inPath, useEnvironment, useOperator, useOpsPages, type AccountOverview } from './place.ts';

export type WalletAdjustment = OpsSchemas['WalletAdjustment'];

const KINDS: Readonly<Record<WalletAdjustment['kind'], { readonly label: string; readonly about: string }>> =
  {
    FUNDING: {
      label: 'Funding',
      about: 'Money that reached us outside the gateway, such as a bank transfer. It comes into the wallet.',
    },
    CREDIT: { label: 'Credit', about: 'A gift from us. It comes into the wallet and out of our revenue.' },
    FUNDING_CORRECTION: {
      label: 'Correction of a funding',
      about: 'Takes money out of the wallet that was recorded as a funding and never came.',
    },
    CREDIT_CORRECTION: {
      label: 'Correction of a credit',
      about: 'Takes a credit from us out of the wallet again.',
    },
  };

const STATUSES: Readonly<Record<WalletAdjustment['status'], readonly [label: string, color: string]>> = {
  WAITS: ['Needs a second person', 'orange'],
  BOOKED: ['Booked', 'green'],
  DECLINED: ['Declined', 'red'],
  EXPIRED: ['Expired', 'gray'],
};

const ASKED: Columns<WalletAdjustment> = {
  What: ({ kind }) => KINDS[kind].label,
  Amount: amount('amount'),
  Reference: ({ reference }) => <span className="breakable">{reference}</span>,
  'Asked by': ({ askedBy, askedAt }) => (
    <>
      {askedBy}
      <Text size="xs" c="dimmed">
        <Moment at={askedAt} />
      </Text>
    </>
  ),
  Reason: ({ reason }) => <span className="breakable">{reason}</span>,
};

const DECIDED: Columns<WalletAdjustment> = {
  Status: ({ status }) => <Status color={STATUSES[status][1]}>{STATUSES[status][0]}</Status>,
  'Decided by': ({ decidedBy, decisionReason }) => (
    <span className="breakable">{decidedBy === null ? '–' : `${decidedBy}: ${decisionReason ?? ''}`}</span>
  ),
};

/** On the page of an account. */
export function WalletByHand({ of }: { readonly of: AccountOverview }) {
  const { may } = useOperator();
  const [isAsking, setAsking] = useState(false);
  const { accountId } = of;
  const changes = useOpsPages(['wallet-adjustments', accountId], (at) =>
    readOps('/ops/wallet-adjustments', { query: { ...at, accountId, limit: 10 } }),
  );
  const decide = useDecision();
  return (
    <Section
      title="Wallet by hand"
      extra={
        may('wallets') && (
          <Button size="compact-sm" variant="default" onClick={() => setAsking(true)}>
            Fund, credit or correct
          </Button>
        )
      }
    >
      <CursorList
        query={changes}
        label="Wallet adjustments"
        empty="None. Two people of finance can fund the wallet, credit it, or correct either."
        keyOf={({ adjustmentId }) => adjustmentId}
        columns={{ ...ASKED, ...DECIDED, ...(may('wallets') && { Decide: decide.cell }) }}
      />
      {isAsking && <AskDialog of={of} onClose={() => setAsking(false)} />}
      {decide.dialog}
    </Section>
  );
}

/** On the page of what awaits a second person. */
export function WaitingAdjustments({ of }: { readonly of: readonly WalletAdjustment[] }) {
  const decide = useDecision();
  const { may } = useOperator();
  if (of.length === 0) return null;
  return (
    <>
      <RowsSection
        title="Wallets by hand"
        label="Changes of wallets awaiting confirmation"
        rows={of}
        keyOf={({ adjustmentId }) => adjustmentId}
        columns={{
          Account: ({ accountId, accountName }) => <SubjectLink id={accountId}>{accountName}</SubjectLink>,
          ...ASKED,
          Expires: ({ expiresAt }) => <Moment at={expiresAt} />,
          ...(may('wallets') && { Decide: decide.cell }),
        }}
      />
      {decide.dialog}
    </>
  );
}

function useDecision() {
  const { email } = useOperator();
  const environment = useEnvironment();
  const [chosen, setChosen] = useState<{
    readonly of: WalletAdjustment;
    readonly decision: 'confirm' | 'decline';
  } | null>(null);
  const cell = (of: WalletAdjustment) =>
    of.status === 'WAITS' ? (
      <DecideProposal
        isOwn={of.askedBy === email}
        yours="Yours: another person of finance decides"
        name={`${KINDS[of.kind].label} ${of.reference}`}
        onChoose={(decision) => setChosen({ of, decision })}
      />
    ) : (
      '–'
    );
  const verb =
    chosen?.decision === 'confirm' ? 'Confirm' : chosen?.of.askedBy === email ? 'Withdraw' : 'Decline';
  const dialog = chosen && (
    <ReasonDialog
      title={`${verb}: ${KINDS[chosen.of.kind].label}`}
      label={chosen.decision === 'confirm' ? 'Confirm and book' : verb}
      color={chosen.decision === 'confirm' ? 'blue' : 'red'}
      done={chosen.decision === 'confirm' ? 'Booked' : 'Nothing was booked'}
      onClose={() => setChosen(null)}
      submit={(reason) =>
        dataOf(
          ops.POST(`/ops/wallet-adjustments/{adjustmentId}/${chosen.decision}`, {
            ...inPath(environment, { adjustmentId: chosen.of.adjustmentId }),
            body: { reason },
          }),
        )
      }
    >
      <Text size="sm">{KINDS[chosen.of.kind].about}</Text>
      <Facts
        of={{
          Account: chosen.of.accountName,
          Amount: <Amount of={chosen.of.amount} currency={chosen.of.currency} />,
          Reference: chosen.of.reference,
          'Asked by': chosen.of.askedBy,
          Reason: chosen.of.reason,
        }}
      />
    </ReasonDialog>
  );
  return { cell, dialog };
}

const RULES = { min: 0.01, max: 10_000_000, required: true } as const;

function AskDialog({ of, onClose }: Dialog & { readonly of: AccountOverview }) {
  const environment = useEnvironment();
  const { accountId, currency, name } = of;
  const form = useForm({
    initialValues: { kind: 'FUNDING' as WalletAdjustment['kind'], amount: '', reference: '', reason: '' },
    validate: {
      amount: (typed) => readNumber(typed, RULES).fault ?? null,
      reference: (reference) =>
        reference.trim() === '' ? 'Enter what it is about, such as the number of the transfer' : null,
      reason: reasonError,
    },
  });
  const sending = useSending(
    form,
    ({ kind, amount: typed, reference, reason }) =>
      dataOf(
        ops.POST('/ops/accounts/{accountId}/wallet-adjustments', {
          ...inPath(environment, { accountId }),
          body: { kind, amount: readNumber(typed, RULES).value ?? 0, reference: reference.trim(), reason },
        }),
      ),
    () => {
      onClose();
      notifications.show({ message: 'Asked. Another person of finance must confirm it', color: 'green' });
    },
  );
  const { kind } = form.values;
  return (
    <FormDialog title={`Wallet of ${name}`} onClose={onClose} sending={sending} label="Ask for it">
      <NativeSelect
        label="What"
        data={walletAdjustmentRequestKind.map((value) => ({ value, label: KINDS[value].label }))}
        {...form.getInputProps('kind')}
      />
      <Text size="sm">{KINDS[kind].about} Another person of finance must confirm it first.</Text>
      <NumberField
        label={`Amount, ${currency}`}
        rules={RULES}
        currency={currency}
        {...form.getInputProps('amount')}
      />
      <Text size="sm" c="dimmed">
        In the wallet now: {formatAmount(of.balance, currency)}
      </Text>
      <TextInput
        label="Reference"
        description="Of the bank transfer or the ticket. Each counts once"
        required
        maxLength={100}
        {...form.getInputProps('reference')}
      />
      <ReasonField {...form.getInputProps('reason')} />
    </FormDialog>
  );
}
