import {
  Alert,
  Badge,
  Button,
  Code,
  Group,
  Modal,
  NativeSelect,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { type OpsSchemas, ops, readOps, dataOf } from '../api/client.ts';
import { Copy, Moment, Page } from '../ui/parts.tsx';
import { PagedRows } from '../ui/rows.tsx';
import { useSending } from '../ui/send-form.tsx';
import { useReading } from '../ui/use-reading.ts';
import { type Person, type Role, useOperator } from './place.ts';
import { FormDialog, type Dialog } from './form-dialog.tsx';
import { ROLES } from './words.ts';

const FROM = '/operators/$environment/people';

/** Half of a one-time password. Only this response has it, so it is shown until the dialog is closed. */
interface Half {
  readonly person: Person;
  readonly which: 'first' | 'second';
  readonly half: string;
  readonly until: string;
}

export function PeoplePage() {
  const { page = 1 } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const people = useReading({
    queryKey: ['ops', 'people', page],
    queryFn: () => readOps('/ops/people', { query: { page } }),
    keepsOld: true,
  });
  const [half, setHalf] = useState<Half | null>(null);
  const [adding, setAdding] = useState(false);
  return (
    <Page
      title="People"
      about="Operators and their roles. Two administrators give access: each gets half of a one-time password."
      extra={<Button onClick={() => setAdding(true)}>Add a person</Button>}
    >
      <PagedRows
        countsNone
        query={people}
        onPage={(next) => void navigate({ search: { page: next } })}
        label="People"
        empty="No people."
        keyOf={({ personId }) => personId}
        columns={{
          Name: ({ name }) => name,
          'E-mail': ({ email }) => <span className="breakable">{email}</span>,
          Role: ({ role }) => ROLES[role].label,
          State: (person) => <State of={person} />,
          Since: ({ createdAt }) => <Moment at={createdAt} />,
          Change: (person) => <Changes person={person} show={setHalf} />,
        }}
      />
      {adding && <AddPerson onClose={() => setAdding(false)} show={setHalf} />}
      {half && <HalfShown half={half} onClose={() => setHalf(null)} />}
    </Page>
  );
}

function State({
  of: { disabledAt, awaitsConfirmation, awaitsRemoval, lockedUntil, mustChangePassword },
}: {
  readonly of: Person;
}) {
  if (disabledAt !== null) return <Badge color="gray">Disabled</Badge>;
  if (awaitsConfirmation)
    return (
      <Stack gap={2} align="flex-start">
        <Badge color="yellow" variant="light">
          Awaits confirmation
        </Badge>
        <Text size="sm">requested by {awaitsConfirmation.askedBy}</Text>
      </Stack>
    );
  if (lockedUntil !== null)
    return (
      <Text size="sm">
        Locked until <Moment at={lockedUntil} />
      </Text>
    );
  if (awaitsRemoval)
    return (
      <Text size="sm">
        {awaitsRemoval.askedBy} asked to {REMOVALS[awaitsRemoval.change] ?? 'change the role'}
      </Text>
    );
  if (mustChangePassword) return <Text size="sm">Has a one-time password</Text>;
  return (
    <Badge color="green" variant="light">
      Active
    </Badge>
  );
}

const REMOVALS: Readonly<Record<string, string>> = {
  reset: 'reset the password',
  disable: 'disable this person',
  'second-factor': 'remove the second factor',
};

type Change = 'role' | 'disable' | 'enable' | 'reset' | 'factor' | 'confirm';

const VARIANTS: Partial<Record<Change, string>> = { confirm: 'filled', disable: 'light' };

function Changes({ person, show }: { readonly person: Person; readonly show: (half: Half) => void }) {
  const { email } = useOperator();
  const [change, setChange] = useState<Change | null>(null);
  if (person.email === email) return <Text size="sm">You</Text>;
  const isDisabled = person.disabledAt !== null;
  const awaits = person.awaitsConfirmation;
  const button = (which: Change, label: string) => (
    <Button
      size="compact-xs"
      variant={VARIANTS[which] ?? 'default'}
      color={which === 'disable' ? 'red' : 'blue'}
      onClick={() => setChange(which)}
      aria-label={`${label}: ${person.name}`}
    >
      {label}
    </Button>
  );
  return (
    <Group gap="xs">
      {awaits && awaits.askedBy !== email && button('confirm', 'Confirm')}
      {!isDisabled && button('role', 'Change role')}
      {!isDisabled && button('reset', 'Reset password')}
      {person.hasSecondFactor && button('factor', 'Remove second factor')}
      {isDisabled ? button('enable', 'Enable') : button('disable', 'Disable')}
      {change !== null && (
        <ChangeDialog person={person} change={change} onClose={() => setChange(null)} show={show} />
      )}
    </Group>
  );
}

const WORDS: Record<Change, { readonly title: string; readonly about: string; readonly submit: string }> = {
  role: {
    title: 'Change the role',
    about:
      'The person is signed out and gets a new one-time password. A second administrator must confirm it.',
    submit: 'Change the role',
  },
  disable: {
    title: 'Disable',
    about:
      'The person is signed out everywhere at once and cannot sign in. For an administrator, another one must ask for the same.',
    submit: 'Disable',
  },
  enable: {
    title: 'Enable',
    about: 'The person gets a new one-time password. A second administrator must confirm it.',
    submit: 'Enable',
  },
  reset: {
    title: 'Reset the password',
    about:
      'The person is signed out and gets a new one-time password. A second administrator must confirm it.',
    submit: 'Reset the password',
  },
  factor: {
    title: 'Remove the second factor',
    about:
      'For a person who has lost the app and the recovery codes. Another administrator must ask for the same. Then every session of the person ends, and they sign in with the password.',
    submit: 'Remove the second factor',
  },
  confirm: {
    title: 'Confirm access',
    about: 'Ask the person yourself before you confirm. Choose the role that they should have.',
    submit: 'Confirm',
  },
};

function ChangeDialog({
  person,
  change,
  onClose,
  show,
}: Dialog & { readonly person: Person; readonly change: Change; readonly show: (half: Half) => void }) {
  const { title, about, submit } = WORDS[change];
  const asksRole = change === 'role' || change === 'confirm';
  const form = useForm<{ role: Role | ''; evidence: string }>({
    initialValues: { role: '', evidence: '' },
    validate: {
      role: (role) => (asksRole && role === '' ? 'Choose a role' : null),
      evidence: (evidence) => (change === 'factor' && evidence.trim() === '' ? 'Required' : null),
    },
  });
  const sending = useSending(
    form,
    ({ role, evidence }) =>
      change === 'factor'
        ? removeFactor(person, evidence)
        : send(person, change, role === '' ? person.role : role),
    (half) => {
      onClose();
      if (half) show(half);
    },
  );
  return (
    <FormDialog
      title={`${title}: ${person.name}`}
      onClose={onClose}
      sending={sending}
      label={submit}
      color={change === 'disable' ? 'red' : 'blue'}
    >
      <Text>{about}</Text>
      {asksRole && <RoleSelect {...form.getInputProps('role')} />}
      {change === 'factor' && <EvidenceField {...form.getInputProps('evidence')} />}
    </FormDialog>
  );
}

type Done<Name extends 'PasswordReset' | 'PersonChange'> = OpsSchemas[Name] | OpsSchemas['RemovalWaits'];

export function showWaits(
  outcome: 'waits' | 'not-independent' = 'waits',
  who: 'administrator' | 'operator' = 'administrator',
): null {
  const message =
    outcome === 'waits'
      ? `Another ${who} must ask for the same`
      : `You are not independent of those who asked before: an ${who} who is must ask for the same`;
  notifications.show({ message, color: 'yellow' });
  return null;
}

export const EvidenceField = (props: Record<string, unknown>) => (
  <TextInput
    label="Evidence"
    description="Where can be seen that the person themselves asked"
    required
    {...props}
  />
);

async function removeFactor({ personId }: Person, evidence: string): Promise<null> {
  const params = { path: { personId } };
  const { outcome } = await dataOf(
    ops.POST('/ops/people/{personId}/remove-second-factor', { params, body: { evidence } }),
  );
  return outcome === 'done' ? null : showWaits(outcome);
}

async function send(person: Person, change: Exclude<Change, 'factor'>, role: Role): Promise<Half | null> {
  const { personId } = person;
  const params = { path: { personId } };
  if (change === 'confirm') {
    const made = await dataOf(ops.POST('/ops/people/{personId}/confirm', { params, body: { role } }));
    return { person: made.person, which: 'second', half: made.secondHalf, until: made.oneTimeUntil };
  }
  if (change === 'reset') {
    const made = await dataOf<Done<'PasswordReset'>>(
      ops.POST('/ops/people/{personId}/reset-password', { params }),
    );
    if (made.outcome === 'waits') return showWaits();
    return { person: made.person, which: 'first', half: made.firstHalf, until: made.oneTimeUntil };
  }
  const body = change === 'role' ? { role } : { disabled: change === 'disable' };
  const made = await dataOf<Done<'PersonChange'>>(ops.PATCH('/ops/people/{personId}', { params, body }));
  if (made.outcome === 'waits') return showWaits();
  return made.given
    ? { person: made.person, which: 'first', half: made.given.firstHalf, until: made.given.oneTimeUntil }
    : null;
}

const ROLE_CHOICES = [
  { value: '', label: 'Choose' },
  ...Object.entries(ROLES).map(([value, { label, may }]) => ({ value, label: `${label}: ${may}` })),
];

function RoleSelect(props: Record<string, unknown>) {
  return <NativeSelect label="Role" required data={ROLE_CHOICES} {...props} />;
}

function AddPerson({ onClose, show }: { readonly onClose: () => void; readonly show: (half: Half) => void }) {
  const form = useForm<{ email: string; name: string; role: Role | '' }>({
    initialValues: { email: '', name: '', role: '' },
    validate: {
      email: (email) => (email.includes('@') ? null : 'Must be an e-mail address'),
      name: (name) => (name.trim() === '' ? 'Required' : null),
      role: (role) => (role === '' ? 'Choose a role' : null),
    },
  });
  const sending = useSending(
    form,
    ({ email, name, role }) =>
      // Checked above: a role is chosen.
      dataOf(ops.POST('/ops/people', { body: { email, name, role: role as Role } })),
    ({ person, firstHalf, oneTimeUntil }) => {
      onClose();
      show({ person, which: 'first', half: firstHalf, until: oneTimeUntil });
    },
  );
  return (
    <FormDialog title="Add a person" onClose={onClose} sending={sending} label="Add">
      <TextInput
        type="email"
        label="E-mail"
        description="Cannot be changed later"
        required
        data-autofocus
        {...form.getInputProps('email')}
      />
      <TextInput label="Name" required {...form.getInputProps('name')} />
      <RoleSelect {...form.getInputProps('role')} />
    </FormDialog>
  );
}

function HalfShown({ half: { person, which, half, until }, onClose }: Dialog & { readonly half: Half }) {
  const next: ReactNode =
    which === 'first'
      ? 'Now another administrator confirms the access and gets the second half.'
      : 'The person signs in with both halves: the first, a hyphen, the second.';
  return (
    <Modal
      opened
      onClose={onClose}
      title={`The ${which} half of the one-time password`}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Alert color="yellow">It is shown once. Give it to {person.name} yourself.</Alert>
        <Group justify="space-between">
          <Code fz="lg" className="breakable" data-testid="one-time-half">
            {half}
          </Code>
          <Copy value={half} size="sm" />
        </Group>
        <Text size="sm">
          {next} It works until <Moment at={until} />.
        </Text>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
