import { Anchor, Group, Text } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { homePathOf, isSignedOut, useCurrentUser } from '../app/session.ts';
import { GoTo } from '../ui/go-to.tsx';
import { QueryView } from '../ui/parts.tsx';
import { CardPage } from './card-page.tsx';
import { SignInForm } from './sign-in-form.tsx';

export function SignIn() {
  const navigate = useNavigate();
  const { next } = useSearch({ from: '/sign-in' });
  return (
    <CardPage title="Sign in">
      <SignInForm onDone={(user) => navigate({ href: `/dashboard${next ?? homePathOf(user)}` })} />
      <Group justify="space-between">
        <Text size="sm">
          New here?{' '}
          <Anchor component={Link} to="/sign-up">
            Open an account
          </Anchor>
        </Text>
        <Anchor component={Link} to="/reset-password" size="sm">
          Forgot your password?
        </Anchor>
      </Group>
    </CardPage>
  );
}

export function Start() {
  const query = useCurrentUser();
  const navigate = useNavigate();
  const user = query.data;
  useEffect(() => {
    if (user) void navigate({ href: `/dashboard${homePathOf(user)}`, replace: true });
  }, [user, navigate]);
  if (isSignedOut(query.error)) return <GoTo to="/sign-in" />;
  return <QueryView query={query}>{() => null}</QueryView>;
}
