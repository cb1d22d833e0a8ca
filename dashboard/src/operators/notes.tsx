/** Notes of operators on an account or a purchase. Merchants never see them. */
import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { dataOf, ops, readOps } from '../api/client.ts';
import { Empty, Moment, QueryView, Section } from '../ui/parts.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { inPath, useEnvironment, useOpsPages } from './place.ts';

const MAX_CHARACTERS = 2_000;

type About = { readonly accountId: string } | { readonly transactionId: string };

export function Notes(about: About) {
  const environment = useEnvironment();
  const notes = useOpsPages(['notes', about], ({ after }) =>
    'accountId' in about
      ? readOps('/ops/accounts/{accountId}/notes', { path: about, query: { environment, after, limit: 5 } })
      : readOps('/ops/purchases/{transactionId}/notes', {
          path: about,
          query: { environment, after, limit: 5 },
        }),
  );
  const form = useForm({
    initialValues: { text: '' },
    validate: { text: (text) => (text.trim() === '' ? 'Write something' : null) },
  });
  const sending = useSending(
    form,
    ({ text }) =>
      'accountId' in about
        ? dataOf(
            ops.POST('/ops/accounts/{accountId}/notes', { ...inPath(environment, about), body: { text } }),
          )
        : dataOf(
            ops.POST('/ops/purchases/{transactionId}/notes', {
              ...inPath(environment, about),
              body: { text },
            }),
          ),
    () => form.reset(),
  );
  return (
    <Section title="Notes">
      <Stack>
        <QueryView query={notes} rows={2}>
          {({ pages }) => {
            const items = pages.flatMap((page) => page.items);
            return (
              <Stack gap="sm">
                {items.length === 0 && <Empty>No notes yet. Operators read them, merchants never.</Empty>}
                {items.map(({ noteId, text, writtenBy, writtenAt }) => (
                  <div key={noteId}>
                    <Text size="xs" c="dimmed">
                      {writtenBy}, <Moment at={writtenAt} />
                    </Text>
                    <Text size="sm" className="breakable" style={{ whiteSpace: 'pre-wrap' }}>
                      {text}
                    </Text>
                  </div>
                ))}
                {notes.hasNextPage && (
                  <Group>
                    <Button
                      size="compact-sm"
                      variant="default"
                      loading={notes.isFetchingNextPage}
                      onClick={() => void notes.fetchNextPage()}
                    >
                      Show earlier notes
                    </Button>
                  </Group>
                )}
              </Stack>
            );
          }}
        </QueryView>
        <SendForm sending={sending} label="Add the note" at="flex-start" button={{ variant: 'default' }}>
          <Textarea
            label="New note"
            description="It stays as it is written, under your name"
            autosize
            minRows={2}
            maxRows={12}
            maxLength={MAX_CHARACTERS}
            {...form.getInputProps('text')}
          />
        </SendForm>
      </Stack>
    </Section>
  );
}
