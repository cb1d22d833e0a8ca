import { Alert, Anchor, Text } from '@mantine/core';
import { IconMail } from '@tabler/icons-react';
import type { ApiSchemas } from '../api/client.ts';

type Mail = ApiSchemas['SandboxMail'];

/** Shows the mail when there is no mail server (npm start). */
export function SandboxMail({ mail }: { readonly mail: Mail | undefined }) {
  if (!mail) return null;
  return (
    <Alert color="yellow" icon={<IconMail aria-hidden />} title={`Mail to ${mail.to}`}>
      <Text size="sm" mb="xs">
        No mail server is set, so the mail is shown here and not sent: “{mail.subject}”.
      </Text>
      <Anchor href={mail.link}>Open the link in the mail</Anchor>
    </Alert>
  );
}
