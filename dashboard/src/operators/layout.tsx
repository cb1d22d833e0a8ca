import { Button, Group, Stack, Text } from '@mantine/core';
import { Outlet, useNavigate, useRouter } from '@tanstack/react-router';
import { AppLayout, pagesOf, useSignOut } from '../ui/app-layout.tsx';
import { GoTo, SignedIn } from '../ui/go-to.tsx';
import { PageLink, Empty } from '../ui/parts.tsx';
import { useOperator, useEnvironment } from './place.ts';
import { ROLES } from './words.ts';

const FROM = '/operators/$environment';

export function OperatorLayout() {
  return (
    <SignedIn>
      {({ operator }) => {
        if (!operator) return <Empty>These pages are for operators only.</Empty>;
        // Until then the service refuses all requests of these pages.
        return operator.mustChangePassword || operator.mustAddSecondFactor ? (
          <GoTo to="/settings" />
        ) : (
          <Shell />
        );
      }}
    </SignedIn>
  );
}

function Shell() {
  const environment = useEnvironment();
  const { environments, may } = useOperator();
  const { routesById } = useRouter();
  const navigate = useNavigate({ from: FROM });
  return (
    <AppLayout
      environment={environment}
      environments={environments}
      onChange={(next) => void navigate({ to: FROM, params: { environment: next } })}
      search={{
        label: 'Any id, reference, ICCID or e-mail',
        onSearch: (text) => void navigate({ to: '/operators/$environment/search', search: { text } }),
      }}
      pages={pagesOf(routesById[FROM].children, (data) => data.operatorsPage, may)}
      below={<Person />}
    >
      <Outlet />
    </AppLayout>
  );
}

function Person() {
  const { name, role } = useOperator();
  const { signOut, isSigningOut } = useSignOut();
  return (
    <Stack gap={0}>
      <Text size="sm">{name}</Text>
      <Text size="xs" c="dimmed">
        {ROLES[role].label}
      </Text>
      <Group gap="xs" mt="xs">
        <PageLink size="sm" to="/operators/$environment/login">
          Your login
        </PageLink>
        <Button size="compact-sm" variant="default" loading={isSigningOut} onClick={signOut}>
          Sign out
        </Button>
      </Group>
    </Stack>
  );
}
