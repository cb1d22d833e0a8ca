import { ActionIcon, Menu, Select } from '@mantine/core';
import {
  IconBuildingStore,
  IconChartBar,
  IconDeviceMobile,
  IconFileSpreadsheet,
  IconHome,
  IconKey,
  IconListDetails,
  IconReceipt,
  IconSettings,
  IconUser,
  IconUsers,
  IconWallet,
  IconWebhook,
} from '@tabler/icons-react';
import { Link, Navigate, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { isSignedOut, useCurrentUser, type CurrentUser } from '../app/session.ts';
import { AppLayout, type AppPage } from '../ui/app-layout.tsx';
import { ColorSchemeSwitch } from '../ui/color-scheme-switch.tsx';
import { QueryView, Empty } from '../ui/parts.tsx';
import { SearchBox } from '../ui/search-box.tsx';
import { useSignOut } from '../ui/use-sign-out.ts';
import { EnvironmentSwitch } from '../ui/environment-switch.tsx';
import type { Environment } from '../ui/environment.ts';
import { useMembership, usePlace } from './place.ts';

export function MerchantLayout() {
  const query = useCurrentUser();
  const { pathname } = useLocation();
  if (isSignedOut(query.error) && !query.data)
    return <Navigate to="/sign-in" search={{ next: pathname.replace(/^\/dashboard/, '') }} />;
  return <QueryView query={query}>{(user) => <Shell user={user} />}</QueryView>;
}

function Shell({ user }: { readonly user: CurrentUser }) {
  const { membership } = useMembership();
  return (
    <AppLayout
      environment={<Environments environments={user.environments} />}
      tools={
        <>
          <Search />
          <ColorSchemeSwitch />
          <OwnMenu user={user} />
        </>
      }
      pages={usePages()}
      params={usePlace()}
      above={<AccountSwitch user={user} />}
    >
      {membership ? <Outlet /> : <Empty>You are not a member of this account. Choose another.</Empty>}
    </AppLayout>
  );
}

function Search() {
  const place = usePlace();
  const navigate = useNavigate();
  return (
    <SearchBox
      label="Any id or ICCID"
      onSearch={(text) =>
        void navigate({ to: '/m/$accountId/$environment/search', params: place, search: { text } })
      }
    />
  );
}

function Environments({ environments }: { readonly environments: readonly Environment[] }) {
  const { accountId, environment } = usePlace();
  const navigate = useNavigate();
  return (
    <EnvironmentSwitch
      environment={environment}
      environments={environments}
      onChange={(next) =>
        void navigate({ to: '/m/$accountId/$environment', params: { accountId, environment: next } })
      }
    />
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
        <Menu.Item
          renderRoot={(props) => <Link {...props} to="/m/$accountId/$environment/login" params={place} />}
        >
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
  const { accountId, environment } = usePlace();
  const navigate = useNavigate();
  return (
    <Select
      aria-label="Account"
      data={memberships.map((one) => ({
        value: one.accountId,
        label: `${one.accountName} (${one.currency})`,
      }))}
      value={accountId}
      allowDeselect={false}
      onChange={(next) =>
        next !== null &&
        void navigate({ to: '/m/$accountId/$environment', params: { accountId: next, environment } })
      }
    />
  );
}

function usePages(): readonly AppPage[] {
  const { may } = useMembership();
  return [
    { to: '/m/$accountId/$environment', label: 'Home', icon: IconHome, isShown: true },
    {
      to: '/m/$accountId/$environment/catalogue',
      label: 'Catalogue',
      icon: IconBuildingStore,
      isShown: true,
    },
    {
      to: '/m/$accountId/$environment/batches',
      label: 'Batches',
      icon: IconFileSpreadsheet,
      isShown: true,
    },
    { to: '/m/$accountId/$environment/esims', label: 'eSIMs', icon: IconDeviceMobile, isShown: true },
    { to: '/m/$accountId/$environment/purchases', label: 'Purchases', icon: IconReceipt, isShown: true },
    { to: '/m/$accountId/$environment/wallet', label: 'Wallet', icon: IconWallet, isShown: true },
    { to: '/m/$accountId/$environment/figures', label: 'Figures', icon: IconChartBar, isShown: true },
    {
      to: '/m/$accountId/$environment/developers/keys',
      label: 'API keys',
      icon: IconKey,
      isShown: may('keys'),
    },
    {
      to: '/m/$accountId/$environment/developers/webhooks',
      label: 'Webhooks',
      icon: IconWebhook,
      isShown: true,
    },
    {
      to: '/m/$accountId/$environment/developers/requests',
      label: 'API requests',
      icon: IconListDetails,
      isShown: may('requests'),
    },
    { to: '/m/$accountId/$environment/team', label: 'Team', icon: IconUsers, isShown: true },
    { to: '/m/$accountId/$environment/settings', label: 'Settings', icon: IconSettings, isShown: true },
  ];
}
