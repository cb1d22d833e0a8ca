import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { readOps } from '../api/client.ts';
import { timesOf } from '../ui/address.ts';
import { Moment, Status, Page } from '../ui/parts.tsx';
import { type Columns, CursorList, amount } from '../ui/rows.tsx';
import { type AuditLine, useOpsPages } from './place.ts';
import { SubjectLink } from './links.tsx';
import { type AuditSearch, auditSearch } from './search.ts';

const FROM = '/operators/$environment/audit';

export function AuditPage() {
  const search = useSearch({ from: FROM });
  const log = useOpsPages(
    ['audit', search],
    (at) => readOps('/ops/audit', { query: { ...at, ...search, ...timesOf(search), limit: 50 } }),
    { keepsOld: true },
  );
  return (
    <Page
      title="Audit log"
      about="Changes of accounts, keys and people, sign-ins and refusals in both environments; operator actions in this one."
    >
      <Filters key={JSON.stringify(search)} search={search} />
      <CursorList query={log} label="Audit log" columns={COLUMNS} empty="No results." />
    </Page>
  );
}

const EMPTY = { actor: '', action: '', subject: '', from: '', to: '' };

function Filters({ search }: { readonly search: AuditSearch }) {
  const navigate = useNavigate({ from: FROM });
  const { actor = '', action = '', subject = '', from = '', to = '' } = search;
  const form = useForm({
    initialValues: { actor, action, subject, from, to },
    validate: {
      to: (last, { from: first }) =>
        last !== '' && first !== '' && last < first ? 'Must not be before the first day' : null,
    },
  });
  const show = (values: typeof EMPTY) =>
    void navigate({
      search: auditSearch(
        Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.trim()])),
      ),
    });
  return (
    <form role="search" aria-label="Filter the log" onSubmit={form.onSubmit(show)} noValidate>
      <Group align="flex-start">
        <TextInput
          label="Person"
          placeholder="E-mail address"
          maxLength={254}
          {...form.getInputProps('actor')}
        />
        <TextInput
          label="Action"
          placeholder="account.change"
          maxLength={50}
          {...form.getInputProps('action')}
        />
        <TextInput label="About" placeholder="Id" maxLength={200} {...form.getInputProps('subject')} />
        <TextInput type="date" label="First day" {...form.getInputProps('from')} />
        <TextInput type="date" label="Last day" {...form.getInputProps('to')} />
        <Group mt={25} gap="xs">
          <Button type="submit" variant="default">
            Show
          </Button>
          {Object.values(search).some(Boolean) && (
            <Button variant="subtle" onClick={() => show(EMPTY)}>
              Show all
            </Button>
          )}
        </Group>
      </Group>
    </form>
  );
}

const COLUMNS: Columns<AuditLine> = {
  When: ({ at }) => <Moment at={at} />,
  By: ({ by, approvedBy, outcome }) => (
    <span className="breakable">
      {approvedBy === null
        ? by
        : `${by}, ${outcome === 'DECLINED' ? 'declined' : 'approved'} by ${approvedBy}`}
    </span>
  ),
  Action: ({ action }) => action,
  About: ({ subject }) => <SubjectLink id={subject} />,
  Amount: amount('amount'),
  Reason: ({ reason }) => <span className="breakable">{reason ?? '–'}</span>,
  Result: ({ outcome, detail }) => (
    <Stack gap={2} align="flex-start">
      <Status>{outcome}</Status>
      {detail !== null && (
        <Text size="sm" className="breakable">
          {detail}
        </Text>
      )}
    </Stack>
  ),
};
