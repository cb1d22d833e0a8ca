import { Anchor, Container, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import { WIDTHS } from '../app/theme.ts';

export function CardPage({
  title,
  about,
  children,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Simway`;
  }, [title]);
  return (
    <Container component="main" size={WIDTHS.form} py={{ base: 'md', sm: 'xl' }}>
      <Text fw={700} mb="md">
        Simway
      </Text>
      <Paper withBorder p="lg">
        <Title order={1} size="h3" mb="xs">
          {title}
        </Title>
        {about !== undefined && (
          <Text c="dimmed" size="sm" mb="md">
            {about}
          </Text>
        )}
        <Stack>{children}</Stack>
      </Paper>
      <Text size="sm" mt="md">
        <Anchor href="/docs/reference">API reference</Anchor>
      </Text>
    </Container>
  );
}
