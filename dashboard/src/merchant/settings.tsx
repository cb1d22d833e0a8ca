import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { api, type ApiSchemas } from '../api/client.ts';
import { currentUserQuery } from '../app/session.ts';
import { QueryView, Id, Moment, Section, Facts, Page } from '../ui/parts.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { useMembership, useRefresh, useRead } from './place.ts';

export function SettingsPage() {
  const { may } = useMembership();
  const query = useRead('/account', {});
  return (
    <Page title="Settings">
      <QueryView query={query}>
        {(account) => (
          <>
            <Section title="Account">
              <Facts
                of={{
                  Account: <Id>{account.accountId}</Id>,
                  'E-mail': account.email,
                  Currency: account.currency,
                  Plan: `${account.plan}: ${account.requestsPerMinute.toLocaleString()} requests a minute`,
                  Since: <Moment at={account.createdAt} />,
                }}
              />
            </Section>
            {may('members') && <Names account={account} />}
          </>
        )}
      </QueryView>
    </Page>
  );
}

function Names({ account }: { readonly account: ApiSchemas['OwnAccount']['data'] }) {
  const refresh = useRefresh();
  const queries = useQueryClient();
  const form = useForm({ initialValues: { name: account.name, websiteUrl: account.websiteUrl ?? '' } });
  const sending = useSending(
    form,
    ({ name, websiteUrl }) =>
      api.PATCH('/account', { body: { name, ...(websiteUrl === '' ? {} : { websiteUrl }) } }),
    async () => {
      notifications.show({ message: 'Saved.' });
      await Promise.all([refresh(), queries.invalidateQueries({ queryKey: currentUserQuery.queryKey })]);
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
