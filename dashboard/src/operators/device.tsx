import { Alert, Button, Group, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { ops, dataOf } from '../api/client.ts';
import { Failed, Moment, Facts, Page } from '../ui/parts.tsx';
import { useSending, SendForm } from '../ui/send-form.tsx';

/** Lets a command in that waits for a person. */
export function DevicePage() {
  const form = useForm({ initialValues: { userCode: '' } });
  const found = useSending(form, async (body) => ({
    ...(await dataOf(ops.POST('/ops/device-logins/preview', { body }))),
    userCode: body.userCode,
  }));
  const approval = useMutation({
    mutationFn: (userCode: string) => ops.POST('/ops/device-logins/approve', { body: { userCode } }),
  });
  const { result } = found;
  return (
    <Page title="Sign in a command" about="Type the code that the command shows." maw={440}>
      {approval.isSuccess ? (
        <Alert title="Signed in">Go back to the command. You can close this page.</Alert>
      ) : result ? (
        <>
          <Facts
            of={{ Machine: result.machine, Address: result.address, Asked: <Moment at={result.createdAt} /> }}
          />
          <Text size="sm">
            The command on this machine will act as you. Approve it only if you started it yourself, just now.
          </Text>
          {approval.error && <Failed error={approval.error} />}
          <Group>
            <Button loading={approval.isPending} onClick={() => approval.mutate(result.userCode)}>
              Approve
            </Button>
            <Button
              variant="default"
              onClick={() => {
                approval.reset();
                found.reset();
              }}
            >
              Cancel
            </Button>
          </Group>
        </>
      ) : (
        <SendForm sending={found} label="Continue">
          <TextInput
            label="Code"
            placeholder="BCDF-GHJK"
            autoComplete="off"
            {...form.getInputProps('userCode')}
          />
        </SendForm>
      )}
    </Page>
  );
}
