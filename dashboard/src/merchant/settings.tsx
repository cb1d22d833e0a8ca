import { Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { dataOf } from 'simway-client';
import type { components } from 'simway-client/generated/api.ts';
import { currentUserQuery } from '../app/session.ts';
import { Facts } from '../ui/facts.tsx';
import { QueryView, Id, Moment, PageHead, Section } from '../ui/parts.tsx';
import { SendForm } from '../ui/send-form.tsx';
import { useSending } from '../ui/use-sending.ts';
import { useAccountQuery, useMembership, useRefresh } from './place.ts';

type Account = components['schemas']['OwnAccount']['data'];

export function SettingsPage() {
  const { may } = useMembership();
  const query = useAccountQuery(['account'], () => dataOf(api.GET('/account')));
  return (
    <Stack>
      <PageHead title="Settings" />
      <QueryView query={query}>
        {(account) => (
          <>
            <Section title="Account">
              <Facts
                of={[
                  ['Account', <Id key="id">{account.accountId}</Id>],
                  ['E-mail', account.email],
                  ['Currency', account.currency],
                  [
                    'Plan',
                    `${account.plan}: ${account.requestsPerMinute.toLocaleString()} requests a minute`,
                  ],
                  ['Since', <Moment key="since" at={account.createdAt} />],
                ]}
              />
            </Section>
            {may('members') && <Names account={account} />}
          </>
        )}
      </QueryView>
    </Stack>
  );
}

function Names({ account }: { readonly account: Account }) {
  const refresh = useRefresh();
  const queries = useQueryClient();
  const form = useForm({ initialValues: { name: account.name, websiteUrl: account.websiteUrl ?? '' } });
  const sending = useSending(
    form,
    ({ name, websiteUrl }) =>
      api.PATCH('/account', { body: { name, ...(websiteUrl === '' ? {} : { websiteUrl }) } }),
    async () => {
      notifications.show({ message: 'Saved.' });
      await Promise.all([
        refresh('account'),
        queries.invalidateQueries({ queryKey: currentUserQuery.queryKey }),
      ]);
    },
  );
  return (
    <Section title="Company">
      <SendForm sending={sending} label="Save" at="flex-start" button={{ variant: 'default' }} maw={420}>
        <TextInput label="Name" required {...form.getInputProps('name')} />
        <TextInput label="Website" type="url" placeholder="https://" {...form.getInputProps('websiteUrl')} />
      </SendForm>
    </Section>
  );
}
