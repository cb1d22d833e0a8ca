import { ActionIcon, Menu, Select } from '@mantine/core';
import { IconUser } from '@tabler/icons-react';
import { Link, Outlet, useNavigate, useRouter } from '@tanstack/react-router';
import { type CurrentUser } from '../app/session.ts';
import { AppLayout, pagesOf, useSignOut } from '../ui/app-layout.tsx';
import { SignedIn } from '../ui/go-to.tsx';
import { Empty } from '../ui/parts.tsx';
import { useMembership, usePlace } from './place.ts';

const FROM = '/m/$accountId/$environment';

export const MerchantLayout = () => <SignedIn>{(user) => <Shell user={user} />}</SignedIn>;

function Shell({ user }: { readonly user: CurrentUser }) {
  const { membership, may } = useMembership();
  const { environment } = usePlace();
  const { routesById } = useRouter();
  const navigate = useNavigate({ from: FROM });
  return (
    <AppLayout
      environment={environment}
      environments={user.environments}
      onChange={(next) => void navigate({ to: FROM, params: { environment: next } })}
      search={{
        label: 'Any id or ICCID',
        onSearch: (text) => void navigate({ to: '/m/$accountId/$environment/search', search: { text } }),
      }}
      tools={<OwnMenu user={user} />}
      pages={pagesOf(routesById[FROM].children, (data) => data.merchantPage, may)}
      above={<AccountSwitch user={user} />}
    >
      {membership ? <Outlet /> : <Empty>You are not a member of this account. Choose another.</Empty>}
    </AppLayout>
  );
}

function OwnMenu({ user }: { readonly user: CurrentUser }) {
  const { signOut } = useSignOut();
  const place = usePlace();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={`Your login: ${user.user.name}`}>
          <IconUser size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user.user.email}</Menu.Label>
        <Menu.Item renderRoot={(props) => <Link {...props} to="/m/$accountId/$environment/login" />}>
          Your login
        </Menu.Item>
        {user.operator && (
          <Menu.Item
            renderRoot={(props) => (
              <Link {...props} to="/operators/$environment" params={{ environment: place.environment }} />
            )}
          >
            Operator pages
          </Menu.Item>
        )}
        <Menu.Item onClick={signOut}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function AccountSwitch({ user: { memberships } }: { readonly user: CurrentUser }) {
  const { accountId } = usePlace();
  const navigate = useNavigate({ from: FROM });
  return (
    <Select
      aria-label="Account"
      data={memberships.map((one) => ({
        value: one.accountId,
        label: `${one.accountName} (${one.currency})`,
      }))}
      value={accountId}
      allowDeselect={false}
      onChange={(next) => next !== null && void navigate({ to: FROM, params: { accountId: next } })}
    />
  );
}
