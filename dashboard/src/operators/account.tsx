import { Alert, Button, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { changeAccountTermsRequestPlan } from 'simway-client/generated/ops-lists.ts';
import { ops, readOps, dataOf } from '../api/client.ts';
import { formatAmount } from '../ui/format.ts';
import { PageLink, QueryView, Id, Moment, Section, Status, Facts, Page } from '../ui/parts.tsx';
import { CursorList, amount } from '../ui/rows.tsx';
import { useSending } from '../ui/send-form.tsx';
import { ACCOUNT_TYPES, PLANS } from '../ui/words.ts';
import { Endpoints, Keys, Members, UndeliveredMessages } from './account-access.tsx';
import {
  inPath,
  type AccountOverview,
  type ListedAccount,
  useOperator,
  useEnvironment,
  useOps,
  useOpsPages,
} from './place.ts';
import { AccountPapers } from './account-papers.tsx';
import { AccountTerms } from './account-terms.tsx';
import { reasonError, FormDialog, ReasonField, type Dialog } from './form-dialog.tsx';
import { PriceRules } from './price-rules.tsx';
import { SubjectLink } from './links.tsx';
import { Notes } from './notes.tsx';
import { WalletByHand } from './wallet-adjustments.tsx';

export function AccountPage() {
  const { id } = useParams({ from: '/operators/$environment/accounts/$id' });
  const account = useOps('/ops/accounts/{accountId}', { path: { accountId: id } });
  const { may } = useOperator();
  return (
    <Page title={account.data?.name ?? 'Account'} extra={account.data && <AccountState {...account.data} />}>
      <QueryView query={account} rows={8}>
        {(of) => (
          <>
            {of.disabledAt !== null && (
              <Alert color="red" title="Disabled">
                Its keys and members are refused since <Moment at={of.disabledAt} />. Open purchases continue.
              </Alert>
            )}
            <WhoItIs of={of} />
            <WhatItHas of={of} />
            <AccountTerms of={of} />
            <WalletByHand of={of} />
            <Notes accountId={of.accountId} />
            {may('pricing') && <PriceRules accountId={of.accountId} />}
            <Members accountId={of.accountId} />
            <Keys accountId={of.accountId} />
            <Endpoints accountId={of.accountId} />
            <UndeliveredMessages accountId={of.accountId} />
            <Transactions accountId={of.accountId} />
            <AccountPapers accountId={of.accountId} />
          </>
        )}
      </QueryView>
    </Page>
  );
}

function WhoItIs({ of }: { readonly of: AccountOverview }) {
  const { may } = useOperator();
  const [change, setChange] = useState<Change | null>(null);
  const isDisabled = of.disabledAt !== null;
  return (
    <Section
      title="Account"
      extra={
        may('accounts') && (
          <Group gap="xs">
            <Button size="compact-sm" variant="default" onClick={() => setChange('plan')}>
              Change the plan
            </Button>
            <Button
              size="compact-sm"
              variant={isDisabled ? 'default' : 'light'}
              color={isDisabled ? 'blue' : 'red'}
              onClick={() => setChange(isDisabled ? 'enable' : 'disable')}
            >
              {isDisabled ? 'Enable' : 'Disable'}
            </Button>
          </Group>
        )
      }
    >
      <Facts
        of={{
          Id: <Id>{of.accountId}</Id>,
          'E-mail': of.email,
          Website: of.websiteUrl,
          Type: ACCOUNT_TYPES[of.type],
          Plan: `${PLANS[of.plan]}, ${of.requestsPerMinute.toLocaleString()} requests a minute`,
          Members: of.members.toLocaleString(),
          Since: <Moment at={of.createdAt} />,
        }}
      />
      {may('audit') && (
        <PageLink size="sm" to="/operators/$environment/audit" search={{ subject: of.accountId }}>
          See the audit log of this account
        </PageLink>
      )}
      {change !== null && <ChangeDialog of={of} change={change} onClose={() => setChange(null)} />}
    </Section>
  );
}

function WhatItHas({ of }: { readonly of: AccountOverview }) {
  const environment = useEnvironment();
  return (
    <Section title={`In the ${environment} environment`}>
      <Facts
        of={{
          Currency: of.currency,
          Balance: formatAmount(of.balance, of.currency),
          'On hold': formatAmount(of.onHold, of.currency),
          'Owes us': formatAmount(of.owed, of.currency),
          'API keys': of.keys.toLocaleString(),
          'Webhook endpoints': of.endpoints.toLocaleString(),
          'Open purchases': of.openPurchases.toLocaleString(),
          'Open fundings': of.openFundings.toLocaleString(),
          Stuck: of.stuck.toLocaleString(),
        }}
      />
    </Section>
  );
}

const TYPES = { BASE: 'eSIM', TOPUP: 'Top-up', FUNDING: 'Funding' } as const;

function Transactions({ accountId }: { readonly accountId: string }) {
  const transactions = useOpsPages(['account', accountId, 'transactions'], (at) =>
    readOps('/ops/accounts/{accountId}/transactions', { path: { accountId }, query: { ...at, limit: 20 } }),
  );
  return (
    <Section title="Purchases and fundings">
      <CursorList
        query={transactions}
        label="Purchases and fundings of the account"
        empty="No purchases yet."
        columns={{
          Created: ({ createdAt }) => <Moment at={createdAt} />,
          Transaction: ({ transactionId }) => <SubjectLink id={transactionId} />,
          Type: ({ type }) => TYPES[type],
          Package: ({ packageName }) => packageName ?? '–',
          Amount: amount('amount'),
          Status: ({ status }) => <Status>{status}</Status>,
        }}
      />
    </Section>
  );
}

type Change = 'plan' | 'disable' | 'enable';

const WORDS: Record<Change, { readonly title: string; readonly about: string; readonly submit: string }> = {
  plan: {
    title: 'Change the plan',
    about: 'Applies in both environments within 5 seconds.',
    submit: 'Change the plan',
  },
  disable: {
    title: 'Disable the account',
    about:
      'Its API keys and members are refused in both environments within 5 seconds. Open purchases continue, and travellers keep their eSIMs.',
    submit: 'Disable',
  },
  enable: {
    title: 'Enable the account',
    about: 'Its API keys and members work again in both environments.',
    submit: 'Enable',
  },
};

function ChangeDialog({
  of,
  change,
  onClose,
}: Dialog & { readonly of: AccountOverview; readonly change: Change }) {
  const environment = useEnvironment();
  const { title, about, submit } = WORDS[change];
  const form = useForm({
    initialValues: {
      plan: of.plan,
      requestsPerMinute: of.plan === 'ENTERPRISE' ? String(of.requestsPerMinute) : '',
      reason: '',
    },
    validate: {
      requestsPerMinute: (count, { plan }) =>
        change === 'plan' && plan === 'ENTERPRISE' && !/^[1-9]\d{0,6}$/.test(count)
          ? 'Must be a whole number from 1'
          : null,
      reason: reasonError,
    },
  });
  const sending = useSending(
    form,
    ({ plan, requestsPerMinute, reason }) =>
      dataOf(
        ops.PATCH('/ops/accounts/{accountId}', {
          ...inPath(environment, { accountId: of.accountId }),
          body: {
            reason,
            ...(change === 'plan'
              ? { plan, ...(plan === 'ENTERPRISE' ? { requestsPerMinute: Number(requestsPerMinute) } : {}) }
              : { disabled: change === 'disable' }),
          },
        }),
      ),
    () => {
      onClose();
      notifications.show({ message: `${of.name}: changed`, color: 'green' });
    },
  );
  return (
    <FormDialog
      title={`${title}: ${of.name}`}
      onClose={onClose}
      sending={sending}
      label={submit}
      color={change === 'disable' ? 'red' : 'blue'}
    >
      <Text size="sm">{about}</Text>
      {change === 'plan' && (
        <NativeSelect
          label="Plan"
          data={changeAccountTermsRequestPlan.map((value) => ({ value, label: PLANS[value] }))}
          {...form.getInputProps('plan')}
        />
      )}
      {change === 'plan' && form.values.plan === 'ENTERPRISE' && (
        <TextInput
          label="Requests a minute"
          inputMode="numeric"
          required
          {...form.getInputProps('requestsPerMinute')}
        />
      )}
      <ReasonField {...form.getInputProps('reason')} />
    </FormDialog>
  );
}

export const AccountState = ({ disabledAt }: Pick<ListedAccount, 'disabledAt'>) =>
  disabledAt === null ? <Status color="green">Active</Status> : <Status color="red">Disabled</Status>;
