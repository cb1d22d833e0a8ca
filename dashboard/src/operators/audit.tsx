import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CursorList } from '../ui/cursor-list.tsx';
import { Moment, PageHead, Status } from '../ui/parts.tsx';
import type { Column } from '../ui/rows.tsx';
import { auditQuery, type AuditLine, type AuditSearch } from './data.ts';
import { useEnvironment } from './place.ts';
import { SubjectLink } from './subject-link.tsx';
import { amountColumn } from './tables.tsx';

const FROM = '/operators/$environment/audit';

/**
 * Who did what, newest first: changes of accounts, keys and people, sign-ins, refusals, and operator actions.
 */
export function AuditPage() {
  const environment = useEnvironment();
  const search = useSearch({ from: FROM });
  const log = useInfiniteQuery(auditQuery(environment, search));
  return (
    <Stack>
      <PageHead
        title="Audit log"
        about="Changes of accounts, keys and people, sign-ins and refusals in both environments; operator actions in this one."
      />
      <Filters key={JSON.stringify(search)} search={search} />
      <CursorList
        query={log}
        label="Audit log"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty="No results."
      />
    </Stack>
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
      search: Object.fromEntries(
        Object.entries(values)
          .map(([name, value]) => [name, value.trim()] as const)
          .filter(([, value]) => value !== ''),
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
          {Object.values(search).some((value) => value !== undefined) && (
            <Button variant="subtle" onClick={() => show(EMPTY)}>
              Show all
            </Button>
          )}
        </Group>
      </Group>
    </form>
  );
}

const COLUMNS: readonly Column<AuditLine>[] = [
  { title: 'When', cell: ({ at }) => <Moment at={at} /> },
  {
    title: 'By',
    cell: ({ by, approvedBy, outcome }) => (
      <span className="breakable">
        {approvedBy === null
          ? by
          : `${by}, ${outcome === 'DECLINED' ? 'declined' : 'approved'} by ${approvedBy}`}
      </span>
    ),
  },
  { title: 'Action', cell: ({ action }) => action },
  { title: 'About', cell: ({ subject }) => <SubjectLink id={subject} /> },
  amountColumn('Amount', 'amount'),
  { title: 'Reason', cell: ({ reason }) => <span className="breakable">{reason ?? '–'}</span> },
  {
    title: 'Result',
    cell: ({ outcome, detail }) => (
      <Stack gap={2} align="flex-start">
        <Status>{outcome}</Status>
        {detail !== null && (
          <Text size="sm" className="breakable">
            {detail}
          </Text>
        )}
      </Stack>
    ),
  },
];
