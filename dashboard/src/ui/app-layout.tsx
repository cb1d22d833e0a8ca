import { useMutation } from '@tanstack/react-query';
import {
  AppShell,
  Burger,
  Group,
  NavLink,
  ScrollArea,
  Text,
  ActionIcon,
  useComputedColorScheme,
  useMantineColorScheme,
  Badge,
  Button,
  SegmentedControl,
  Kbd,
  TextInput,
} from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { type Icon, IconMoon, IconSun, IconSearch } from '@tabler/icons-react';
import {
  Link,
  useLocation,
  useMatches,
  type AnyRoute,
  type LinkProps,
  type StaticDataRouteOption,
} from '@tanstack/react-router';
import { useState, type ReactNode, useRef } from 'react';
import { notifications } from '@mantine/notifications';
import { api } from '../api/client.ts';
import { Empty, HasNavigated, Page } from './parts.tsx';
import { type Environment, looksSecret } from './address.ts';

const PAGE = 'page';

export interface ListedPage<Permission> {
  readonly label: string;
  readonly icon: Icon;
  /** Without it everybody sees the page. */
  readonly needs?: Permission;
}

interface AppPage {
  readonly to: NonNullable<LinkProps['to']>;
  readonly label: string;
  readonly icon: Icon;
  readonly isShown: boolean;
}

export const pagesOf = <Permission,>(
  routes: unknown,
  pageOf: (data: StaticDataRouteOption) => ListedPage<Permission> | undefined,
  may: (permission: Permission) => boolean,
): AppPage[] =>
  Object.values(routes as Readonly<Record<string, AnyRoute>>).flatMap(({ to, options }) => {
    const page = pageOf(options.staticData ?? {});
    const isShown = page?.needs === undefined || may(page.needs);
    return page ? [{ ...page, to: to as AppPage['to'], isShown }] : [];
  });

/** The first page of the list is the home page. */
export function AppLayout({
  search,
  tools,
  pages,
  above,
  below,
  children,
  ...environments
}: EnvironmentSwitchProps & {
  readonly search: SearchBoxProps;
  /** At the end of the header. */
  readonly tools?: ReactNode;
  readonly pages: readonly AppPage[];
  /** Above and below the list of pages. */
  readonly above?: ReactNode;
  readonly below?: ReactNode;
  readonly children: ReactNode;
}) {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const here = useMatches().at(-1)?.fullPath;
  const hidden = pages.find(({ to, isShown }) => to === here && !isShown);
  return (
    <HasNavigated value={useHasNavigated()}>
      <a
        className="skip-link"
        href={`#${PAGE}`}
        onClick={(event) => {
          // The address stays the page's own.
          event.preventDefault();
          document.getElementById(PAGE)?.focus();
        }}
      >
        Skip to the page
      </a>
      <AppShell
        header={{ height: { base: 104, sm: 56 } }}
        navbar={{ width: 230, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
        padding="md"
      >
        <AppShell.Header px="md" py={8}>
          <Group justify="space-between" gap="xs">
            <Group gap="xs" wrap="nowrap">
              <Burger
                opened={isOpen}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={isOpen ? 'Close the menu' : 'Open the menu'}
              />
              <Text fw={700}>Simway</Text>
              <EnvironmentSwitch {...environments} />
            </Group>
            <Group gap="xs" wrap="nowrap" flex={{ base: '1 1 100%', sm: '0 1 auto' }} justify="space-between">
              <SearchBox {...search} />
              <ColorSchemeSwitch />
              {tools}
            </Group>
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="xs" aria-label="Pages">
          {above !== undefined && <AppShell.Section mb="xs">{above}</AppShell.Section>}
          <AppShell.Section grow component={ScrollArea}>
            <PageList pages={pages} onChosen={close} />
          </AppShell.Section>
          {below !== undefined && <AppShell.Section p="xs">{below}</AppShell.Section>}
        </AppShell.Navbar>
        <AppShell.Main id={PAGE} tabIndex={-1}>
          {!environments.environments.includes(environments.environment) ? (
            <NotOpen {...environments} />
          ) : hidden ? (
            <Page title={hidden.label}>
              <Empty>Your role does not see this page.</Empty>
            </Page>
          ) : (
            children
          )}
        </AppShell.Main>
      </AppShell>
    </HasNavigated>
  );
}

/** An address of an environment that is switched off: every request would be refused. */
function NotOpen({ environment, environments: [open], onChange }: EnvironmentSwitchProps) {
  return (
    <Page title={`${ENVIRONMENT_LABELS[environment]} is not open yet`}>
      <Empty>
        This service does not take real orders yet. Everything can be tried in the test environment, without
        real money. Ask us when live opens.
      </Empty>
      {open && (
        <Button style={{ alignSelf: 'flex-start' }} onClick={() => onChange(open)}>
          Go to the {open} environment
        </Button>
      )}
    </Page>
  );
}

function useHasNavigated(): boolean {
  const { pathname } = useLocation();
  const [first] = useState(pathname);
  const [hasNavigated, setHasNavigated] = useState(false);
  if (!hasNavigated && pathname !== first) setHasNavigated(true);
  return hasNavigated;
}

function PageList({
  pages,
  onChosen,
}: {
  readonly pages: readonly AppPage[];
  readonly onChosen: () => void;
}) {
  const home = pages[0]?.to;
  return pages
    .filter(({ isShown }) => isShown)
    .map(({ to, label, icon: PageIcon }) => (
      <NavLink
        key={to}
        label={label}
        leftSection={<PageIcon size={18} aria-hidden />}
        onClick={onChosen}
        renderRoot={(props) => (
          <Link
            {...props}
            to={to}
            activeOptions={{ exact: to === home, includeSearch: false }}
            activeProps={{ 'data-active': true }}
          />
        )}
      />
    ));
}

function ColorSchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const next = scheme === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={`Switch to ${next}`}
      onClick={() => setColorScheme(next)}
    >
      {scheme === 'dark' ? <IconSun size={18} aria-hidden /> : <IconMoon size={18} aria-hidden />}
    </ActionIcon>
  );
}

interface EnvironmentSwitchProps {
  readonly environment: Environment;
  readonly environments: readonly Environment[];
  /** Should lead to the first page of that environment, since what is open here does not exist there. */
  readonly onChange: (environment: Environment) => void;
}

const ENVIRONMENT_LABELS = { test: 'Test', live: 'Live' } as const;

/** Says which environment the page shows. With more than one, the reader can change to the other. */
function EnvironmentSwitch({ environment, environments, onChange }: EnvironmentSwitchProps) {
  return (
    <>
      {environments.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label="Environment"
          data={environments.map((value) => ({ value, label: ENVIRONMENT_LABELS[value] }))}
          value={environment}
          color={environment === 'live' ? 'red.8' : 'blue.8'}
          onChange={onChange}
        />
      )}
      <Badge
        color={environment === 'live' ? 'red.8' : 'yellow.4'}
        c={environment === 'live' ? 'white' : 'black'}
        className="status"
      >
        {environment === 'live' ? 'Live: real money' : 'Test: no real money'}
      </Badge>
    </>
  );
}

/** One box for any id, from anywhere. `/` goes to it. */
interface SearchBoxProps {
  readonly label: string;
  readonly onSearch: (text: string) => void;
}

function SearchBox({ label, onSearch }: SearchBoxProps) {
  const [text, setText] = useState('');
  const box = useRef<HTMLInputElement>(null);
  useHotkeys([['/', () => box.current?.focus()]]);
  return (
    <form
      role="search"
      aria-label="Search by id"
      className="search-box"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = text.trim();
        if (wanted === '') return;
        if (looksSecret(wanted)) {
          setText('');
          notifications.show({
            message: 'This looks like a key or a secret. Search by its id instead',
            color: 'red',
          });
          return;
        }
        onSearch(wanted);
      }}
    >
      <TextInput
        ref={box}
        type="search"
        aria-label={label}
        placeholder="Any id"
        value={text}
        onChange={({ currentTarget: { value } }) => setText(value)}
        // The next search replaces the last one.
        onFocus={({ currentTarget }) => currentTarget.select()}
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={<Kbd size="xs">/</Kbd>}
      />
    </form>
  );
}

/** Ends the session and leads to the sign-in page, also if the request failed. */
export function useSignOut() {
  const { mutate, isPending } = useMutation({
    mutationFn: () => api.DELETE('/auth/sessions/current'),
    // A new load, so that nothing that was read stays in memory.
    onSettled: () => window.location.assign('/dashboard/sign-in'),
  });
  return { signOut: () => mutate(), isSigningOut: isPending };
}
